import Countersign
import HTTP
import Postgres

/// Two lists of executed actions in the order of their IDs, compared as they come: of neither more than a page is
/// in memory.
struct Reconciliation {
    /// One line of core banking's list.
    struct Booking: Equatable {
        let action: ID<Action>
        let isExecuted: Bool
        let evidence: String?
        let reference: String?
        /// Both or none.
        let amount: String?
        let currency: String?

        /// Reads `{"action_id", "status", "evidence_id"?, "reference"?, "amount"? and "currency"?}`; further
        /// members are core banking's own.
        ///
        /// `nil` also for a member of another type, which would compare with nothing, and for any other word of
        /// `status`, by which a booking could be passed over.
        init?(_ line: Bytes) {
            let json: JSON
            do throws(MalformedJSON) { json = try StrictJSON.parse(line) } catch { return nil }
            let texts = ["evidence_id", "reference", "amount", "currency"].map { json[$0] ?? .null }
            guard let action = json["action_id"]?.text.flatMap({ ID<Action>($0) }),
                let status = json["status"]?.text.flatMap(Status.init),
                texts.allSatisfy({ $0 == .null || $0.text != nil }),
                (texts[2] == .null) == (texts[3] == .null)
            else { return nil }
            self.action = action
            isExecuted = status == .executed
            evidence = texts[0].text
            reference = texts[1].text
            amount = texts[2].text
            currency = texts[3].text
        }

        /// Core banking's own words, as in its receipts.
        private enum Status: String { case executed, refused }
    }

    /// What is not the same on both sides.
    enum Difference: Equatable {
        /// Core banking has said that it executed this, and its list has it not.
        case onlyHere(ID<Action>)
        /// Its list has it, and no receipt of it came here: nobody approved it, or the receipt is lost.
        case onlyThere(ID<Action>)
        case different(ID<Action>, [String])

        /// As it is printed. Nothing personal is.
        var line: String {
            switch self {
            case .onlyHere(let action): "only here   \(action)"
            case .onlyThere(let action): "only there  \(action)"
            case .different(let action, let members):
                "different   \(action)  \(members.joined(separator: ", "))"
            }
        }
    }

    /// How many actions were executed here, and are the same in both.
    private(set) var executed = 0
    private(set) var same = 0

    /// Compares the next of each list; takes from the one that is behind.
    ///
    /// - Parameters:
    ///   - here: Our next action, `nil` after the last.
    ///   - there: Core banking's next line, `nil` after the last.
    /// - Returns: What to say, and from which lists the next one is to be taken.
    mutating func compare(
        _ here: ExecutedAction?, _ there: Booking?
    ) -> (difference: Difference?, takesHere: Bool, takesThere: Bool) {
        // IDs in the order of their bytes, as the database and `sort` have them.
        if let here, there.map({ here.action.rawValue < $0.action.rawValue }) ?? true {
            executed += 1
            return (.onlyHere(here.action), true, false)
        }
        guard let there else { return (nil, false, false) }
        guard let here, here.action == there.action else {
            // What was not executed on either side is the same on both.
            return (there.isExecuted ? .onlyThere(there.action) : nil, false, true)
        }
        executed += 1
        let members = Self.differences(here, there)
        if members.isEmpty { same += 1 }
        return (members.isEmpty ? nil : .different(here.action, members), true, true)
    }

    private static func differences(_ here: ExecutedAction, _ there: Booking) -> [String] {
        var members: [String] = []
        if !there.isExecuted { members.append("status") }
        if there.evidence != here.evidence.text { members.append("evidence_id") }
        // Of a customer who was erased nothing else is known here.
        guard !here.isErased else { return members }
        if there.reference != here.reference { members.append("reference") }
        if let amount = there.amount {
            if amount != here.amount { members.append("amount") }
            if there.currency != here.currency { members.append("currency") }
        }
        return members
    }
}
