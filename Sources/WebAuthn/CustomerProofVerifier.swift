package import Countersign
import Crypto

/// The service's ``AssertionVerifier``: both kinds of credential, under the service's policy.
package struct CustomerProofVerifier: AssertionVerifier {
    let relyingParty: RelyingParty
    private let payments: PaymentParty?

    /// - Parameters:
    ///   - relyingParty: For whom this installation's passkeys are made.
    ///   - payments: Where browsers confirm payments; `nil` when none may.
    package init(relyingParty: RelyingParty, payments: PaymentParty?) {
        self.relyingParty = relyingParty
        self.payments = payments
    }

    /// See ``AssertionVerifier``.
    package func verify(
        _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
    ) throws(VerificationFailure) -> VerifiedAssertion {
        switch (assertion, credential) {
        case (.deviceKey(let claimed, let signature, let appAttest), .deviceKey(let stored)):
            guard claimed == stored.id else { throw .credentialUnknown }
            try DeviceKeyVerifier.verify(signature: signature, over: message, key: stored.key)
            // An extra proof that cannot be checked must not look as if it had been.
            guard appAttest == nil else { throw .appAttestUnexpected }
            return .deviceKey()
        case (.payment(let assertion), .passkey(let passkey)):
            // SPC-12: what is compared is what the stored message says, never what came with the request.
            guard let payments, let signed = SignedMessage(decoding: message),
                signed.decision == .approve, case .transfer(let transfer) = signed.content
            else { throw .paymentNotAllowed }
            let verified = try PaymentCeremony.verify(
                assertion, challenge: sha256(message).bytes, confirming: transfer,
                credential: passkey, party: payments, policy: .service)
            return .passkey(
                signCount: verified.signCount, backupEligible: verified.backupEligible,
                backupState: verified.backupState)
        case (.passkey(let assertion), .passkey(let passkey)):
            // The challenge that the customer's authenticator signs is the digest of the message.
            let verified = try AssertionCeremony.verify(
                assertion, challenge: sha256(message).bytes, credential: passkey,
                relyingParty: relyingParty, policy: .service)
            return .passkey(
                signCount: verified.signCount, backupEligible: verified.backupEligible,
                backupState: verified.backupState)
        case (.deviceKey, .passkey), (.passkey, .deviceKey), (.payment, .deviceKey):
            throw .credentialType
        }
    }
}
