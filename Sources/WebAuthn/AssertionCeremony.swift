package import Countersign
import Crypto

/// A passkey's assertion that has been believed.
package struct VerifiedPasskeyAssertion: Hashable, Sendable {
    /// To be stored when the whole decision commits, not before.
    package let signCount: UInt32
    /// Whether the passkey may be copied to other devices.
    package let backupEligible: Bool
    /// Whether it is copied now; this may change with every assertion.
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
    /// - Returns: What the assertion told.
    /// - Throws: ``VerificationFailure``, the first that applies in the order of the steps.
    package static func verify(
        _ assertion: PasskeyAssertion, challenge: Bytes, credential: StoredPasskey,
        relyingParty: RelyingParty, policy: VerifierPolicy
    ) throws(VerificationFailure) -> VerifiedPasskeyAssertion {
        try examine(
            assertion, .assertion, challenge: challenge, credential: credential,
            relyingParty: relyingParty, policy: policy
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
        credential: StoredPasskey, relyingParty: RelyingParty, policy: VerifierPolicy
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
        // 21: the signature.
        let key = try publicKey(of: credential)
        try checkAttestedData(data, credential, key, policy)
        guard
            FidoAssertion().isValid(
                relyingPartyID: relyingParty.id, clientDataHash: clientData.hash,
                authenticatorData: data.raw, signature: assertion.signature, key: key,
                policy: policy)
        else { throw .signatureInvalid }
        // 22: the count goes up, unless the authenticator keeps none. Stricter than the spec, which
        // leaves it to the relying party: a copied authenticator is refused.
        guard
            data.signCount > credential.signCount
                || (data.signCount, credential.signCount) == (0, 0)
        else { throw .signCountRegression }
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

    private static func publicKey(
        of credential: StoredPasskey
    ) throws(VerificationFailure) -> P256PublicKey {
        do {
            return try P256PublicKey(spki: credential.key)
        } catch {
            throw .storedKeyInvalid
        }
    }

    /// WebAuthn L3 §6.1: an assertion must not carry a new credential's data.
    private static func checkAttestedData(
        _ data: AuthenticatorData, _ credential: StoredPasskey, _ key: P256PublicKey,
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
