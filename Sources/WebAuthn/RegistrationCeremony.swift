package import Countersign
package import Crypto

/// A passkey whose making has been verified: the credential record of WebAuthn L3 §4.
package struct RegisteredPasskey: Hashable, Sendable {
    /// The ID that the authenticator chose, 1 to 1023 bytes; the store sees to it that it is new.
    package let credentialID: Bytes
    /// The key that will sign.
    package let publicKey: PublicKey
    /// The first sign count; 0 for authenticators that keep none.
    package let signCount: UInt32
    /// Whether the passkey may be copied to other devices; it never changes.
    package let backupEligible: Bool
    /// Whether it is copied now.
    package let backupState: Bool
    /// Whether the authenticator verified the user.
    package let userVerified: Bool
    /// What was believed, with the attestation object as it came: kept as evidence, and to be judged
    /// again when trust in a model changes.
    package let attestation: Attestation
    /// Hints for later requests, not facts.
    package let transports: [String]
}

/// Registering a new credential. Source: WebAuthn L3 §7.1, whose step numbers the comments give.
package enum RegistrationCeremony {
    /// The longest credential ID. Source: WebAuthn L3 §7.1 step 25.
    package static let credentialIDBytesMax = 1023

    /// Verifies the answer to creation options.
    ///
    /// Steps 1–4 are the client's; 18 and 19 are the risk policy's, which is told the flags; 26 (the ID
    /// is new) and 29 (storing) are the store's.
    ///
    /// - Parameters:
    ///   - response: The answer as it came.
    ///   - challenge: The bytes that the options carried.
    ///   - relyingParty: For whom the credential is made.
    ///   - policy: What to demand.
    ///   - instant: At which certificates must be valid.
    /// - Returns: What to store.
    /// - Throws: ``VerificationFailure``, the first that applies in the order of the steps.
    package static func verify(
        response: PasskeyRegistration, challenge: Bytes, relyingParty: RelyingParty,
        policy: VerifierPolicy, at instant: Instant
    ) throws(VerificationFailure) -> RegisteredPasskey {
        // 5, 6: decode the client data. 12: its hash.
        let clientData = try ClientData(parsing: response.clientDataJSON)
        // 7–11: type, challenge, origin, crossOrigin, topOrigin.
        try clientData.check(.registration, challenge: challenge, relyingParty: relyingParty)
        // 13: decode the attestation object.
        let object = try AttestationObject(parsing: response.attestationObject)
        let data = try AuthenticatorData(parsing: object.authenticatorData)
        // 14–17: relying party, user present, user verified, backup flags.
        try data.check(relyingParty, policy)
        guard let credential = data.attestedCredential else { throw .authenticatorDataMalformed }
        // 20: the algorithm is one that was asked for, and the key is one of it.
        let key = try COSEKey(credential.key, allowing: policy.algorithms)
        // 21: the format, compared case by case. 22: its procedure.
        guard let format = AttestationFormat(identifier: object.format),
            policy.attestation.formats.contains(format)
        else { throw .attestationFormatUnsupported }
        let claim = AttestationClaim(
            authenticatorData: data, credential: credential, key: key,
            clientDataHash: clientData.hash)
        let proof = try format.verify(object.statement, of: claim)
        // 23, 24: the trust anchors for the format and model, and whether the statement reaches one.
        let attestation = try AttestationJudge(policy: policy.attestation, instant: instant)
            .judge(proof, format, of: claim, object: response.attestationObject)
        // 25: the length of the ID.
        guard credential.id.count <= credentialIDBytesMax else { throw .credentialIDTooLong }
        // The envelope names the credential that the authenticator made; whoever stores the one and
        // looks up the other would lock the customer out.
        guard credential.id == response.rawID else { throw .credentialIDMismatch }
        // 27: the credential record.
        return RegisteredPasskey(
            credentialID: credential.id, publicKey: key.publicKey, signCount: data.signCount,
            backupEligible: data.flags.contains(.backupEligible),
            backupState: data.flags.contains(.backupState),
            userVerified: data.flags.contains(.userVerified), attestation: attestation,
            transports: response.transports)
    }
}
