/// An active passkey of a customer, as a client's options list it.
package struct ListedPasskey: Hashable, Sendable {
    /// The ID that the authenticator chose.
    package let credentialID: Bytes
    /// How the client said at registration that it reaches the authenticator: hints, not facts.
    package let transports: [String]
    package let traits: CredentialTraits

    package init(
        credentialID: Bytes, transports: [String], isBackupEligible: Bool,
        profiles: [AttestationProfile]
    ) {
        self.credentialID = credentialID
        self.transports = transports
        traits = CredentialTraits(
            kind: .passkey, profiles: profiles, isBackupEligible: isBackupEligible)
    }
}
