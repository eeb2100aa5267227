import Countersign
import TestSupport
import Testing

/// What is stored and what was to be signed are compared before anything is believed (I1, TA-2.6).
@Suite struct `Tampering with what is stored` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    /// For each kind, contents that differ from the fixture in one member.
    private static func changed(_ kind: ActionKind) throws -> [ActionContent] {
        switch kind {
        case .transfer:
            try [
                Fixtures.transfer("120.01"), Fixtures.transfer("1200.00"),
                Fixtures.transfer(currency: "USD"), Fixtures.transfer(debtor: "BE68539007547034"),
                Fixtures.transfer(payee: ("Erika Muster", Fixtures.payeeIBAN)),
                Fixtures.transfer(payee: ("Erika Mustermann", "BE68539007547034")),
                Fixtures.transfer(reference: "Invoice 8"), Fixtures.transfer(reference: ""),
                Fixtures.transfer(endToEndID: ""), Fixtures.newPayee(),
            ]
        case .newPayee:
            try [
                Fixtures.newPayee(payee: ("Erika Muster", Fixtures.payeeIBAN)),
                Fixtures.newPayee(payee: ("Erika Mustermann", "BE68539007547034")),
                Fixtures.newPayee(alias: ""), Fixtures.contactChange(),
            ]
        case .contactChange:
            try [
                Fixtures.contactChange(channel: "email", newValue: "a@bank.example"),
                Fixtures.contactChange(newValue: "+4915187654322"),
                Fixtures.contactChange(oldValueDigest: nil),
                Fixtures.contactChange(oldValueDigest: Digest(Fixtures.bytes32(8))),
                Fixtures.transfer(),
            ]
        case .limitChange:
            try [
                Fixtures.limitChange("900.01"), Fixtures.limitChange(limit: .singleMax),
                Fixtures.limitChange(currency: "USD"), Fixtures.transfer(),
            ]
        }
    }

    private func expectTampering(
        _ asked: TestBank.Asked, _ what: String, _ change: @Sendable (inout MemoryWorld) -> Void
    ) async throws {
        let command = try bank.command(.approve, asked)
        bank.store.change(change)
        #expect(try await bank.decide(command).refusal == .authenticationFailed, "\(what)")
        let world = bank.store.now
        #expect(world.rulings.last?.isTampered == true, "\(what)")
        // Nobody failed to authenticate, and nothing may be decided by this challenge any more.
        #expect(world.failures == 0)
        #expect(world.challenges[asked.challenge.id]?.challenge.state == .void)
        #expect(world.decisions.isEmpty)
        #expect(try await bank.decide(command).refusal == .challengeConsumed)
    }

    @Test(arguments: ActionKind.allCases)
    func `is found in every column of an action`(kind: ActionKind) async throws {
        for content in try Self.changed(kind) {
            let asked = try bank.ask(try Fixtures.content(kind))
            let action = RecordedAction(
                id: asked.action.id, customerID: asked.action.customerID, content: content,
                externalID: nil, risk: .unsaid, policyVersion: 3, authorization: .pending,
                execution: .none,
                hold: nil, createdAt: asked.action.createdAt, expiresAt: asked.action.expiresAt)
            try await expectTampering(asked, "\(content)") {
                $0.actions[action.id]?.action = action
            }
        }
    }

    @Test func `is found in the customer of an action`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let action = RecordedAction(
            id: asked.action.id, customerID: try CustomerID("c-1002"),
            content: asked.action.content, externalID: nil, risk: .unsaid, policyVersion: 3,
            authorization: .pending, execution: .none, hold: nil,
            createdAt: asked.action.createdAt, expiresAt: asked.action.expiresAt)
        try await expectTampering(asked, "customer") { $0.actions[action.id]?.action = action }
    }

    @Test func `is found in columns that are no values`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        try await expectTampering(asked, "columns") {
            $0.actions[asked.action.id]?.isIntact = false
        }
    }

    /// The messages of a challenge replaced by others, or its columns by others than theirs.
    @Test func `is found in every column of a challenge`() async throws {
        struct Change {
            var id: ID<Challenge>?
            var action: ID<Action>?
            var decision = SignedDecision.reject
            var customer = "c-1001"
            var nonce: Bytes?
            var expiresAt: Instant?
            var content: ActionContent?
            var cut = 0
        }
        let changes = [
            Change(id: Fixtures.id(70)), Change(action: Fixtures.id(71)),
            Change(decision: .approve), Change(customer: "c-1002"),
            Change(nonce: Fixtures.bytes32(5)), Change(expiresAt: Fixtures.at + Seconds(299)),
            Change(content: try Fixtures.transfer("120.01")), Change(cut: 1),
        ]
        for change in changes {
            let asked = try bank.ask(try Fixtures.transfer())
            let old = asked.challenge
            let other = SignedMessage(
                actionID: change.action ?? asked.action.id, audience: Fixtures.audience,
                challengeID: change.id ?? old.id, customerID: try CustomerID(change.customer),
                decision: change.decision, expiresAt: change.expiresAt ?? old.expiresAt,
                nonce: change.nonce ?? old.nonce, content: change.content ?? asked.action.content)
            // The message that is *not* answered: both have to be right.
            let stored = Challenge(
                id: old.id, state: .live, failures: 0, nonce: old.nonce,
                approveMessage: old.approveMessage,
                rejectMessage: Bytes(other.bytes.dropLast(change.cut)),
                createdAt: old.createdAt, expiresAt: old.expiresAt)
            try await expectTampering(asked, "\(change)") {
                $0.challenges[old.id]?.challenge = stored
            }
        }
    }

    @Test func `is found in the nonce and the expiry beside the messages`() async throws {
        for (nonce, seconds) in [(Fixtures.bytes32(5), 0), (nil, 1)] as [(Bytes?, Int64)] {
            let asked = try bank.ask(try Fixtures.transfer())
            let old = asked.challenge
            let stored = Challenge(
                id: old.id, state: .live, failures: 0, nonce: nonce ?? old.nonce,
                approveMessage: old.approveMessage, rejectMessage: old.rejectMessage,
                createdAt: old.createdAt, expiresAt: old.expiresAt + Seconds(seconds))
            try await expectTampering(asked, "nonce or expiry") {
                $0.challenges[old.id]?.challenge = stored
            }
        }
    }

    @Test func `that is found only under lock is recorded too`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.tampered] }
        #expect(
            try await bank.decide(bank.command(.approve, asked)).refusal == .authenticationFailed)
        let rulings = bank.store.now.rulings
        #expect(rulings.count == 2)
        #expect(rulings.last?.isTampered == true)
    }
}
