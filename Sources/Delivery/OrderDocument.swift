package import Countersign
import Crypto

/// The JSON bodies that core banking receives. Source: `docs/api.md` §9.
package enum OrderDocument {
    /// The body of an execution order.
    ///
    /// - Parameters:
    ///   - order: What to carry out.
    ///   - promise: Promises the record of its approval.
    /// - Returns: `nil` when what was signed does not approve this action of this customer: such an order
    ///   must not be sent.
    package static func encode(_ order: ExecutionOrder, promise: PromiseMaker) -> Bytes? {
        json(order, promise: promise)?.encoded
    }

    /// As above, not encoded yet.
    static func json(_ order: ExecutionOrder, promise: PromiseMaker) -> JSON? {
        guard let content = content(of: order) else { return nil }
        let copy = ReadableCopy(content)
        return JSON.object(
            [
                .init("action_id", .string(order.actionID.text)),
                .init("kind", .string(copy.kind.rawValue)),
                .init(copy.kind.rawValue, copy.content),
                .init("customer_id", .string(order.customerID.text)),
                .init("approved_at", .string(order.approvedAt.text)),
                .init("evidence_id", .string(order.evidenceID.text)),
                .init("leaf_hash", .string(order.leafHash.hex)),
                .init("promise", .optional(promise(order.evidenceID, order.leafHash))),
            ] + proof(of: order))
    }

    /// What was approved, decoded from what was signed.
    private static func content(of order: ExecutionOrder) -> ActionContent? {
        switch order.approval {
        case .customer:
            guard let message = SignedMessage(decoding: order.message),
                message.decision == .approve, message.actionID == order.actionID,
                message.customerID == order.customerID
            else { return nil }
            return message.content
        case .assisted:
            guard let document = SignedJSON.decode(order.message),
                let approval = AssistedApproval(recorded: document),
                document.encoded == order.message,
                approval.request.action == order.actionID,
                approval.customerID == order.customerID
            else { return nil }
            return approval.content
        }
    }

    private static func proof(of order: ExecutionOrder) -> [JSON.Member] {
        let signed = JSON.string(Base64.encodeURL(order.message))
        switch order.approval {
        case .customer(let assertion):
            return [.init("message", signed), .init("assertion", assertion.json)]
        case .assisted(let act, let signatures):
            return [
                .init(
                    "approval",
                    [
                        "kind": "assisted", "act_id": .string(act.text), "document": signed,
                        "signatures": .array(signatures.map(\.json)),
                    ])
            ]
        }
    }

    /// The body that announces an enrolled key.
    package static func encode(_ announcement: CredentialAnnouncement) -> Bytes {
        json(announcement).encoded
    }

    /// As above, not encoded yet.
    static func json(_ announcement: CredentialAnnouncement) -> JSON {
        // A passkey's algorithm says how it signs.
        let format: [JSON.Member] =
            announcement.signatureFormat.map {
                [.init("signature_format", .string($0.rawValue))]
            } ?? []
        return JSON.object(
            [
                .init("credential_id", .string(announcement.credentialID.text)),
                .init("customer_id", .string(announcement.customerID.text)),
                .init("kind", .string(announcement.kind.rawValue)),
                .init("public_key", .string(Base64.encode(announcement.publicKeySPKI))),
            ] + format + [
                .init("enrolled_at", .string(announcement.enrolledAt.text)),
                .init("evidence_id", .string(announcement.evidenceID.text)),
            ])
    }
}
