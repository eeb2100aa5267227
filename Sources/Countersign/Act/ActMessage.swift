/// The exact bytes that a person signs about an act, by their SHA-256 as a passkey's challenge.
///
/// One canonical JSON object of strings (RFC 8785). Its `version` is its own: no message of a customer has
/// it, and none of these is read as a customer's. Source: `docs/signed-message.md`.
package struct ActMessage: Hashable, Sendable {
    /// Changes whenever the meaning of a member does.
    package static let version = "countersign-act/1"

    package let actID: ID<Act>
    /// The relying-party ID.
    package let audience: String
    package let challengeID: ID<ActChallenge>
    /// SHA-256 of the act's document.
    package let documentDigest: Digest
    /// In whole seconds.
    package let expiresAt: Instant
    package let kind: ActKind
    package let nonce: Bytes
    /// The name of the client who signs.
    package let person: String
    package let role: PersonRole
    package let stage: ActStage

    /// Takes what the message says.
    package init(
        actID: ID<Act>, audience: String, challengeID: ID<ActChallenge>, documentDigest: Digest,
        expiresAt: Instant, kind: ActKind, nonce: Bytes, person: String, role: PersonRole,
        stage: ActStage
    ) {
        precondition(nonce.count == SignedMessage.nonceSize, "a nonce has 32 bytes")
        precondition(expiresAt.wholeSeconds == expiresAt, "messages tell whole seconds")
        self.actID = actID
        self.audience = audience
        self.challengeID = challengeID
        self.documentDigest = documentDigest
        self.expiresAt = expiresAt
        self.kind = kind
        self.nonce = nonce
        self.person = person
        self.role = role
        self.stage = stage
    }

    /// The bytes whose digest is signed.
    package var bytes: Bytes {
        CanonicalJSON.encode([
            "act_id": actID.text,
            "audience": audience,
            "challenge_id": challengeID.text,
            "document_digest": documentDigest.hex,
            "expires_at": expiresAt.text,
            "nonce": Base64.encodeURL(nonce),
            "person": person,
            "purpose": kind.rawValue,
            "role": role.rawValue,
            "stage": stage.rawValue,
            "version": ActMessage.version,
        ])
    }

    /// Reads bytes that are exactly a message of this version; `nil` for everything else.
    package init?(decoding bytes: Bytes) {
        guard let members = CanonicalJSON.decode(bytes), members["version"] == ActMessage.version,
            let actID = members["act_id"].flatMap({ ID<Act>($0) }),
            let audience = members["audience"],
            let challengeID = members["challenge_id"].flatMap({ ID<ActChallenge>($0) }),
            let digest = members["document_digest"].flatMap({ Hex.decode($0) })
                .flatMap(Digest.init),
            let expiresAt = members["expires_at"].flatMap(Instant.init(text:)),
            let kind = members["purpose"].flatMap(ActKind.init(rawValue:)),
            let nonce = members["nonce"].flatMap({ Base64.decodeURL($0) }),
            let person = members["person"],
            let role = members["role"].flatMap(PersonRole.init(rawValue:)),
            let stage = members["stage"].flatMap(ActStage.init(rawValue:)),
            nonce.count == SignedMessage.nonceSize, expiresAt.wholeSeconds == expiresAt
        else { return nil }
        self.init(
            actID: actID, audience: audience, challengeID: challengeID, documentDigest: digest,
            expiresAt: expiresAt, kind: kind, nonce: nonce, person: person, role: role,
            stage: stage)
        guard self.bytes == bytes else { return nil }
    }
}
