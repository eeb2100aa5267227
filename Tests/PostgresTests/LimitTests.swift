import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Limits under parallel approvals` {
    /// Asks for `count` transfers of 100.00 each and approves all of them at once.
    private func storm(
        _ count: Int, in world: DecisionWorld, by customer: TestCustomer,
        _ content: ActionContent
    ) async throws -> [DecisionOutcome] {
        let asked = try await inParallel(count) { _ in try await world.ask(content, customer) }
        return try await inParallel(count) { index in
            try await world.bank.decide(try world.command(.approve, asked[index], customer))
        }
    }

    @Test func `the daily maximum is filled and never passed`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{currencies,EUR,daily_max}": "\"1050.00\"", "{open_challenges_max}": "100",
            ])
            let customer = try await world.customer()
            let outcomes = try await storm(
                64, in: world, by: customer, try Fixtures.transfer("100.00"))
            #expect(outcomes.count(where: \.isDecided) == 10)
            let left = try Money(decimal: "50.00", currency: Currency("EUR"))
            for refusal in outcomes.compactMap(\.refusal) {
                guard case .policy(.limitExceeded(.dailyMax, let allowed, _)) = refusal else {
                    Issue.record("refused for another reason: \(refusal)")
                    continue
                }
                #expect(allowed == left)
            }
            #expect(
                try await world.count("SELECT sum(used) FROM countersign.counter") == 100_000)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'action.refused'")
                    == 54)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `the sum while a payee is new is filled and never passed`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{currencies,EUR,new_payee_sum_max}": "\"350.00\"",
                "{open_challenges_max}": "100", "{payee,cooling_off_s}": "0",
            ])
            let customer = try await world.customer()
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            #expect(
                try await world.approve(try Fixtures.newPayee(payee: friend), customer).isDecided)
            let outcomes = try await storm(
                64, in: world, by: customer, try Fixtures.transfer("100.00", payee: friend))
            #expect(outcomes.count(where: \.isDecided) == 3)
        }
    }

    @Test func `the first transfers together are filled to their limit and never passed`()
        async throws
    {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{currencies,EUR,first_transfer_max}": "\"250.00\"",
                "{open_challenges_max}": "100", "{payee,cooling_off_s}": "0",
            ])
            let customer = try await world.customer()
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            #expect(
                try await world.approve(try Fixtures.newPayee(payee: friend), customer).isDecided)
            let outcomes = try await storm(
                64, in: world, by: customer, try Fixtures.transfer("100.00", payee: friend))
            #expect(outcomes.count(where: \.isDecided) == 2)
        }
    }

    @Test func `as many payees as a day allows, of 64 that are confirmed at once`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{payee,new_per_day_max}": "5", "{open_challenges_max}": "100",
            ])
            let customer = try await world.customer()
            let accounts = try (0..<64).map { try TestIban.dutch($0) }
            let asked = try await inParallel(64) { index in
                try await world.ask(
                    try Fixtures.newPayee(payee: ("Ada Byron", accounts[index])), customer)
            }
            let outcomes = try await inParallel(64) { index in
                try await world.bank.decide(try world.command(.approve, asked[index], customer))
            }
            #expect(outcomes.count(where: \.isDecided) == 5)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.payee WHERE action_id IS NOT NULL") == 5)
        }
    }

    @Test func `what is cancelled is given back, once`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{currencies,EUR,daily_max}": "\"100.00\"", "{open_challenges_max}": "100",
            ])
            let customer = try await world.customer()
            let content = try Fixtures.transfer("100.00")
            let asked = try await world.ask(content, customer)
            #expect(
                try await world.bank.decide(world.command(.approve, asked, customer)).isDecided)
            #expect(try await world.approve(content, customer).isDecided == false)
            _ = try await inParallel(8) { _ in
                try await world.bank.cancel(asked.id, reason: "mistake")
            }
            #expect(try await world.approve(content, customer).isDecided)
            #expect(try await world.approve(content, customer).isDecided == false)
        }
    }

    @Test func `the database refuses more than a cap whatever the service says`() async throws {
        try await DecisionWorld.with { world in
            _ = try await world.customer()
            await #expect(throws: StoreFailure.internalFailure(code: "23514:counter_within_cap")) {
                try await world.test.sql(
                    """
                    INSERT INTO countersign.counter (subject_id, dimension, window_start, used, cap)
                    SELECT subject_id, 'day:EUR', '2026-01-01', 101, 100 FROM countersign.customer
                    """)
            }
        }
    }

    @Test func `a contact change holds every transfer that is approved after it`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy(["{open_challenges_max}": "100"])
            let customer = try await world.customer()
            let transfers = try await inParallel(24) { _ in
                try await world.ask(try Fixtures.transfer("1.00"), customer)
            }
            let change = try await world.ask(try Fixtures.contactChange(), customer)
            _ = try await inParallel(25) { index in
                let asked = index == 12 ? change : transfers[index > 12 ? index - 1 : index]
                return try await world.bank.decide(world.command(.approve, asked, customer))
            }
            // Under the customer's lock decisions come one after another; the chain of the
            // credential tells in which order.
            let misplaced = try await world.count(
                """
                WITH decided AS (
                    SELECT a.kind, d.hold_rule,
                           (convert_from(e.leaf, 'UTF8')::jsonb ->> 'cseq')::int AS place
                      FROM countersign.decision d
                      JOIN countersign.action a ON a.id = d.action_id
                      JOIN countersign.evidence e ON e.id = d.evidence_id)
                SELECT count(*) FROM decided t, decided c
                 WHERE t.kind = 'transfer' AND c.kind = 'contact_change'
                   AND (t.place > c.place)
                       <> (t.hold_rule IS NOT DISTINCT FROM 'contact_change_hold')
                """)
            #expect(misplaced == 0)
            #expect(try await world.count("SELECT count(*) FROM countersign.decision") == 25)
        }
    }

    @Test func `a bank may go back to an earlier policy`() async throws {
        try await DecisionWorld.with(connections: 2) { world in
            let customer = try await world.customer()
            #expect(try await world.approve(try Fixtures.transfer("1.00"), customer).isDecided)
            // The same bytes under a new number.
            try await world.policy([:])
            try await world.policy([:])
            for _ in 0..<2 {
                #expect(try await world.approve(try Fixtures.transfer("1.00"), customer).isDecided)
                try await world.policy([:])
            }
        }
    }
}

/// IBANs with right check digits, as many as a test needs.
private enum TestIban {
    static func dutch(_ number: Int) throws -> String {
        let account = "ABNA" + String(repeating: "0", count: 7) + String(100 + number)
        // ISO 13616: the remainder of the rearranged digits by 97, from 98.
        var remainder = 0
        for unit in (account + "NL00").utf8 {
            let value = unit < 0x41 ? Int(unit) - 0x30 : Int(unit) - 0x37
            remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97
        }
        let check = 98 - remainder
        return "NL" + (check < 10 ? "0" : "") + String(check) + account
    }
}
