package import Countersign
import Crypto

/// The service's ``AssertionVerifier``: both kinds of credential, under the service's policy.
package struct CustomerProofVerifier: AssertionVerifier {
    let relyingParty: RelyingParty
    /// What is demanded; the options for clients are made from it too.
    package let policy: VerifierPolicy
    /// The keys that signed lately.
    private let passkeyKeys = PasskeyKeys(keysMax: keysMax)
    private let deviceKeys = KeyCache<P256PublicKey>(keysMax: keysMax)

    /// How many parsed keys of each kind are kept; one takes some 3 KB.
    private static let keysMax = 4096

    /// - Parameters:
    ///   - relyingParty: For whom this installation's passkeys are made.
    ///   - algorithms: Those that its passkeys may have.
    ///   - attestation: Which statements they may come with, and whom to believe about them.
    package init(
        relyingParty: RelyingParty, algorithms: Set<COSEAlgorithm> = VerifierPolicy.service.algorithms,
        attestation: AttestationPolicy = .untrusting
    ) {
        self.relyingParty = relyingParty
        policy = .service(algorithms: algorithms, attestation: attestation)
    }

    /// See ``AssertionVerifier``.
    package func verify(
        _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
    ) throws(VerificationFailure) -> VerifiedAssertion {
        switch (assertion, credential) {
        case (.deviceKey(let claimed, let signature, let appAttest), .deviceKey(let stored)):
            guard claimed == stored.id else { throw .credentialUnknown }
            try DeviceKeyVerifier.verify(
                signature: signature, in: stored.signatureFormat, over: message, key: stored.key,
                keys: deviceKeys)
            // An extra proof that cannot be checked must not look as if it had been.
            guard appAttest == nil else { throw .appAttestUnexpected }
            return .deviceKey()
        case (.passkey(let assertion), .passkey(let passkey)):
            // The challenge that the customer's authenticator signs is the digest of the message.
            let verified = try AssertionCeremony.verify(
                assertion, challenge: sha256(message).bytes, credential: passkey,
                relyingParty: relyingParty, policy: policy, keys: passkeyKeys)
            return .passkey(
                signCount: verified.signCount, backupEligible: verified.backupEligible,
                backupState: verified.backupState)
        case (.deviceKey, .passkey), (.passkey, .deviceKey):
            throw .credentialType
        }
    }
}
