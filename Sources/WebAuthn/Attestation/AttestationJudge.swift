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
    /// - Throws: What is wrong with certificates that are no chain, whatever is trusted. When trust is
    ///   required and there is none, `att_untrusted`, or what speaks against the chain.
    func judge(
        _ proof: AttestationProof, _ format: AttestationFormat, of claim: AttestationClaim,
        object: Bytes
    ) throws(VerificationFailure) -> Attestation {
        var anchor: Certificate?
        var refusal: VerificationFailure?
        if let chain = proof.chain {
            do throws(CertificateError) {
                anchor = try chain.validate(
                    .standard(
                        anchors: policy.certificates(
                            for: format, of: claim.credential.model, at: instant)),
                    at: instant)
            } catch {
                refusal = error.failure
                // No honest authenticator sends certificates that are none, or no chain.
                guard policy.trust == .recorded, !error.isDefect else { throw error.failure }
            }
        } else if policy.trust == .required {
            // Nobody vouches for `none` and `self`.
            throw .attestationUntrusted
        }
        let facts = AttestationFacts(
            claim: claim, proof: proof, anchor: anchor, refusal: refusal)
        return Attestation(
            verdict: proof.chain != nil && anchor == nil ? .untrusted : proof.type,
            format: format.rawValue, statement: [object], facts: facts.json,
            profiles: anchor != nil && proof.mayMeetProfile ? [.fidoTrusted] : [])
    }
}

extension CertificateError {
    /// What evidence knows it as.
    fileprivate var failure: VerificationFailure {
        switch self {
        case .malformed, .weak: .attestationCertificateInvalid
        case .broken: .attestationChainBroken
        case .untrusted: .attestationUntrusted
        case .expired, .notYetValid: .attestationCertificateExpired
        }
    }

    /// Whether what came is no chain at all, rather than one that is not trusted here and now.
    fileprivate var isDefect: Bool {
        switch self {
        case .malformed, .broken: true
        case .weak, .untrusted, .expired, .notYetValid: false
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
        (anchor == nil ? AttestationProof.ofTheAuthenticator : proof.unproven)
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
