import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `What happens with time` {
    /// Moves times of stored rows.
    private func shift(_ world: DecisionWorld, _ table: String, _ assignment: String) async throws {
        try await world.test.tamper(with: table, assignment)
    }

    @Test func `an expired action is refused, and expiry is written once`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            try await shift(world, "action", "expires_at = clock_timestamp()")
            #expect(try await world.bank.action(asked.id)?.authorization == .expired)
            let command = try world.command(.approve, asked, customer)
            #expect(try await world.bank.decide(command).refusal == .actionExpired)
            _ = try await inParallel(8) { _ in try await world.housekeeping.settleDueActions() }
            #expect(
                try await world.text("SELECT \"authorization\" FROM countersign.action")
                    == "expired")
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'action.expired'") == 1)
        }
    }

    @Test func `damaged rows, however many have waited longer, stop no other from being settled`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(["{signals}": #"{"new_device": {"hold_s": 60}}"#])
            var last: ID<Action>?
            for _ in 0...Housekeeping.batchMax {
                let asked = try await world.ask(
                    Fixtures.transfer("1.00"), customer, risk: ["signals": ["new_device"]])
                _ = try await world.bank.decide(world.command(.approve, asked, customer))
                last = asked.id
            }
            let action = try #require(last)
            try await shift(
                world, "action",
                """
                hold_until = clock_timestamp() - CASE WHEN id = '\(action.text)'
                        THEN interval '0' ELSE interval '1 minute' END,
                    hold_rule = CASE WHEN id = '\(action.text)' THEN hold_rule ELSE 'nonsense' END
                """)
            try await world.test.decideHoldsAnew()
            await #expect(throws: StoreFailure.self) {
                try await world.housekeeping.settleDueActions()
            }
            #expect(try await world.bank.action(action)?.execution == .ready)
        }
    }

    @Test func `a hold ends in its time, and only then is there something to deliver`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            try await world.approve(try Fixtures.newPayee(payee: friend), customer)
            let outcome = try await world.approve(
                try Fixtures.transfer("1.00", payee: friend), customer)
            guard case .decided(let decision, _) = outcome else {
                Issue.record("not approved: \(outcome)")
                return
            }
            #expect(decision.action.execution == .held)
            #expect(decision.action.hold?.rule == .payeeCoolingOff)
            // The payee itself is delivered, the held transfer is not.
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).count == 1)
            #expect(try await world.housekeeping.settleDueActions() == 0)
            try await shift(
                world, "action", "hold_until = clock_timestamp() WHERE execution = 'held'")
            try await world.test.decideHoldsAnew()
            try await world.test.sql("UPDATE countersign.payee SET usable_at = clock_timestamp()")
            try await world.test.sql(
                "UPDATE countersign.execution_order SET available_at = clock_timestamp()")
            // Due by its time, but not released yet.
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).count == 0)
            _ = try await inParallel(8) { _ in try await world.housekeeping.settleDueActions() }
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).count == 1)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'action.released'") == 1
            )
            let faults = try await world.evidenceFaults()
            #expect(faults == [])
        }
    }

    /// Confirmed anew, a payee cools off anew: what was held for the old one must not go before that.
    @Test(arguments: [false, true])
    func `a held transfer is cancelled at its release when its payee is gone`(
        isConfirmedAnew: Bool
    ) async throws {
        try await DecisionWorld.with(connections: 4) { world in
            try await world.policy(["{new_credential_cooling_off_s,new_payee}": "259200"])
            let customer = try await world.customer()
            try await world.test.sql(
                "UPDATE countersign.credential SET created_at = clock_timestamp()")
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            let asked = try await world.ask(try Fixtures.newPayee(payee: friend), customer)
            _ = try await world.bank.decide(world.command(.approve, asked, customer))
            let transfer = try await world.ask(
                try Fixtures.transfer("1.00", payee: friend), customer)
            _ = try await world.bank.decide(world.command(.approve, transfer, customer))
            _ = try await world.bank.cancel(asked.id, reason: "the customer called")
            if isConfirmedAnew {
                try await world.policy(["{new_credential_cooling_off_s,new_payee}": "0"])
                try await world.approve(try Fixtures.newPayee(payee: friend), customer)
                _ = try await world.queue.claim(limit: 9, lease: Seconds(60))
            }
            try await shift(
                world, "action", "hold_until = clock_timestamp() WHERE execution = 'held'")
            try await world.test.decideHoldsAnew()
            #expect(try await world.housekeeping.settleDueActions() == 1)
            #expect(try await world.bank.action(transfer.id)?.execution == .cancelled)
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).count == 0)
            #expect(try await world.usedAmounts() == 0)
            let faults = try await world.evidenceFaults()
            #expect(faults == [])
        }
    }

    @Test func `a hold that was shortened behind the service's back releases nothing`() async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(["{signals}": #"{"new_device": {"hold_s": 60}}"#])
            let asked = try await world.ask(
                Fixtures.transfer("1.00"), customer, risk: ["signals": ["new_device"]])
            _ = try await world.bank.decide(world.command(.approve, asked, customer))
            try await shift(world, "action", "hold_until = clock_timestamp()")
            try await world.test.sql(
                "UPDATE countersign.execution_order SET available_at = clock_timestamp()")
            await #expect(throws: StoreFailure.internalFailure(code: "CS003")) {
                try await world.housekeeping.settleDueActions()
            }
            #expect(try await world.bank.action(asked.id)?.execution == .held)
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).isEmpty)
        }
    }

    @Test func `a customer whose key is gone stops nobody else's actions`() async throws {
        try await DecisionWorld.with(connections: 4) { world in
            for name in ["c-1", "c-2", "c-3"] {
                _ = try await world.ask(try Fixtures.transfer(), world.customer(name))
            }
            // Nothing that the service does takes a key away, and the database lets nobody.
            try await world.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.subject_key DISABLE TRIGGER no_change;
                        UPDATE countersign.subject_key SET wrapped = NULL WHERE subject_id =
                            (SELECT subject_id FROM countersign.customer WHERE customer_id = 'c-1')
                        """)
            }
            try await shift(world, "action", "expires_at = clock_timestamp()")
            await #expect(throws: StoreFailure.self) {
                try await world.housekeeping.settleDueActions()
            }
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.action WHERE \"authorization\" = 'expired'")
                    == 2)
        }
    }

    @Test func `evidence is found from the beginning of time`() async throws {
        try await DecisionWorld.with(connections: 2) { world in
            _ = try await world.customer()
            let evidence = PostgresEvidenceStore(
                database: world.database, keyEncryption: world.keyEncryption,
                service: ServiceSubject(
                    database: world.database, sealer: world.sealer,
                    keyEncryption: world.keyEncryption, entropy: .openSSL))
            for text in ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z"] {
                func query(from: Instant?, to: Instant?) -> EvidenceQuery {
                    EvidenceQuery(
                        actionID: nil, customerID: nil, credentialID: nil, kind: nil, from: from,
                        to: to, limit: 9, after: nil)
                }
                let early = Instant(text: text)
                let since = try await evidence.stored(query(from: early, to: nil)).found
                #expect(since.count == 1)
                let before = try await evidence.stored(query(from: nil, to: early)).found
                #expect(before.isEmpty)
            }
        }
    }

    @Test func `a payee stays new until its period is over and one transfer was executed`()
        async throws
    {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{payee,cooling_off_s}": "0", "{payee,new_period_s}": "0",
                "{currencies,EUR,first_transfer_max}": "\"50.00\"",
            ])
            let customer = try await world.customer()
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            let large = try Fixtures.transfer("60.00", payee: friend)
            try await world.approve(try Fixtures.newPayee(payee: friend), customer)
            guard
                case .policy(.limitExceeded(.firstTransferMax, _, _)) = try await world.approve(
                    large, customer
                ).refusal
            else {
                Issue.record("the first-transfer limit did not hold")
                return
            }
            try await world.approve(try Fixtures.transfer("40.00", payee: friend), customer)
            for claim in try await world.queue.claim(limit: 9, lease: Seconds(60)) {
                #expect(
                    try await world.queue.settle(
                        claim, .executed(reference: "B", raw: Bytes("{}".utf8))))
            }
            #expect(try await world.approve(large, customer).isDecided)
            let standing = try await world.bank.payees(of: customer.id, segment: "retail")
            #expect(standing.map(\.state) == [.established, .established])
        }
    }

    @Test func `approve against the sweeper at expiry has one outcome`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            for _ in 0..<20 {
                let asked = try await world.ask(try Fixtures.transfer("1.00"), customer)
                let command = try world.command(.approve, asked, customer)
                try await shift(
                    world, "action",
                    """
                    expires_at = clock_timestamp() + interval '5 milliseconds'
                     WHERE "authorization" = 'pending'
                    """)
                async let decision = world.bank.decide(command)
                async let swept = inParallel(4) { _ in
                    try await world.housekeeping.settleDueActions()
                }
                _ = try await (decision, swept)
                _ = try await world.housekeeping.settleDueActions()
            }
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.action a
                      LEFT JOIN countersign.decision d ON d.action_id = a.id
                     WHERE (a."authorization" = 'expired') = (d.action_id IS NOT NULL)
                    """) == 0)
        }
    }
}
