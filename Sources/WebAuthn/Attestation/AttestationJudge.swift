import Countersign
import Crypto

/// Steps 23 and 24 of registration: who vouches for the statement, and is that enough.
struct AttestationJudge {
    let policy: AttestationPolicy
    /// At which certificates must be valid.
    let instant: Instant

    /// Judges a statement that is in order.
    ///
    /// - Parameters:
    ///   - proof: What the statement proved by itself.
    ///   - format: Its format.
    ///   - claim: What it is about.
    ///   - object: The attestation object, which is kept as it came.
    /// - Returns: What is recorded.
    /// - Throws: When trust is required and there is none: `att_untrusted`, or what is wrong with the
    ///   chain.
    func judge(
        _ proof: AttestationProof, _ format: AttestationFormat, of claim: AttestationClaim,
        object: Bytes
    ) throws(VerificationFailure) -> Attestation {
        let anchor: Certificate?
        var refusal: VerificationFailure?
        do throws(VerificationFailure) {
            anchor = try self.anchor(of: proof, format, model: claim.credential.model)
        } catch {
            guard policy.trust == .recorded else { throw error }
            anchor = nil
            refusal = error
        }
        let facts = AttestationFacts(
            claim: claim, proof: proof, anchor: anchor, refusal: refusal)
        return Attestation(
            verdict: proof.chain != nil && anchor == nil ? .untrusted : proof.type,
            format: format.rawValue, statement: [object], facts: facts.json,
            profiles: anchor != nil && proof.isHardwareBacked ? [.fidoTrusted] : [])
    }

    /// The trusted certificate that the statement's chain reaches; none for `none` and `self`.
    private func anchor(
        of proof: AttestationProof, _ format: AttestationFormat, model: AAGUID
    ) throws(VerificationFailure) -> Certificate? {
        guard let chain = proof.chain else {
            guard policy.trust == .recorded else { throw .attestationUntrusted }
            return nil
        }
        do {
            return try chain.validate(
                .standard(anchors: policy.certificates(for: format, of: model, at: instant)),
                at: instant)
        } catch {
            switch error {
            case .malformed, .weak: throw .attestationCertificateInvalid
            case .broken: throw .attestationChainBroken
            case .untrusted: throw .attestationUntrusted
            case .expired, .notYetValid: throw .attestationCertificateExpired
            }
        }
    }
}

/// What is recorded of an attestation, and what it leaves open.
struct AttestationFacts {
    let claim: AttestationClaim
    let proof: AttestationProof
    let anchor: Certificate?
    /// Why the chain is not trusted; `nil` without a chain.
    let refusal: VerificationFailure?

    /// The longest name of a certificate that is recorded, in characters.
    private static let nameCharactersMax = 256

    var json: JSON {
        var members: [JSON.Member] = [
            .init("aaguid", .string(claim.credential.model.text)),
            .init("algorithm", .string(claim.key.algorithm.name)),
            .init("attestation_type", .string(proof.type.rawValue)),
        ]
        if let chain = proof.chain {
            members += [
                .init("certificate", Self.certificate(chain.leaf)),
                .init("certificates", .integer(Int64(chain.certificates.count))),
                .init("trust_anchor", .optional(anchor.map { Self.name($0.subject) })),
                .init("not_trusted_because", .optional(refusal?.code)),
            ]
        }
        members += proof.facts
        members.append(.init("not_proven", .array(notProven.map { .string($0) })))
        return .object(members)
    }

    /// No attestation of WebAuthn tells how a user is verified (D-08); without a trusted maker nothing
    /// about the authenticator is proven at all.
    private var notProven: [String] {
        (anchor == nil ? ["aaguid", "key_storage"] : proof.isHardwareBacked ? [] : ["key_storage"])
            + ["user_verification_method"]
    }

    private static func certificate(_ certificate: Certificate) -> JSON {
        [
            "subject": .string(name(certificate.subject)),
            "issuer": .string(name(certificate.issuer)),
            "serial": .string(certificate.serial),
            "not_before": .string(certificate.notBefore.text),
            "not_after": .string(certificate.notAfter.text),
        ]
    }

    /// For people to read; trust never depends on this text.
    private static func name(_ name: DistinguishedName) -> String {
        let short = [
            DistinguishedName.Attribute.commonName: "CN", .serialNumber: "serialNumber",
            .country: "C", .organization: "O", .organizationalUnit: "OU",
        ]
        let parts = name.entries.map { "\(short[$0.attribute] ?? $0.attribute.oid)=\($0.value)" }
        return String(parts.joined(separator: ", ").prefix(nameCharactersMax))
    }
}
