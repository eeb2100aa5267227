import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Payees that are removed` {
    private static let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")

    private func remove(
        _ payee: ID<Payee>, of customer: TestCustomer, in world: DecisionWorld
    ) async throws -> Bool {
        let customers = Customers(
            store: world.customerStore, identityToken: nil, rule: .needsAuthorization)
        return try await customers.removePayee(
            RemovePayeeCommand(client: world.client, customerID: customer.id, payee: payee))
    }

    /// The customer's payee with the friend's account.
    private func standing(
        _ world: DecisionWorld, _ customer: TestCustomer
    ) async throws -> PayeeStanding {
        let account = try Account(iban: Self.friend.iban)
        return try #require(
            try await world.bank.payees(of: customer.id, segment: "retail").first {
                $0.identity.account.text == account.text
            })
    }

    /// A bank where a confirmed payee soon has all its times behind it.
    private func withPayee(
        _ body: (DecisionWorld, TestCustomer, ID<Payee>) async throws -> Void
    ) async throws {
        try await DecisionWorld.with(connections: 8) { world in
            let customer = try await world.customer()
            try await world.approve(try Fixtures.newPayee(payee: Self.friend), customer)
            try await body(world, customer, try await standing(world, customer).id)
        }
    }

    /// As if it had been confirmed long ago, and paid what may be paid while it is new.
    private func settle(_ payee: ID<Payee>, _ world: DecisionWorld) async throws {
        try await world.test.sql(
            """
            UPDATE countersign.payee SET confirmed_at = clock_timestamp() - interval '90 days',
                   usable_at = clock_timestamp() - interval '89 days',
                   new_until = clock_timestamp() - interval '86 days',
                   first_executed_at = clock_timestamp() - interval '88 days'
             WHERE id = '\(payee.text)'
            """)
        try await world.test.sql(
            """
            INSERT INTO countersign.counter (subject_id, dimension, window_start, used, cap)
            SELECT subject_id, 'new_payee:\(payee.text):EUR', '1970-01-01', 500000, 500000
              FROM countersign.payee WHERE id = '\(payee.text)'
            """)
    }

    @Test func `are payees no more, with evidence, and only of their customer`() async throws {
        try await withPayee { world, customer, payee in
            let other = try await world.customer("c-2")
            #expect(try await !remove(payee, of: other, in: world))
            #expect(try await !remove(ID(rawValue: 9), of: customer, in: world))
            let version = "SELECT version FROM countersign.customer WHERE customer_id = 'c-1001'"
            let before = try await world.count(version)
            #expect(try await remove(payee, of: customer, in: world))
            #expect(try await world.count(version) == before + 1)
            let outcome = try await world.approve(
                try Fixtures.transfer("1.00", payee: Self.friend), customer)
            #expect(outcome.refusal == .policy(.payeeUnknown))
            // And again says the same and does nothing.
            #expect(try await remove(payee, of: customer, in: world))
            #expect(try await world.count(version) == before + 1)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'payee.removed'") == 1)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    /// Another spelling of the IBAN and another name make no other payee.
    @Test(arguments: [
        "NL91ABNA0417164300", "nl91 abna 0417 1643 00", "NL91 ABNA 0417 1643 00",
    ])
    func `confirmed again begin anew: hold, limits and what was paid while new`(
        iban: String
    ) async throws {
        try await withPayee { world, customer, payee in
            try await settle(payee, world)
            #expect(try await standing(world, customer).state == .established)
            #expect(try await remove(payee, of: customer, in: world))
            try await world.approve(
                try Fixtures.newPayee(payee: (name: "A. Byron", iban: iban)), customer)
            let again = try await standing(world, customer)
            #expect(again.state == .coolingOff && again.identity.name.text == "A. Byron")
            #expect(again.usableAt > (try await world.now()) + Seconds(86_000))
            #expect(again.newUntil > again.usableAt)
            // It is another one, so that what the old one got while it was new is not held against it.
            #expect(again.id != payee)
            let left = again.allowance.left.first { $0.limit == .newPayeeSumMax }
            #expect(left?.amount.decimal == "5000.00")
            #expect(try await world.bank.payees(of: customer.id, segment: "retail").count == 2)
            let transfer = try await world.approve(
                try Fixtures.transfer("1.00", payee: Self.friend), customer)
            guard case .decided(let decision, _) = transfer else {
                Issue.record("not approved: \(transfer)")
                return
            }
            #expect(decision.action.hold?.rule == .payeeCoolingOff)
            // The first-transfer limit holds again too.
            let large = try await world.approve(
                try Fixtures.transfer("1000.01", payee: Self.friend), customer)
            guard case .policy(.limitExceeded(.firstTransferMax, _, _)) = large.refusal else {
                Issue.record("not refused: \(large)")
                return
            }
            #expect(try await world.evidenceFaults() == [])
        }
    }

    /// Approves a transfer to the friend that is due at once, and claims its order.
    private func claimed(_ world: DecisionWorld, _ customer: TestCustomer) async throws -> Claim {
        let asked = try await world.ask(
            try Fixtures.transfer("1.00", payee: Self.friend), customer)
        #expect(try await world.bank.decide(world.command(.approve, asked, customer)).isDecided)
        let claims = try await world.queue.claim(limit: 10, lease: Seconds(60))
        return try #require(
            claims.first { claim in
                if case .order(let order) = claim.item { order.actionID == asked.id } else { false }
            })
    }

    /// Core banking may be slow: its answer comes when the payee has begun anew.
    @Test func `confirmed again are not proved by a transfer of before`() async throws {
        try await withPayee { world, customer, payee in
            try await settle(payee, world)
            let early = try await claimed(world, customer)
            #expect(try await remove(payee, of: customer, in: world))
            try await world.approve(try Fixtures.newPayee(payee: Self.friend), customer)
            let again = try await standing(world, customer).id.text
            let proved = """
                SELECT count(*) FROM countersign.payee
                 WHERE id = '\(again)' AND first_executed_at IS NOT NULL
                """
            let receipt = DeliveryOutcome.executed(reference: "B-1", raw: Bytes("{}".utf8))
            #expect(try await world.queue.settle(early, receipt))
            #expect(try await world.count(proved) == 0)
            // A transfer of its new life proves it.
            try await world.test.sql(
                "UPDATE countersign.payee SET usable_at = confirmed_at WHERE id = '\(again)'")
            let late = try await claimed(world, customer)
            #expect(try await world.queue.settle(late, receipt))
            #expect(try await world.count(proved) == 1)
        }
    }

    @Test func `confirmed again without having been removed only change their name`()
        async throws
    {
        try await withPayee { world, customer, payee in
            try await settle(payee, world)
            let before = try await standing(world, customer)
            try await world.approve(
                try Fixtures.newPayee(
                    payee: (name: "A. Byron", iban: "nl91 abna 0417 1643 00"), alias: "Ada"),
                customer)
            let after = try await standing(world, customer)
            #expect(after.id == before.id && after.state == .established)
            #expect(after.usableAt == before.usableAt && after.newUntil == before.newUntil)
            #expect(after.identity.name.text == "A. Byron" && after.alias == "Ada")
        }
    }

    @Test func `get nothing that is still held for them`() async throws {
        try await withPayee { world, customer, payee in
            let asked = try await world.ask(
                try Fixtures.transfer("1.00", payee: Self.friend), customer)
            _ = try await world.bank.decide(world.command(.approve, asked, customer))
            #expect(try await remove(payee, of: customer, in: world))
            #expect(try await world.bank.action(asked.id)?.execution == .held)
            try await world.endHolds()
            #expect(try await world.housekeeping.settleDueActions() == 1)
            #expect(try await world.bank.action(asked.id)?.execution == .cancelled)
            #expect(try await world.usedAmounts() == 0)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `are not paid by an approval that decided before`() async throws {
        try await withPayee { world, customer, payee in
            let context = try #require(
                try await world.customerStore.loadForRemoval(of: payee, from: customer.id))
            try await world.approve(
                try Fixtures.transfer("1.00", payee: Self.friend), customer)
            let command = RemovePayeeCommand(
                client: world.client, customerID: customer.id, payee: payee)
            let removed = try await world.customerStore.remove(command, on: context)
            #expect(!removed)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'payee.removed'") == 0)
        }
    }

    @Test func `against approvals, nothing is approved after the removal`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{payee,cooling_off_s}": "0", "{open_challenges_max}": "100",
            ])
            var payees: [(TestCustomer, ID<Payee>)] = []
            for number in 1...4 {
                let customer = try await world.customer("c-\(number)")
                try await world.approve(try Fixtures.newPayee(payee: Self.friend), customer)
                payees.append((customer, try await standing(world, customer).id))
            }
            _ = try await atOnce(payees) { customer, payee in
                async let removed = remove(payee, of: customer, in: world)
                _ = try await inParallel(3) { _ in
                    try await world.approve(
                        try Fixtures.transfer("1.00", payee: Self.friend), customer)
                }
                #expect(try await removed)
            }
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.evidence r
                      JOIN countersign.evidence e ON e.subject_id = r.subject_id
                           AND e.recorded_at > r.recorded_at AND e.kind = 'action.approved'
                     WHERE r.kind = 'payee.removed'
                    """) == 0)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'payee.removed'") == 4)
            #expect(try await world.evidenceFaults() == [])
        }
    }
}

extension DecisionWorld {
    /// Where payees are removed and customers recovered.
    var customerStore: PostgresCustomerStore {
        PostgresCustomerStore(database: database, sealer: sealer)
    }

    /// The database's time.
    func now() async throws -> Instant {
        let rows = try await test.sql("SELECT clock_timestamp() AS now")
        guard let row = rows.first else { throw Unexpected("no time") }
        return try row["now"]
    }

    /// Lets the time of every hold be over.
    func endHolds() async throws { try await test.endHolds() }
}

extension TestDatabase {
    /// Lets every decision say of its hold what its action says, as if it had been made so.
    func decideHoldsAnew() async throws {
        try await tamper(
            with: "decision",
            "hold_until = a.hold_until FROM countersign.action a WHERE a.id = action_id")
    }

    /// Lets the time of every hold be over, which only a superuser without triggers can do.
    func endHolds() async throws {
        try await tamper(with: "action", "hold_until = clock_timestamp() WHERE execution = 'held'")
        try await decideHoldsAnew()
        try await sql(
            """
            UPDATE countersign.execution_order SET available_at = clock_timestamp()
             WHERE settled_at IS NULL
            """)
    }

    /// Changes rows as only a superuser without triggers can.
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - assignment: What follows SET.
    /// - Throws: What the database refuses.
    func tamper(with table: String, _ assignment: String) async throws {
        try await run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    ALTER TABLE countersign.\(table) DISABLE TRIGGER ALL;
                    UPDATE countersign.\(table) SET \(assignment);
                    ALTER TABLE countersign.\(table) ENABLE TRIGGER ALL
                    """)
        }
    }
}
