import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport

/// A bank whose customer has actions that wait, and whose officers may end that.
struct HoldWorld: Sendable {
    let bank: DecisionWorld
    let people: PeopleWorld
    let customer: TestCustomer
    let anna: HeldKey
    let bert: HeldKey

    static let reason = "the customer was called back on the number on file"

    static func with<Result>(
        _ body: (HoldWorld) async throws -> Result
    ) async throws -> Result {
        try await withDatabase { test in
            let bank = try await DecisionWorld(test, test.open(size: 16))
            try await bank.policy(["{signals}": #"{"new_device": {"hold_s": 3600}}"#])
            let people = try await PeopleWorld(
                test, bank.database, key: bank.keyEncryption)
            return try await body(
                HoldWorld(
                    bank: bank, people: people, customer: try await bank.customer(),
                    anna: try await people.person("anna", .officer),
                    bert: try await people.person("bert", .officer)))
        }
    }

    /// Stores and approves an action that waits, by default a transfer.
    func held(_ content: ActionContent? = nil) async throws -> ID<Action> {
        let asked = try await bank.ask(
            content ?? Fixtures.transfer("0.01"), customer, risk: ["signals": ["new_device"]])
        guard try await bank.bank.decide(bank.command(.approve, asked, customer)).isDecided,
            try await bank.bank.action(asked.id)?.execution == .held
        else { throw Unexpected("not held") }
        return asked.id
    }

    func execution(_ action: ID<Action>) async throws -> Execution? {
        try await bank.bank.action(action)?.execution
    }

    func document(_ action: ID<Action>) -> JSON {
        ["action_id": .string(action.text), "reason": .string(Self.reason)]
    }

    /// What comes of asking to propose.
    func refusal(_ kind: ActKind, _ action: ID<Action>) async throws -> ActRefusal? {
        try await people.acts.propose(
            ProposeActCommand(person: anna.person, kind: kind, document: document(action))
        ).refusal
    }

    /// An act that its proposer has signed.
    func proposed(_ kind: ActKind, _ action: ID<Action>) async throws -> ID<Act> {
        let (act, outcome) = try await people.propose(kind, document(action), by: anna)
        guard outcome.state == .open else { throw Unexpected("\(outcome)") }
        return act
    }

    /// Both officers sign; the outcome of the second.
    func end(_ kind: ActKind, _ action: ID<Action>) async throws -> ActOutcome {
        try await people.sign(try await proposed(kind, action), by: bert)
    }

    /// Every fault of form, chains, and people behind what needs them.
    func faults() async throws -> [String] {
        // Nobody has recorded the enrolment of these customers' keys.
        try await bank.evidenceFaults()
            + people.audit().faults.filter {
                !$0.hasPrefix("action.approved: ") && !$0.hasPrefix("action.refused: ")
            }
    }

    /// The same where a test has let holds be over before their time, which an audit finds.
    func faultsBesideHolds() async throws -> [String] {
        try await faults().filter { !$0.hasSuffix(EvidenceFault.hold.rawValue) }
    }
}
