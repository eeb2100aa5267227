import Countersign
import Evidence
import Postgres
import TestSupport
import Testing

/// The time between the end of a hold that comes to a cancellation and the writing of it.
@Suite struct `Payees whose confirmation was held and nobody answered` {
    private static let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
    private static let signals =
        #"{"new_device": {"hold_s": 3600, "at_hold_end": "cancel"}, "sim_change": {"hold_s": 3600}}"#

    /// A payee that is held because of a signal, and a transfer that waits for it.
    private func held(
        _ signal: String, _ customer: TestCustomer, _ world: DecisionWorld
    ) async throws -> (payee: ID<Action>, transfer: ID<Action>) {
        let payee = try await world.ask(
            Fixtures.newPayee(payee: Self.friend), customer,
            risk: ["signals": [.string(signal)]])
        #expect(try await world.bank.decide(world.command(.approve, payee, customer)).isDecided)
        let transfer = try await world.ask(
            Fixtures.transfer("1.00", payee: Self.friend), customer)
        #expect(try await world.bank.decide(world.command(.approve, transfer, customer)).isDecided)
        return (payee.id, transfer.id)
    }

    /// Lets everything be over that was held, the payee's cooling-off with it.
    private func endHolds(_ world: DecisionWorld) async throws {
        try await world.endHolds()
        try await world.test.sql("UPDATE countersign.payee SET usable_at = clock_timestamp()")
    }

    private func rules(_ changes: [String: String] = [:]) -> [String: String] {
        changes.merging([
            "{signals}": Self.signals, "{payee,cooling_off_s}": "0",
        ]) { mine, _ in mine }
    }

    @Test(arguments: ["new_device", "sim_change"])
    func `a transfer that is due together with its payee is released only when that is`(
        signal: String
    ) async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(rules())
            let held = try await held(signal, customer, world)
            try await endHolds(world)
            // The transfer first, as no order of the two may matter.
            try await world.test.tamper(
                with: "action",
                "hold_until = hold_until - interval '1 hour' WHERE id = '\(held.transfer.text)'")
            try await world.test.decideHoldsAnew()
            while try await world.housekeeping.settleDueActions() > 0 {}
            let end: Execution = signal == "new_device" ? .cancelled : .ready
            #expect(try await world.bank.action(held.payee)?.execution == end)
            #expect(try await world.bank.action(held.transfer)?.execution == end)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `nothing goes to it before its end is written, and it is not listed`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(rules())
            _ = try await held("new_device", customer, world)
            try await endHolds(world)
            let outcome = try await world.approve(
                Fixtures.transfer("1.00", payee: Self.friend), customer)
            #expect(outcome.refusal == .policy(.payeeUnknown))
            // The customer's old payee is.
            #expect(
                try await world.bank.payees(of: customer.id, segment: PolicyRules.defaultSegment)
                    .count == 1)
        }
    }

    @Test func `a transfer that is due before its payee waits for it`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(rules())
            let held = try await held("sim_change", customer, world)
            try await endHolds(world)
            #expect(try await world.count(Self.releasable(held.transfer)) == 0)
            #expect(try await world.housekeeping.settleDueActions() == 1)
            #expect(try await world.bank.action(held.payee)?.execution == .ready)
            #expect(try await world.bank.action(held.transfer)?.execution == .held)
            #expect(try await world.housekeeping.settleDueActions() == 1)
            #expect(try await world.bank.action(held.transfer)?.execution == .ready)
        }
    }

    /// What the function answers to a release of it, whoever asks: 1 for released.
    private static func releasable(_ action: ID<Action>) -> String {
        """
        SELECT (countersign.release_action(a.subject_id, c.version, a.id, a.seq, false, '[]')
                = 'released')::int FROM countersign.action a
          JOIN countersign.customer c USING (subject_id) WHERE a.id = '\(action.text)'
        """
    }

    @Test func `a hold is decided once, and not even its owner shortens it`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(rules())
            _ = try await held("new_device", customer, world)
            for change in [
                "hold_until = clock_timestamp()", "hold_end = 'release'", "hold_rule = 'risk_hold'",
                "payee_unknown = true", "limit_before = 1",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS003"), "\(change)") {
                    try await world.test.sql("UPDATE countersign.action SET \(change)")
                }
            }
        }
    }

    @Test func `confirmed again before its end is written, it is a payee in its own right`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(rules())
            let held = try await held("new_device", customer, world)
            try await endHolds(world)
            #expect(
                try await world.approve(Fixtures.newPayee(payee: Self.friend), customer).isDecided)
            while try await world.housekeeping.settleDueActions() > 0 {}
            #expect(try await world.bank.action(held.payee)?.execution == .cancelled)
            // Its confirmation came after the old transfer's hold began.
            #expect(
                try await world.approve(Fixtures.transfer("1.00", payee: Self.friend), customer)
                    .isDecided)
            #expect(try await world.evidenceFaults() == [])
        }
    }
}
