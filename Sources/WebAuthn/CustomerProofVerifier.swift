package import Countersign
import Crypto

/// The service's ``AssertionVerifier``: both kinds of credential, under the service's policy.
package struct CustomerProofVerifier: AssertionVerifier {
    let relyingParty: RelyingParty
    /// What is demanded; the options for clients are made from it too.
    package let policy: VerifierPolicy
    let devices: DeviceAttestationPolicy
    private let payments: PaymentParty?
    /// The keys that signed lately.
    private let passkeyKeys = PasskeyKeys(keysMax: keysMax)
    private let deviceKeys = KeyCache<P256PublicKey>(keysMax: keysMax)

    /// How many parsed keys of each kind are kept; one takes some 3 KB.
    private static let keysMax = 4096

    /// - Parameters:
    ///   - relyingParty: For whom this installation's passkeys are made.
    ///   - payments: Where browsers confirm payments; `nil` when none may.
    ///   - algorithms: Those that its passkeys may have, the preferred first.
    ///   - attestation: Which statements they may come with, and whom to believe about them.
    ///   - devices: The same for device keys.
    package init(
        relyingParty: RelyingParty, payments: PaymentParty?, algorithms: [COSEAlgorithm],
        attestation: AttestationPolicy, devices: DeviceAttestationPolicy
    ) {
        self.relyingParty = relyingParty
        self.payments = payments
        self.devices = devices
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
            return .deviceKey(
                appAttestCounter: try appAttest.map { (assertion) throws(VerificationFailure) in
                    try counter(of: assertion, stored.appAttest, over: message)
                })
        case (.payment(let assertion), .passkey(let passkey)):
            // SPC-12: what is compared is what the stored message says, never what came with the request.
            guard let payments, let signed = SignedMessage(decoding: message),
                signed.decision == .approve, case .transfer(let transfer) = signed.content
            else { throw .paymentNotAllowed }
            return VerifiedAssertion(
                try PaymentCeremony.verify(
                    assertion, challenge: sha256(message).bytes, confirming: transfer,
                    credential: passkey, party: payments, policy: policy, keys: passkeyKeys))
        case (.passkey(let assertion), .passkey(let passkey)):
            // The challenge that the customer's authenticator signs is the digest of the message.
            return VerifiedAssertion(
                try AssertionCeremony.verify(
                    assertion, challenge: sha256(message).bytes, credential: passkey,
                    relyingParty: relyingParty, policy: policy, keys: passkeyKeys))
        case (.deviceKey, .passkey), (.passkey, .deviceKey), (.payment, .deviceKey):
            throw .credentialType
        }
    }

    /// An extra proof that cannot be checked must not look as if it had been: without an App Attest key
    /// on record, or an app to compare with, it refuses.
    private func counter(
        of assertion: Bytes, _ stored: StoredAppAttest?, over message: Bytes
    ) throws(VerificationFailure) -> UInt32 {
        guard let stored, let appID = devices.appAttest?.appID else { throw .appAttestUnexpected }
        let key = try deviceKeys.key(recorded: stored.key)
        do throws(AppAttestFailure) {
            return try AppAttestAssertion.verify(
                assertion, clientData: message, key: key, counter: stored.counter, appID: appID)
        } catch {
            switch error {
            case .appIDMismatch: throw .appAttestAppMismatch
            case .signatureInvalid: throw .appAttestSignatureInvalid
            case .counterRegression: throw .appAttestCounterRegression
            case .cborMalformed, .format, .malformed, .certificateInvalid, .chainBroken,
                .rootUntrusted, .certificateExpired, .nonceMismatch, .keyIDMismatch,
                .counterNotZero, .environment, .keyMismatch:
                throw .appAttestMalformed
            }
        }
    }
}

extension VerifiedAssertion {
    /// What a passkey told, whichever ceremony believed it.
    fileprivate init(_ verified: VerifiedPasskeyAssertion) {
        self = .passkey(
            signCount: verified.signCount, backupEligible: verified.backupEligible,
            backupState: verified.backupState)
    }
}
