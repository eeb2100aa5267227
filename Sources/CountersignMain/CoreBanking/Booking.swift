import Countersign
import Delivery

/// What core banking decided about an action, once and for ever.
struct Booking: Sendable {
    let actionID: ID<Action>
    /// SHA-256 of the signed message, so that the same ID cannot come back with another one.
    let messageDigest: Digest
    let receipt: Receipt
    let at: Instant
    /// What was carried out, as decoded from the message; empty when refused.
    let members: [String: String]

    init(
        actionID: ID<Action>, messageDigest: Digest, receipt: Receipt, at: Instant,
        members: [String: String]
    ) {
        self.actionID = actionID
        self.messageDigest = messageDigest
        self.receipt = receipt
        self.at = at
        self.members = members
    }

    /// The answer to the order and to every later question about it.
    var answer: JSON {
        .object([.init("action_id", .string(actionID.text))] + receiptMembers)
    }

    /// What the journal keeps; the initialiser reads it back.
    var json: JSON {
        let content = members.sorted { $0.key < $1.key }
            .map { JSON.Member($0.key, .string($0.value)) }
        return .object(
            [
                .init("action_id", .string(actionID.text)),
                .init("message_sha256", .string(messageDigest.hex)),
                .init("at", .string(at.text)), .init("carried_out", .object(content)),
            ] + receiptMembers)
    }

    init?(_ json: JSON) {
        guard let actionID = json["action_id"]?.text.flatMap({ ID<Action>($0) }),
            let digest = json["message_sha256"]?.text.flatMap({ Hex.decode($0) })
                .flatMap(Digest.init),
            let at = json["at"]?.text.flatMap(Instant.init(text:)),
            case .object(let content) = json["carried_out"],
            let receipt = Receipt(json.encoded, actionID: actionID)
        else { return nil }
        var members: [String: String] = [:]
        for member in content {
            guard let text = member.value.text else { return nil }
            members[member.name] = text
        }
        self.init(
            actionID: actionID, messageDigest: digest, receipt: receipt, at: at, members: members)
    }

    private var receiptMembers: [JSON.Member] {
        switch receipt {
        case .executed(let reference):
            [.init("status", "executed"), .init("reference", .string(reference))]
        case .refused(let reason):
            [.init("status", "refused"), .init("reason", .string(reason))]
        }
    }
}
