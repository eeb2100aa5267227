/// What a customer says about an action; the raw value is the member `decision` of the message.
package enum SignedDecision: String, Sendable {
    case approve
    case reject
}

/// The exact bytes that a customer's key signs, and what they say.
///
/// One canonical JSON object of strings (RFC 8785). The bytes are built once, from the stored action,
/// and stored; at verification nothing is built again from columns. Source: `docs/signed-message.md`;
/// the binding to amount and payee is PSD2 RTS Art. 5(1).
package struct SignedMessage: Hashable, Sendable {
    /// Changes whenever the meaning of a member does.
    package static let version = "countersign/1"
    /// Bytes of randomness in every message, of which a signature is good for one challenge only.
    package static let nonceSize = 32

    package let actionID: ID<Action>
    /// The relying-party ID: a signature for one bank is no good at another.
    package let audience: String
    package let challengeID: ID<Challenge>
    package let customerID: CustomerID
    package let decision: SignedDecision
    /// The challenge's expiry, in whole seconds.
    package let expiresAt: Instant
    package let nonce: Bytes
    package let content: ActionContent

    package init(
        actionID: ID<Action>, audience: String, challengeID: ID<Challenge>, customerID: CustomerID,
        decision: SignedDecision, expiresAt: Instant, nonce: Bytes, content: ActionContent
    ) {
        precondition(nonce.count == SignedMessage.nonceSize, "a nonce has 32 bytes")
        precondition(expiresAt.wholeSeconds == expiresAt, "messages tell whole seconds")
        self.actionID = actionID
        self.audience = audience
        self.challengeID = challengeID
        self.customerID = customerID
        self.decision = decision
        self.expiresAt = expiresAt
        self.nonce = nonce
        self.content = content
    }

    /// The bytes to sign.
    package var bytes: Bytes {
        var members = content.members
        members["action_id"] = actionID.text
        members["audience"] = audience
        members["challenge_id"] = challengeID.text
        members["customer_id"] = customerID.text
        members["decision"] = decision.rawValue
        members["expires_at"] = expiresAt.text
        members["kind"] = content.kind.rawValue
        members["nonce"] = Base64.encodeURL(nonce)
        members["version"] = SignedMessage.version
        return CanonicalJSON.encode(members)
    }

    /// Reads bytes that are exactly a message of this version; `nil` for everything else.
    package init?(decoding bytes: Bytes) {
        guard var members = CanonicalJSON.decode(bytes),
            members.removeValue(forKey: "version") == SignedMessage.version,
            let actionID = members.removeValue(forKey: "action_id").flatMap({ ID<Action>($0) }),
            let audience = members.removeValue(forKey: "audience"),
            let challengeID = members.removeValue(forKey: "challenge_id")
                .flatMap({ ID<Challenge>($0) }),
            let customer = members.removeValue(forKey: "customer_id"),
            let decision = members.removeValue(forKey: "decision")
                .flatMap(SignedDecision.init(rawValue:)),
            let expiresAt = members.removeValue(forKey: "expires_at").flatMap(Instant.init(text:)),
            let kind = members.removeValue(forKey: "kind").flatMap(ActionKind.init(rawValue:)),
            let nonce = members.removeValue(forKey: "nonce").flatMap({ Base64.decodeURL($0) }),
            nonce.count == SignedMessage.nonceSize, expiresAt.wholeSeconds == expiresAt
        else { return nil }
        do throws(InvalidValue) {
            self.init(
                actionID: actionID, audience: audience, challengeID: challengeID,
                customerID: try CustomerID(customer), decision: decision, expiresAt: expiresAt,
                nonce: nonce, content: try ActionContent(kind: kind, members: members))
        } catch {
            return nil
        }
        guard self.bytes == bytes else { return nil }
    }
}
