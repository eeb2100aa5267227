package import Countersign
import Crypto

/// What an assertion's sign count tells beside the last one that was believed. WebAuthn L3 §6.1.1.
package enum SignCount: Hashable, Sendable {
    /// Both are zero: the authenticator keeps none, as most synced passkeys.
    case notKept
    /// It went up.
    case advanced
    /// It did not go up, although one is kept: a copy of the authenticator may be about.
    case regressed

    /// Compares the stored count with the one that came.
    package init(from stored: UInt32, to sent: UInt32) {
        if sent > stored {
            self = .advanced
        } else if (stored, sent) == (0, 0) {
            self = .notKept
        } else {
            self = .regressed
        }
    }
}

/// A passkey's assertion that has been believed.
package struct VerifiedPasskeyAssertion: Hashable, Sendable {
    /// To be stored when the whole decision commits, not before.
    package let signCount: UInt32
    /// Whether the passkey may be copied to other devices.
    package let backupEligible: Bool
    /// Whether it is copied now; this may change with every assertion, and a change is an event.
    package let backupState: Bool
    /// Whether the authenticator verified the user; by which means it does not say.
    package let userVerified: Bool
}

/// Verifying an assertion. Source: WebAuthn L3 §7.2, whose step numbers the comments give.
package enum AssertionCeremony {
    /// Verifies the answer to request options.
    ///
    /// Steps 1–4 are the client's; 5 (the credential may be used here) is the use case's; 24 (storing the
    /// counts) the store's, in the transaction that spends the challenge.
    ///
    /// - Parameters:
    ///   - assertion: The answer as it came.
    ///   - challenge: The bytes that were to be signed, exactly.
    ///   - credential: What was recorded of the credential of the customer who is asked.
    ///   - relyingParty: For whom the credential was made.
    ///   - policy: What to demand.
    ///   - keys: The parsed keys of earlier assertions.
    /// - Returns: What the assertion told.
    /// - Throws: ``VerificationFailure``, the first that applies in the order of the steps.
    package static func verify(
        _ assertion: PasskeyAssertion, challenge: Bytes, credential: StoredPasskey,
        relyingParty: RelyingParty, policy: VerifierPolicy, keys: PasskeyKeys
    ) throws(VerificationFailure) -> VerifiedPasskeyAssertion {
        try examine(
            assertion, .assertion, challenge: challenge, credential: credential,
            relyingParty: relyingParty, policy: policy, keys: keys
        ).verified
    }

    /// What was believed, with the parts that another ceremony judges further.
    struct Examined {
        let verified: VerifiedPasskeyAssertion
        let clientData: ClientData
        let data: AuthenticatorData
    }

    /// Verifies an assertion of a type: a login is no payment, and a payment no login (SPC-02).
    static func examine(
        _ assertion: PasskeyAssertion, _ ceremony: ClientData.Ceremony, challenge: Bytes,
        credential: StoredPasskey, relyingParty: RelyingParty, policy: VerifierPolicy,
        keys: PasskeyKeys
    ) throws(VerificationFailure) -> Examined {
        // 6: the credential and its owner are the expected ones.
        try identify(assertion, credential)
        // 8, 9: decode the client data. 20: its hash.
        let clientData = try ClientData(parsing: assertion.clientDataJSON)
        // 10–14: type, challenge, origin, crossOrigin, topOrigin.
        try clientData.check(ceremony, challenge: challenge, relyingParty: relyingParty)
        let data = try AuthenticatorData(parsing: assertion.authenticatorData)
        // 15–18: relying party, user present, user verified, backup flags.
        try data.check(relyingParty, policy)
        // 19: backup eligibility never changes.
        guard data.flags.contains(.backupEligible) == credential.backupEligible else {
            throw .backupEligibilityChanged
        }
        // 21: the signature, by a key whose algorithm is still taken.
        let key = try keys.key(of: credential)
        guard policy.algorithms.contains(where: { $0.signature == key.publicKey.algorithm }) else {
            throw .algorithmNotAllowed
        }
        try checkAttestedData(data, credential, key.publicKey, policy)
        guard
            key.isValid(
                signature: assertion.signature, authenticatorData: data.raw,
                clientDataHash: clientData.hash, relyingParty: relyingParty, policy: policy)
        else { throw .signatureInvalid }
        // 22: the count goes up, unless the authenticator keeps none. Stricter than the spec, which
        // leaves it to the relying party: a copied authenticator is refused, and so is a synced passkey
        // that counts and falls back, since then somebody else has signed meanwhile.
        guard SignCount(from: credential.signCount, to: data.signCount) != .regressed else {
            throw .signCountRegression
        }
        let verified = VerifiedPasskeyAssertion(
            signCount: data.signCount, backupEligible: credential.backupEligible,
            backupState: data.flags.contains(.backupState),
            userVerified: data.flags.contains(.userVerified))
        return Examined(verified: verified, clientData: clientData, data: data)
    }

    private static func identify(
        _ assertion: PasskeyAssertion, _ credential: StoredPasskey
    ) throws(VerificationFailure) {
        guard assertion.rawID == credential.credentialID else { throw .credentialUnknown }
        if let userHandle = assertion.userHandle {
            guard userHandle == credential.userHandle else { throw .userHandleMismatch }
        }
    }

    /// WebAuthn L3 §6.1: an assertion must not carry a new credential's data.
    private static func checkAttestedData(
        _ data: AuthenticatorData, _ credential: StoredPasskey, _ key: PublicKey,
        _ policy: VerifierPolicy
    ) throws(VerificationFailure) {
        guard let attested = data.attestedCredential else { return }
        switch policy.attestedDataInAssertion {
        case .refused: throw .authenticatorDataMalformed
        case .mustMatchCredential:
            let attestedKey = try COSEKey(attested.key, allowing: policy.algorithms)
            guard attested.id == credential.credentialID, attestedKey.publicKey == key else {
                throw .authenticatorDataMalformed
            }
        }
    }
}
