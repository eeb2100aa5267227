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
    /// The algorithms that a credential may have, the preferred first, when it is made and whenever it
    /// signs: an algorithm that is taken out of the policy is of no use any more. Stricter than WebAuthn,
    /// which asks only once.
    package let algorithms: [COSEAlgorithm]
    /// The statements that a new credential may come with, and whom to believe about them.
    package let attestation: AttestationPolicy
    /// Whether an assertion may repeat the credential's data.
    package let attestedDataInAssertion: AttestedDataInAssertion

    /// Takes every demand; none has a default.
    package init(
        userPresence: Requirement, userVerification: Requirement, algorithms: [COSEAlgorithm],
        attestation: AttestationPolicy, attestedDataInAssertion: AttestedDataInAssertion
    ) {
        self.userPresence = userPresence
        self.userVerification = userVerification
        self.algorithms = algorithms
        self.attestation = attestation
        self.attestedDataInAssertion = attestedDataInAssertion
    }

    /// The service's policy where nothing else is configured: ES256, and no maker trusted.
    package static let service: VerifierPolicy = .service(
        algorithms: [.es256], attestation: .untrusting)

    /// The service's policy: the user present and verified, always.
    ///
    /// No configuration reaches these two. Source: PSD2 RTS Art. 4(1), NIST SP 800-63B-4 App. B (D-07).
    package static func service(
        algorithms: [COSEAlgorithm], attestation: AttestationPolicy
    ) -> VerifierPolicy {
        VerifierPolicy(
            userPresence: .required, userVerification: .required, algorithms: algorithms,
            attestation: attestation, attestedDataInAssertion: .mustMatchCredential)
    }
}
