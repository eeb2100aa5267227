/// Believes a customer's proof or says why not. Pure: it reads no clock and no database.
package protocol AssertionVerifier: Sendable {
    /// Checks one proof over one message against one recorded credential.
    ///
    /// - Parameters:
    ///   - assertion: The proof as it came.
    ///   - credential: What was recorded at enrolment of the credential that the proof names.
    ///   - message: The stored bytes that were to be signed; a passkey signs their SHA-256 as challenge.
    /// - Returns: What the proof told besides being valid.
    /// - Throws: ``VerificationFailure``, the first that applies in the order of the standard.
    func verify(
        _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
    ) throws(VerificationFailure) -> VerifiedAssertion
}

/// What is recorded of a credential, as far as a proof is checked against it.
package enum StoredCredential: Hashable, Sendable {
    case deviceKey(StoredDeviceKey)
    case passkey(StoredPasskey)
}

/// What is recorded of a device key.
package struct StoredDeviceKey: Hashable, Sendable {
    package let id: ID<Credential>
    /// SubjectPublicKeyInfo in DER.
    package let key: Bytes
    /// The only format in which its signatures are taken.
    package let signatureFormat: SignatureFormat
    /// What assertions of App Attest are checked against; `nil` when the key was not bound by it.
    package let appAttest: StoredAppAttest?

    package init(
        id: ID<Credential>, key: Bytes, signatureFormat: SignatureFormat = .der,
        appAttest: StoredAppAttest? = nil
    ) {
        self.id = id
        self.key = key
        self.signatureFormat = signatureFormat
        self.appAttest = appAttest
    }
}

/// What is recorded of the App Attest key beside a device key.
package struct StoredAppAttest: Hashable, Sendable {
    /// SubjectPublicKeyInfo in DER.
    package let key: Bytes
    /// The last counter that was believed; the next must be greater.
    package let counter: UInt32

    package init(key: Bytes, counter: UInt32) {
        self.key = key
        self.counter = counter
    }
}

/// What is recorded of a passkey. Source: WebAuthn L3 §4, credential record.
package struct StoredPasskey: Hashable, Sendable {
    /// The ID that the authenticator chose, 1 to 1023 bytes.
    package let credentialID: Bytes
    /// SubjectPublicKeyInfo in DER.
    package let key: Bytes
    /// The last sign count that was believed; 0 for authenticators that keep none.
    package let signCount: UInt32
    /// Whether the passkey may be copied to other devices; it never changes.
    package let backupEligible: Bool
    /// The user handle of its customer, as sent in the creation options.
    package let userHandle: Bytes

    /// Takes what the store has; whether the key is one shows when it is used.
    package init(
        credentialID: Bytes, key: Bytes, signCount: UInt32, backupEligible: Bool, userHandle: Bytes
    ) {
        self.credentialID = credentialID
        self.key = key
        self.signCount = signCount
        self.backupEligible = backupEligible
        self.userHandle = userHandle
    }
}

/// A proof that has been believed, and what it told besides. Only an ``AssertionVerifier`` makes one.
package enum VerifiedAssertion: Hashable, Sendable {
    /// The counter is that of the assertion of App Attest, when one came with the signature.
    case deviceKey(appAttestCounter: UInt32? = nil)
    case passkey(signCount: UInt32, backupEligible: Bool, backupState: Bool)
}
