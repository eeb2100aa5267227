/// What the verifier demands. The service has one policy; published vectors need looser ones.
package struct VerifierPolicy: Hashable, Sendable {
    /// Whether a flag must be set.
    package enum Requirement: Hashable, Sendable {
        case required
        case notRequired
    }

    /// What to do with a new credential's data in an assertion: WebAuthn L3 §6.1 forbids it, and some
    /// real authenticators have sent it.
    package enum AttestedDataInAssertion: Hashable, Sendable {
        case refused
        /// Taken when ID and key in it are those of the credential that signed.
        case mustMatchCredential
    }

    /// Whether somebody must have touched the authenticator.
    package let userPresence: Requirement
    /// Whether the authenticator must have verified the user.
    package let userVerification: Requirement
    /// The algorithms that a new credential may have.
    package let algorithms: Set<COSEAlgorithm>
    /// The statements that a new credential may come with.
    package let attestationFormats: Set<AttestationFormat>
    /// Whether an assertion may repeat the credential's data.
    package let attestedDataInAssertion: AttestedDataInAssertion

    /// Takes every demand; none has a default.
    package init(
        userPresence: Requirement, userVerification: Requirement, algorithms: Set<COSEAlgorithm>,
        attestationFormats: Set<AttestationFormat>,
        attestedDataInAssertion: AttestedDataInAssertion
    ) {
        self.userPresence = userPresence
        self.userVerification = userVerification
        self.algorithms = algorithms
        self.attestationFormats = attestationFormats
        self.attestedDataInAssertion = attestedDataInAssertion
    }

    /// The only policy of the service: the user present and verified, ES256, nothing forbidden.
    ///
    /// No configuration reaches these values. Source: PSD2 RTS Art. 4(1), NIST SP 800-63B-4 App. B.
    package static let service = VerifierPolicy(
        userPresence: .required, userVerification: .required, algorithms: [.es256],
        attestationFormats: [.noAttestation, .packed], attestedDataInAssertion: .mustMatchCredential
    )
}

/// The signature algorithms that this verifier has. Source: IANA COSE Algorithms.
package enum COSEAlgorithm: Int64, Hashable, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256. Source: RFC 9053 §2.1, WebAuthn L3 §5.8.5.
    case es256 = -7

    /// Its name in the registry, as settings write it.
    package var name: String {
        switch self {
        case .es256: "ES256"
        }
    }
}
