package import Countersign

/// The JSON bodies that core banking receives. Source: api-contract.md, "Execution order (push)".
package enum OrderDocument {
    /// The body of an execution order.
    ///
    /// - Returns: `nil` when the message does not approve this action of this customer: such an order
    ///   must not be sent.
    package static func encode(_ order: ExecutionOrder) -> Bytes? {
        guard let message = SignedMessage(decoding: order.message),
            message.decision == .approve, message.actionID == order.actionID,
            message.customerID == order.customerID
        else { return nil }
        let copy = ReadableCopy(message.content)
        return JSON.object([
            .init("action_id", .string(order.actionID.text)),
            .init("kind", .string(copy.kind.rawValue)),
            .init(copy.kind.rawValue, copy.content),
            .init("customer_id", .string(order.customerID.text)),
            .init("approved_at", .string(order.approvedAt.text)),
            .init("evidence_id", .string(order.evidenceID.text)),
            .init("leaf_hash", .string(order.leafHash.hex)),
            .init("message", .string(Base64.encodeURL(order.message))),
            .init("assertion", assertion(order.assertion)),
        ]).encoded
    }

    /// The body that announces an enrolled key.
    package static func encode(_ announcement: CredentialAnnouncement) -> Bytes {
        JSON.object([
            .init("credential_id", .string(announcement.credentialID.text)),
            .init("customer_id", .string(announcement.customerID.text)),
            .init("kind", .string(announcement.kind.rawValue)),
            .init("public_key", .string(Base64.encode(announcement.publicKeySPKI))),
            .init("enrolled_at", .string(announcement.enrolledAt.text)),
            .init("evidence_id", .string(announcement.evidenceID.text)),
        ]).encoded
    }

    /// A device key's members are in standard base64, as devices produce them; a passkey's in base64url.
    private static func assertion(_ assertion: RecordedAssertion) -> JSON {
        let kind: CredentialKind
        let proof: [JSON.Member]
        switch assertion.proof {
        case .deviceKey(let signature):
            kind = .deviceKey
            proof = [.init("signature", .string(Base64.encode(signature)))]
        case .passkey(let signature, let clientDataJSON, let authenticatorData):
            kind = .passkey
            proof = [
                .init("signature", .string(Base64.encodeURL(signature))),
                .init("client_data_json", .string(Base64.encodeURL(clientDataJSON))),
                .init("authenticator_data", .string(Base64.encodeURL(authenticatorData))),
            ]
        }
        return .object(
            [
                .init("credential_id", .string(assertion.credentialID.text)),
                .init("kind", .string(kind.rawValue)),
                .init("public_key", .string(Base64.encode(assertion.publicKeySPKI))),
            ] + proof)
    }
}
