/// Believes that whoever offers a new key possesses it, or says why not.
package protocol RegistrationVerifier: Sendable {
    /// Brings up to date what such a key is believed by, such as a list of revocations. The one part that
    /// may read files; called once, before the key is verified.
    func prepare(for offered: OfferedCredential) async

    /// Checks the proof that came with a new key. Pure: it reads no clock, no file and no database.
    ///
    /// - Parameters:
    ///   - offered: The key and the proof as they came.
    ///   - message: The stored enrolment message: a device key signs its bytes, a passkey is made for
    ///     the challenge that is their SHA-256, and Android attests for that same challenge. App Attest
    ///     is over the message and the new key.
    ///   - at: The database's time, at which certificates are judged.
    /// - Returns: What to record.
    /// - Throws: ``RegistrationFailure``, the first that applies.
    func verify(
        _ offered: OfferedCredential, over message: Bytes, at: Instant
    ) throws(RegistrationFailure) -> VerifiedRegistration
}

/// Why a new key is not taken.
package enum RegistrationFailure: Error, Equatable, Sendable {
    /// The text is no public key of the kind that is needed.
    case keyForm(InvalidValue)
    /// The proof was not believed.
    case proof(VerificationFailure)
    /// The attestation that came cannot be taken, whatever the policy asks for.
    case attestation(AttestationFailure)
}

/// Why an attestation is refused; the text is the stable word in evidence, such as
/// `android_chain_broken`.
package struct AttestationFailure: Error, Equatable, Sendable {
    package let code: String

    package init(_ code: String) { self.code = code }

    /// The policy lets a key that is attested like this, and may be copied like this, approve nothing.
    package static let policyNotMet = AttestationFailure("policy_not_met")
}

/// A new key whose possession is proved. Only a ``RegistrationVerifier`` makes one.
package struct VerifiedRegistration: Hashable, Sendable {
    /// What an authenticator told about a new passkey.
    package struct Passkey: Hashable, Sendable {
        /// The ID that the authenticator chose, 1 to 1023 bytes.
        package let credentialID: Bytes
        package let signCount: UInt32
        package let backupEligible: Bool
        package let backupState: Bool
        /// How the client can reach the authenticator, as it said: hints for later requests, not facts.
        package let transports: [String]

        package init(
            credentialID: Bytes, signCount: UInt32, backupEligible: Bool, backupState: Bool,
            transports: [String] = []
        ) {
            self.credentialID = credentialID
            self.signCount = signCount
            self.backupEligible = backupEligible
            self.backupState = backupState
            self.transports = transports
        }
    }

    /// The one DER encoding of SubjectPublicKeyInfo: what is stored, compared and digested.
    package let publicKey: Bytes
    package let attestation: Attestation
    /// The format of a device key's signatures; `der` for a passkey, whose format is its algorithm's.
    package let signatureFormat: SignatureFormat
    /// `nil` for a device key.
    package let passkey: Passkey?

    package init(
        publicKey: Bytes, attestation: Attestation, signatureFormat: SignatureFormat = .der,
        passkey: Passkey?
    ) {
        self.publicKey = publicKey
        self.attestation = attestation
        self.signatureFormat = signatureFormat
        self.passkey = passkey
    }

    /// What a policy looks at in the new credential.
    package var traits: CredentialTraits {
        CredentialTraits(
            kind: passkey == nil ? .deviceKey : .passkey, profiles: attestation.profiles,
            isBackupEligible: passkey?.backupEligible ?? false)
    }
}
