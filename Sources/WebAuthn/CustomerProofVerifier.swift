package import Countersign
import Crypto

/// The service's ``AssertionVerifier``: both kinds of credential, under the service's policy.
package struct CustomerProofVerifier: AssertionVerifier {
    let relyingParty: RelyingParty

    /// - Parameter relyingParty: For whom this installation's passkeys are made.
    package init(relyingParty: RelyingParty) { self.relyingParty = relyingParty }

    /// See ``AssertionVerifier``.
    package func verify(
        _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
    ) throws(VerificationFailure) -> VerifiedAssertion {
        switch (assertion, credential) {
        case (.deviceKey(let claimed, let signature, let appAttest), .deviceKey(let stored)):
            guard claimed == stored.id else { throw .credentialUnknown }
            try DeviceKeyVerifier.verify(
                signature: signature, in: stored.signatureFormat, over: message, key: stored.key)
            // An extra proof that cannot be checked must not look as if it had been.
            guard appAttest == nil else { throw .appAttestUnexpected }
            return .deviceKey()
        case (.passkey(let assertion), .passkey(let passkey)):
            // The challenge that the customer's authenticator signs is the digest of the message.
            let verified = try AssertionCeremony.verify(
                assertion, challenge: sha256(message).bytes, credential: passkey,
                relyingParty: relyingParty, policy: .service)
            return .passkey(
                signCount: verified.signCount, backupEligible: verified.backupEligible,
                backupState: verified.backupState)
        case (.deviceKey, .passkey), (.passkey, .deviceKey):
            throw .credentialType
        }
    }
}
