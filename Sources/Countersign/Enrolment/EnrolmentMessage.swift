/// The exact bytes that a new key signs, or whose SHA-256 is the challenge of a new passkey.
///
/// One canonical JSON object of strings (RFC 8785), told apart from every other message by its
/// `purpose`. Source: `docs/signed-message.md`.
package struct EnrolmentMessage: Hashable, Sendable {
    /// Of all messages, only these may enrol a key.
    package static let purpose = "enrol"

    /// The relying-party ID: a proof for one bank is no good at another.
    package let audience: String
    package let customerID: CustomerID
    package let enrolmentID: ID<Enrolment>
    /// In whole seconds.
    package let expiresAt: Instant
    package let nonce: Bytes

    package init(
        audience: String, customerID: CustomerID, enrolmentID: ID<Enrolment>, expiresAt: Instant,
        nonce: Bytes
    ) {
        precondition(nonce.count == SignedMessage.nonceSize, "a nonce has 32 bytes")
        precondition(expiresAt.wholeSeconds == expiresAt, "messages tell whole seconds")
        self.audience = audience
        self.customerID = customerID
        self.enrolmentID = enrolmentID
        self.expiresAt = expiresAt
        self.nonce = nonce
    }

    /// The bytes to sign.
    package var bytes: Bytes {
        CanonicalJSON.encode([
            "audience": audience,
            "customer_id": customerID.text,
            "enrolment_id": enrolmentID.text,
            "expires_at": expiresAt.text,
            "nonce": Base64.encodeURL(nonce),
            "purpose": EnrolmentMessage.purpose,
            "version": SignedMessage.version,
        ])
    }

    /// Reads bytes that are exactly a message of this purpose and version; `nil` for everything else.
    package init?(decoding bytes: Bytes) {
        guard let members = CanonicalJSON.decode(bytes),
            let common = EnrolmentMembers(members, purpose: EnrolmentMessage.purpose)
        else { return nil }
        self.init(
            audience: common.audience, customerID: common.customerID,
            enrolmentID: common.enrolmentID, expiresAt: common.expiresAt, nonce: common.nonce)
        guard self.bytes == bytes else { return nil }
    }
}

/// The exact bytes by which an active credential vouches for one new key.
///
/// It names the key by digest: whoever changes the key under way has nobody who vouches for it.
package struct AuthorizationMessage: Hashable, Sendable {
    /// Of all messages, only these may vouch for a key.
    package static let purpose = "authorize_enrolment"

    /// The relying-party ID.
    package let audience: String
    package let challengeID: ID<Challenge>
    package let customerID: CustomerID
    package let enrolmentID: ID<Enrolment>
    /// In whole seconds.
    package let expiresAt: Instant
    /// SHA-256 of the new key as DER SubjectPublicKeyInfo.
    package let keyDigest: Digest
    package let nonce: Bytes

    package init(
        audience: String, challengeID: ID<Challenge>, customerID: CustomerID,
        enrolmentID: ID<Enrolment>, expiresAt: Instant, keyDigest: Digest, nonce: Bytes
    ) {
        precondition(nonce.count == SignedMessage.nonceSize, "a nonce has 32 bytes")
        precondition(expiresAt.wholeSeconds == expiresAt, "messages tell whole seconds")
        self.audience = audience
        self.challengeID = challengeID
        self.customerID = customerID
        self.enrolmentID = enrolmentID
        self.expiresAt = expiresAt
        self.keyDigest = keyDigest
        self.nonce = nonce
    }

    /// The bytes to sign.
    package var bytes: Bytes {
        CanonicalJSON.encode([
            "audience": audience,
            "challenge_id": challengeID.text,
            "customer_id": customerID.text,
            "enrolment_id": enrolmentID.text,
            "expires_at": expiresAt.text,
            "key_digest": keyDigest.hex,
            "nonce": Base64.encodeURL(nonce),
            "purpose": AuthorizationMessage.purpose,
            "version": SignedMessage.version,
        ])
    }

    /// Reads bytes that are exactly a message of this purpose and version; `nil` for everything else.
    package init?(decoding bytes: Bytes) {
        guard let members = CanonicalJSON.decode(bytes),
            let common = EnrolmentMembers(members, purpose: AuthorizationMessage.purpose),
            let challengeID = members["challenge_id"].flatMap({ ID<Challenge>($0) }),
            let keyDigest = members["key_digest"].flatMap({ Hex.decode($0) }).flatMap(Digest.init)
        else { return nil }
        self.init(
            audience: common.audience, challengeID: challengeID, customerID: common.customerID,
            enrolmentID: common.enrolmentID, expiresAt: common.expiresAt, keyDigest: keyDigest,
            nonce: common.nonce)
        guard self.bytes == bytes else { return nil }
    }
}

/// What both messages have in common; whether there is more is found by writing them again.
private struct EnrolmentMembers {
    let audience: String
    let customerID: CustomerID
    let enrolmentID: ID<Enrolment>
    let expiresAt: Instant
    let nonce: Bytes

    init?(_ members: [String: String], purpose: String) {
        guard members["version"] == SignedMessage.version, members["purpose"] == purpose,
            let audience = members["audience"], let customer = members["customer_id"],
            let enrolmentID = members["enrolment_id"].flatMap({ ID<Enrolment>($0) }),
            let expiresAt = members["expires_at"].flatMap(Instant.init(text:)),
            let nonce = members["nonce"].flatMap({ Base64.decodeURL($0) }),
            nonce.count == SignedMessage.nonceSize, expiresAt.wholeSeconds == expiresAt
        else { return nil }
        do throws(InvalidValue) {
            customerID = try CustomerID(customer)
        } catch {
            return nil
        }
        self.audience = audience
        self.enrolmentID = enrolmentID
        self.expiresAt = expiresAt
        self.nonce = nonce
    }
}
