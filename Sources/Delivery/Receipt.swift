package import Countersign
import Crypto

/// Core banking's answer to an order, when it decides.
package enum Receipt: Equatable, Sendable {
    case executed(reference: String)
    case refused(reason: String)

    /// Reads the body of a 2xx answer about an action.
    ///
    /// Further members are allowed. A body that names another action answers another question, and one
    /// that says the same member twice says two things.
    ///
    /// - Returns: `nil` when the body decides nothing; then nothing is known.
    package init?(_ body: Bytes, actionID: ID<Action>) {
        guard let answer = SignedJSON.decode(body) else { return nil }
        if let named = answer["action_id"], named != .string(actionID.text) { return nil }
        switch answer["status"]?.text {
        case "executed":
            guard let reference = Self.text(answer["reference"]) else { return nil }
            self = .executed(reference: reference)
        case "refused":
            guard let reason = Self.text(answer["reason"]) else { return nil }
            self = .refused(reason: reason)
        default: return nil
        }
    }

    private static func text(_ value: JSON?) -> String? {
        guard let text = value?.text else { return nil }
        do throws(InvalidValue) { return try ReceiptText(text).text } catch { return nil }
    }
}
