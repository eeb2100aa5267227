import Countersign
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Own limits whose raises come to nothing` {
    private static let raises = [
        "{limit_change}": #"{"delay_s": 1, "daily_max": {"EUR": "3000.00"}}"#,
        "{currencies,EUR,daily_max}": "\"1000.00\"",
        "{currencies,EUR,single_max}": "\"3000.00\"",
    ]

    /// Approves a raise and lets its delay end.
    private func raise(
        to amount: String, _ customer: TestCustomer, _ world: DecisionWorld
    ) async throws -> ID<Action> {
        let asked = try await world.ask(Fixtures.limitChange(amount), customer)
        #expect(try await world.bank.decide(world.command(.approve, asked, customer)).isDecided)
        try await world.settleHolds()
        #expect(try await world.bank.action(asked.id)?.execution == .ready)
        return asked.id
    }

    /// What may be sent on one day: the limit that refuses everything.
    private func limit(_ customer: TestCustomer, _ world: DecisionWorld) async throws -> String? {
        let refusal = try await world.approve(Fixtures.transfer("2999.99"), customer).refusal
        guard case .policy(.limitExceeded(.dailyMax, let allowed, _))? = refusal else { return nil }
        return allowed.decimal
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `two raises that fail leave what held before both, whichever fails first`(
        order: [Int]
    ) async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(Self.raises)
            let raises = [
                try await raise(to: "1500.00", customer, world),
                try await raise(to: "2000.00", customer, world),
            ]
            #expect(try await limit(customer, world) == "2000.00")
            _ = try await world.bank.cancel(raises[order[0]], reason: "mistake")
            #expect(
                try await limit(customer, world) == (order[0] == 0 ? "2000.00" : "1500.00"))
            _ = try await world.bank.cancel(raises[order[1]], reason: "mistake")
            #expect(try await limit(customer, world) == "1000.00")
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `what lowers a raise gives no more than the policy once that raise has failed`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(Self.raises)
            let raised = try await raise(to: "2000.00", customer, world)
            #expect(try await world.approve(Fixtures.limitChange("1500.00"), customer).isDecided)
            #expect(try await limit(customer, world) == "1500.00")
            _ = try await world.bank.cancel(raised, reason: "mistake")
            #expect(try await limit(customer, world) == "1000.00")
        }
    }

    @Test(arguments: [nil, "1950.00"])
    func `a transfer that waits does not go out on a raise that was taken back`(
        lowered: String?
    ) async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(
                Self.raises.merging(["{signals}": #"{"new_device": {"hold_s": 3600}}"#]) { $1 })
            let raised = try await raise(to: "2000.00", customer, world)
            let asked = try await world.ask(
                Fixtures.transfer("1900.00"), customer, risk: ["signals": ["new_device"]])
            #expect(
                try await world.bank.decide(world.command(.approve, asked, customer)).isDecided)
            if let lowered {
                #expect(
                    try await world.approve(Fixtures.limitChange(lowered), customer).isDecided)
            }
            _ = try await world.bank.cancel(raised, reason: "mistake")
            try await world.settleHolds()
            #expect(try await world.bank.action(asked.id)?.execution == .cancelled)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `a limit that was no raise is cut with the policy, and a raise is not`()
        async throws
    {
        try await DecisionWorld.with { world in
            let same = try await world.customer("c-1")
            let raised = try await world.customer("c-2")
            try await world.policy(Self.raises)
            #expect(try await world.approve(Fixtures.limitChange("1000.00"), same).isDecided)
            _ = try await raise(to: "1200.00", raised, world)
            try await world.policy(["{currencies,EUR,daily_max}": "\"700.00\""])
            #expect(try await limit(same, world) == "700.00")
            #expect(try await limit(raised, world) == "1200.00")
        }
    }

    @Test func `the history of a limit is not changed, not even by its owner`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            #expect(try await world.approve(Fixtures.limitChange("50.00"), customer).isDecided)
            for change in [
                "UPDATE countersign.customer_limit SET amount_minor = 99",
                "UPDATE countersign.customer_limit SET raised_by = action_id",
                "UPDATE countersign.customer_limit SET withdrawn_at = clock_timestamp()",
                "DELETE FROM countersign.customer_limit",
            ] {
                await #expect(throws: StoreFailure.self, "\(change)") {
                    try await world.test.sql(change)
                }
            }
        }
    }
}

extension DecisionWorld {
    /// Lets all holds have ended, and writes what follows.
    func settleHolds() async throws {
        try await endHolds()
        while try await housekeeping.settleDueActions() > 0 {}
    }
}
