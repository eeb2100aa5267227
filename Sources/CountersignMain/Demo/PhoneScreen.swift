import Countersign

/// What the bank's app shows before the customer signs: all of it decoded from the bytes to be signed.
///
/// Nothing that came beside the bytes is shown, so nothing beside them can mislead.
struct PhoneScreen: Sendable {
    /// One sentence.
    let text: String

    /// Reads the bytes; `nil` when they are no message that this app knows, and then it must not sign.
    init?(_ message: Bytes) {
        guard let message = SignedMessage(decoding: message) else { return nil }
        let verb =
            switch message.decision {
            case .approve: "Approve"
            case .reject: "Reject"
            }
        text = "\(verb): \(Self.describe(message.content))"
    }

    private static func describe(_ content: ActionContent) -> String {
        switch content {
        case .transfer(let transfer):
            let reference = transfer.reference.text
            return "pay \(transfer.amount.decimal) \(transfer.amount.currency.code)"
                + " to \(describe(transfer.payee))"
                + (reference.isEmpty ? "" : " for “\(reference)”")
        case .newPayee(let newPayee):
            return "add the payee \(describe(newPayee.payee))"
        case .contactChange(let change):
            return "change the \(change.newValue.channel) to \(change.newValue.text)"
        case .limitChange(let change):
            let name =
                switch change.limit {
                case .singleMax: "limit of one transfer"
                case .dailyMax: "limit of one day"
                }
            return "change the \(name) to \(change.amount.decimal) \(change.amount.currency.code)"
        }
    }

    private static func describe(_ payee: PayeeIdentity) -> String {
        "\(payee.name.text), \(payee.account.text)"
    }
}
