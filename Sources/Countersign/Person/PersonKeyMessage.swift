/// The exact bytes whose SHA-256 is the challenge of a new key of a person.
///
/// One canonical JSON object of strings (RFC 8785). Its version is that of acts, so that it is never a
/// message of a customer, and its purpose that of no act. Source: `docs/signed-message.md`.
package struct PersonKeyMessage: Hashable, Sendable {
    /// Of all messages, only these may register a key of a person.
    package static let purpose = "person_key.register"

    package let registrationID: ID<PersonKeyRegistration>
    /// The relying-party ID.
    package let audience: String
    package let person: Person
    /// In whole seconds.
    package let expiresAt: Instant
    package let nonce: Bytes

    /// Takes what the message says.
    package init(
        registrationID: ID<PersonKeyRegistration>, audience: String, person: Person,
        expiresAt: Instant, nonce: Bytes
    ) {
        precondition(nonce.count == SignedMessage.nonceSize, "a nonce has 32 bytes")
        precondition(expiresAt.wholeSeconds == expiresAt, "messages tell whole seconds")
        self.registrationID = registrationID
        self.audience = audience
        self.person = person
        self.expiresAt = expiresAt
        self.nonce = nonce
    }

    /// The bytes whose digest is the challenge.
    package var bytes: Bytes {
        CanonicalJSON.encode([
            "audience": audience,
            "expires_at": expiresAt.text,
            "nonce": Base64.encodeURL(nonce),
            "person": person.name,
            "purpose": PersonKeyMessage.purpose,
            "registration_id": registrationID.text,
            "role": person.role.rawValue,
            "version": ActMessage.version,
        ])
    }
}
