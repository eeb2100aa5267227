package import Countersign

/// The action in the words of the API, made from the signed message and from nothing else.
///
/// It is a convenience for people. Core banking executes what it decodes from the message itself.
package struct ReadableCopy: Sendable {
    /// `transfer`, `new_payee` or `contact_change`; also the name of the member that holds ``content``.
    package let kind: String
    package let content: JSON

    /// Decodes the message of an order.
    ///
    /// - Returns: `nil` when the bytes are not a complete canonical message of a known kind, do not
    ///   approve, or name another action or customer than the order.
    package init?(_ message: Bytes, actionID: ID<Action>, customerID: String) {
        guard let members = CanonicalJSON.decode(message),
            members["version"] == "countersign/1", members["decision"] == "approve",
            members["action_id"] == actionID.text, members["customer_id"] == customerID,
            let kind = members["kind"], let own = Self.members[kind],
            Set(members.keys) == Self.commonMembers.union(own)
        else { return nil }
        let content: JSON? =
            switch kind {
            case "transfer": Self.transfer(members)
            case "new_payee": Self.newPayee(members)
            default: Self.contactChange(members)
            }
        guard let content else { return nil }
        self.kind = kind
        self.content = content
    }

    private static let commonMembers: Set = [
        "action_id", "audience", "challenge_id", "customer_id", "decision", "expires_at", "kind",
        "nonce", "version",
    ]
    private static let members: [String: Set<String>] = [
        "transfer": [
            "amount", "currency", "debtor_account", "payee_name", "payee_account", "reference",
            "end_to_end_id",
        ],
        "new_payee": ["payee_name", "payee_account", "payee_alias"],
        "contact_change": ["channel", "old_value_digest", "new_value"],
    ]

    private static func transfer(_ members: [String: String]) -> JSON? {
        guard let debtor = account(members["debtor_account"]), let payee = payee(members) else {
            return nil
        }
        return [
            "amount": .optional(members["amount"]), "currency": .optional(members["currency"]),
            "debtor_account": debtor, "payee": payee,
            "reference": filled(members["reference"]),
            "end_to_end_id": filled(members["end_to_end_id"]),
        ]
    }

    private static func newPayee(_ members: [String: String]) -> JSON? {
        payee(members).map { ["payee": $0, "alias": filled(members["payee_alias"])] }
    }

    private static func contactChange(_ members: [String: String]) -> JSON? {
        [
            "channel": .optional(members["channel"]),
            "old_value_digest": filled(members["old_value_digest"]),
            "new_value": .optional(members["new_value"]),
        ]
    }

    private static func payee(_ members: [String: String]) -> JSON? {
        account(members["payee_account"]).map {
            ["name": .optional(members["payee_name"]), "account": $0]
        }
    }

    /// `iban:<IBAN>` or `<scheme>:<value>`, split at the first colon.
    private static func account(_ text: String?) -> JSON? {
        guard let text, let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = String(text[..<colon])
        let value = String(text[text.index(after: colon)...])
        guard !scheme.isEmpty, !value.isEmpty else { return nil }
        return scheme == "iban"
            ? ["iban": .string(value)] : ["scheme": .string(scheme), "value": .string(value)]
    }

    /// A signed message says `""` where the API says `null`.
    private static func filled(_ text: String?) -> JSON {
        text == "" ? .null : .optional(text)
    }
}
