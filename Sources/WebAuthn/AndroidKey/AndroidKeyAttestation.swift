package import Countersign
package import Crypto

/// A verified statement of an Android device about one of its keys: the facts are proved, whatever they
/// are. Whether they are good enough is asked of it by profile (``profiles(_:)``, ``unmet(_:_:)``).
///
/// Source: AK-01 to AK-09, AK-21 and AK-22; the rules on dates are those of Google's verifier.
package struct AndroidKeyAttestation: Sendable {
    /// What the device says of the key.
    package let description: KeyDescription
    /// The key, which is the one that is being enrolled.
    package let key: PublicKey
    /// The pinned root that vouches.
    package let root: Certificate
    let chain: CertificateChain

    /// Verifies an attestation against what the server knows, reading no clock and no network.
    ///
    /// - Parameters:
    ///   - certificates: DER as the device sent it, the leaf first; the root may be missing.
    ///   - challenge: The single-use challenge of this enrolment.
    ///   - key: SubjectPublicKeyInfo of the key that is being enrolled. That the device holds it is
    ///     shown by its signature over the enrolment, which is the caller's part (AK-21).
    ///   - now: The instant of the enrolment.
    ///   - trust: Roots and revocations.
    /// - Returns: The proved facts.
    /// - Throws: ``AndroidAttestationFailure``, the first in its order of checks.
    package static func verify(
        certificates: [Bytes], challenge: Bytes, key: Bytes, at now: Instant, trust: AndroidTrust
    ) throws(AndroidAttestationFailure) -> AndroidKeyAttestation {
        try verify(
            chain: try parse(certificates), challenge: challenge, key: key, at: now, trust: trust)
    }

    /// The same of certificates that were parsed.
    static func verify(
        chain: CertificateChain, challenge: Bytes, key: Bytes, at now: Instant, trust: AndroidTrust
    ) throws(AndroidAttestationFailure) -> AndroidKeyAttestation {
        let root = try validate(chain, at: now, trust)
        try checkRevocations(chain, root, at: now, trust)
        let description = try describe(chain)
        // AK-08: the whole challenge, no prefix.
        guard !challenge.isEmpty, challenge.count <= KeyDescription.challengeBytesMax,
            description.challenge == challenge
        else { throw .challengeMismatch }
        // AK-21: the attested key is the enrolled one.
        guard let attested = chain.leaf.publicKey else { throw .keyUnsupported }
        guard attested.spki == key else { throw .keyMismatch }
        return AndroidKeyAttestation(
            description: description, key: attested, root: root, chain: chain)
    }

    /// What the first certificate claims, for evidence of an attestation that failed. Proves nothing.
    package static func claim(of certificates: [Bytes]) -> KeyDescription? {
        guard let der = certificates.first, let leaf = try? Certificate(der: der) else {
            return nil
        }
        return try? KeyDescription(of: leaf)
    }

    /// Certificates in DER, the leaf first.
    static func parse(
        _ certificates: [Bytes]
    ) throws(AndroidAttestationFailure) -> CertificateChain {
        do {
            return try CertificateChain(der: certificates)
        } catch {
            throw .malformed
        }
    }

    /// AK-01 to AK-04.
    private static func validate(
        _ chain: CertificateChain, at now: Instant, _ trust: AndroidTrust
    ) throws(AndroidAttestationFailure) -> Certificate {
        let root: Certificate
        do {
            root = try chain.validate(rules(for: chain, roots: trust.roots), at: now)
        } catch {
            throw failure(of: error, chain)
        }
        guard endsAtRoot(chain, trust.roots) else { throw .rootUntrusted }
        // AK-01: leaf, attestation key, root at least. A root that was not sent counts, once.
        let below = chain.certificates.prefix { !$0.isEdition(of: root) }
        guard below.count >= 2 else { throw .chainTooShort }
        return root
    }

    /// Whether the last certificate is a pinned root or was issued by one, so that nothing was sent above
    /// what is judged: whatever stands there is a stranger's word, and must not choose how dates count.
    private static func endsAtRoot(_ chain: CertificateChain, _ roots: [Certificate]) -> Bool {
        guard let last = chain.certificates.last else { return false }
        return roots.contains { last.isEdition(of: $0) || last.isIssued(by: $0) }
    }

    /// AK-04. The leaf's dates are the device's own words (often 1970), and the pinned root's editions
    /// end before its key does: neither is judged. The attestation keys of many factory chains are marked
    /// as no CA; that the leaf is a leaf is shown by AK-05 instead.
    private static func rules(for chain: CertificateChain, roots: [Certificate]) -> ChainRules {
        ChainRules(
            anchors: roots, leafDates: .ignored,
            intermediateDates: isFactoryProvisioned(chain) ? .expiryIgnored : .judged,
            anchorDates: .ignored, leafIssuer: .anyKey,
            criticalExtensionsRead: [KeyDescription.oid])
    }

    /// Whether the keys below the root were put into the device when it was made: the certificate that
    /// the root issued then has a serial number in its subject. Remotely provisioned chains have
    /// certificates of weeks, whose expiry counts; so it does for what is neither.
    private static func isFactoryProvisioned(_ chain: CertificateChain) -> Bool {
        // The chain ends at a root, so this is the one that the root issued.
        guard let top = chain.certificates.last(where: { !$0.isSelfIssued }), top != chain.leaf
        else { return false }
        return !top.subject.values(.serialNumber).isEmpty
    }

    private static func failure(
        of error: CertificateError, _ chain: CertificateChain
    ) -> AndroidAttestationFailure {
        switch error {
        case .malformed: return .malformed
        case .broken: return .chainBroken
        // A key that OpenSSL does not know is weak to it, which would be the wrong word here.
        case .weak: return chain.leaf.publicKey == nil ? .keyUnsupported : .chainWeak
        case .expired: return .expired
        case .notYetValid: return .notYetValid
        case .untrusted:
            let isSoftware = chain.certificates.contains {
                sha256($0.spki).hex == GoogleAttestationRoots.softwareRootKeySHA256
            }
            return isSoftware ? .rootSoftware : .rootUntrusted
        }
    }

    /// AK-06: fail closed.
    private static func checkRevocations(
        _ chain: CertificateChain, _ root: Certificate, at now: Instant, _ trust: AndroidTrust
    ) throws(AndroidAttestationFailure) {
        guard let list = trust.revocations else { throw .revocationsMissing }
        guard trust.hasFreshRevocations(at: now) else { throw .revocationsStale }
        for certificate in chain.certificates + [root]
        where list.contains(serial: certificate.serial) {
            throw .revoked
        }
    }

    /// AK-05, AK-07, AK-22: the description is in the leaf, once, and nowhere else.
    private static func describe(
        _ chain: CertificateChain
    ) throws(AndroidAttestationFailure) -> KeyDescription {
        // A device's attested key that signs a certificate of its own would otherwise speak for it.
        let above = chain.certificates.dropFirst()
        guard above.allSatisfy({ $0.extensions(KeyDescription.oid).isEmpty }) else {
            throw .extensionMisplaced
        }
        let description: KeyDescription
        do throws(KeyDescriptionError) {
            description = try KeyDescription(of: chain.leaf)
        } catch {
            switch error {
            case .missing: throw .extensionMissing
            case .duplicate: throw .extensionMisplaced
            case .malformed: throw .descriptionMalformed
            case .unknownVersion: throw .descriptionUnknown
            }
        }
        guard description.softwareEnforced.isWellOrdered,
            description.hardwareEnforced.isWellOrdered
        else { throw .tagsDisordered }
        return description
    }
}

/// What evidence keeps of a verified attestation.
extension AndroidKeyAttestation {
    /// What no attestation of Android can show, said so that nobody reads it into one (AK-23).
    package static let notProven = [
        "key_invalidated_by_new_biometric", "which_finger_or_face", "app_integrity",
    ]

    /// The proved facts; in `unmet` what keeps each profile from being met; in `not_proven` what no such
    /// statement shows.
    package func facts(_ requirements: AndroidRequirements) -> JSON {
        let unmet = AttestationProfile.android.map { profile in
            JSON.Member(
                profile.rawValue,
                .array(self.unmet(profile, requirements).map { .string($0.rawValue) }))
        }
        return [
            "key": description.facts, "root_sha256": .string(sha256(root.der).hex),
            "serials": .array(chain.certificates.map { .string($0.serial) }),
            "unmet": .object(unmet), "not_proven": .array(Self.notProven.map(JSON.string)),
        ]
    }
}
