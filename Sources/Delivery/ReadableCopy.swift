package import Countersign

/// The action in the words of the API, made from the signed message and from nothing else.
///
/// It is a convenience for people. Core banking executes what it decodes from the message itself.
package struct ReadableCopy: Sendable {
    package let kind: ActionKind
    /// The object that the API shows under the name of the kind; what the customer left out is `null`.
    package let content: JSON

    package init(_ content: ActionContent) {
        kind = content.kind
        self.content =
            switch content {
            case .transfer(let transfer): Self.json(transfer)
            case .newPayee(let newPayee):
                ["payee": newPayee.payee.json, "alias": Self.filled(newPayee.alias)]
            case .contactChange(let change):
                [
                    "channel": .string(change.newValue.channel),
                    "old_value_digest": .optional(change.oldValueDigest?.hex),
                    "new_value": .string(change.newValue.text),
                ]
            case .limitChange: content.json
            }
    }

    private static func json(_ transfer: Transfer) -> JSON {
        [
            "amount": .string(transfer.amount.decimal),
            "currency": .string(transfer.amount.currency.code),
            "debtor_account": transfer.debtorAccount.json,
            "payee": transfer.payee.json,
            "reference": filled(transfer.reference),
            "end_to_end_id": filled(transfer.endToEndID),
        ]
    }

    /// A signed message says `""` where the API says `null`.
    private static func filled(_ text: DisplayText) -> JSON {
        text.text.isEmpty ? .null : .string(text.text)
    }
}
