import Countersign
import Crypto
import Delivery
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Orders that core banking fetches` {
    private func pull(_ world: DecisionWorld) -> PullDelivery {
        PullDelivery(queue: world.queue, mayLease: true) { id, _ in "promise of \(id)" }
    }

    private func lease(
        _ world: DecisionWorld, limit: Int = 10, seconds: Int64 = 60
    ) async throws -> [(action: ID<Action>, lease: ID<Lease>)] {
        let work = try await pull(world).lease(limit: limit, for: Seconds(seconds))
        return try #require(work).orders.map { order in
            let action = try #require(
                order.document["action_id"]?.text.flatMap { ID<Action>($0) })
            return (action, order.lease)
        }
    }

    private func executed(
        _ leased: (action: ID<Action>, lease: ID<Lease>), _ reference: String = "B-1"
    ) throws -> SubmittedReceipt {
        SubmittedReceipt(
            action: leased.action, lease: leased.lease,
            receipt: .executed(reference: try ReceiptText(reference)),
            raw: Bytes(#"{ "status": "executed" }"#.utf8))
    }

    private func refused(
        _ leased: (action: ID<Action>, lease: ID<Lease>), _ reason: String = "closed"
    ) throws -> SubmittedReceipt {
        SubmittedReceipt(
            action: leased.action, lease: leased.lease,
            receipt: .refused(reason: try ReceiptText(reason)), raw: [1])
    }

    private func withOrder(
        _ body: (DecisionWorld, (action: ID<Action>, lease: ID<Lease>)) async throws -> Void
    ) async throws {
        try await DecisionWorld.with(connections: 8) { world in
            let customer = try await world.customer()
            try await world.approve(try Fixtures.transfer("10.00"), customer)
            try await body(world, try #require(try await lease(world).first))
        }
    }

    @Test func `are leased to one at a time, as they would be sent`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy(["{open_challenges_max}": "100"])
            let customer = try await world.customer()
            _ = try await inParallel(30) { _ in
                try await world.approve(try Fixtures.transfer("1.00"), customer)
            }
            let leased = try await inParallel(8) { _ in try await lease(world, limit: 5) }
            #expect(leased.joined().count == 30)
            #expect(Set(leased.joined().map(\.action)).count == 30)
            #expect(try await lease(world).isEmpty)
            // The worker that sends finds nothing either.
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).isEmpty)
        }
    }

    @Test func `are not for fetching where they are sent`() async throws {
        try await DecisionWorld.with(connections: 2) { world in
            let push = PullDelivery(queue: world.queue, mayLease: false) { _, _ in nil }
            let work = try await push.lease(limit: 1, for: Seconds(60))
            #expect(work == nil)
        }
    }

    @Test func `are settled once by a receipt that comes five times at once`() async throws {
        try await withOrder { world, leased in
            let receipt = try executed(leased)
            let outcomes = try await inParallel(5) { _ in try await pull(world).take(receipt) }
            let recorded = outcomes.compactMap(\.recorded)
            #expect(recorded.count == 5 && Set(recorded).count == 1)
            #expect(recorded.first?.receipt == receipt.receipt)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'order.executed'") == 1)
            #expect(try await world.bank.action(leased.action)?.execution == .executed)
            #expect(
                try await world.text("SELECT convert_from(raw, 'UTF8') FROM countersign.receipt")
                    == #"{ "status": "executed" }"#)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `keep their first receipt, and another one is evidence, once`() async throws {
        try await withOrder { world, leased in
            #expect(try await pull(world).take(executed(leased)).recorded != nil)
            for other in [try refused(leased), try executed(leased, "B-2")] {
                for outcome in try await inParallel(4, { _ in try await pull(world).take(other) }) {
                    guard case .contradicts(let recorded) = outcome else {
                        Issue.record("\(outcome)")
                        return
                    }
                    #expect(recorded.receipt.reference == "B-1")
                }
            }
            let contradicted =
                "SELECT count(*) FROM countersign.evidence WHERE kind = 'order.contradicted'"
            #expect(try await world.count(contradicted) == 2)
            for number in 0..<12 { _ = try await pull(world).take(refused(leased, "\(number)")) }
            #expect(try await world.count(contradicted) == 10)
            #expect(try await world.bank.action(leased.action)?.execution == .executed)
            #expect(
                try await world.text("SELECT status FROM countersign.receipt") == "executed")
            // The first one is still answered as before.
            #expect(try await pull(world).take(executed(leased)).recorded != nil)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `take either of two contradicting receipts at once, and one alone`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            for number in 1...8 {
                try await world.approve(try Fixtures.transfer("1.0\(number)"), customer)
            }
            _ = try await atOnce(try await lease(world)) { leased in
                async let yes = pull(world).take(executed(leased))
                async let no = pull(world).take(refused(leased))
                let outcomes = try await [yes, no]
                #expect(outcomes.compactMap(\.recorded).count == 1)
            }
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.receipt r JOIN countersign.action a
                        ON a.id = r.action_id AND a.execution = r.status
                    """) == 8)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'order.contradicted'")
                    == 8)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `take no receipt under an older lease, or without one`() async throws {
        try await withOrder { world, leased in
            try await world.test.sql(
                """
                UPDATE countersign.execution_order
                   SET lease_until = clock_timestamp() - interval '1 second'
                """)
            let again = try #require(try await lease(world).first)
            #expect(again.action == leased.action && again.lease != leased.lease)
            guard case .leaseLost = try await pull(world).take(executed(leased)) else {
                Issue.record("an old lease was good")
                return
            }
            #expect(try await world.bank.action(leased.action)?.execution == .inProgress)
            #expect(try await pull(world).take(executed(again)).recorded != nil)
        }
    }

    @Test func `of an action that is not there, or not approved, there are none`() async throws {
        try await withOrder { world, leased in
            let pending = try await world.ask(
                try Fixtures.transfer("1.00"), TestCustomer("c-1001"))
            for action in [ID<Action>(rawValue: 9), pending.id] {
                guard
                    case .notFound = try await pull(world).take(
                        executed((action, leased.lease)))
                else {
                    Issue.record("there is an order of \(action)")
                    return
                }
            }
            #expect(try await world.count("SELECT count(*) FROM countersign.receipt") == 0)
        }
    }

    @Test func `are only asked about once they are unknown`() async throws {
        try await withOrder { world, leased in
            try await world.test.sql(
                "UPDATE countersign.execution_order SET lease_until = clock_timestamp()")
            let claim = try await world.queue.claim(limit: 1, lease: Seconds(60))[0]
            _ = try await world.queue.settle(
                claim, .unknown(askAfter: Seconds(0), cause: .timeout))
            let work = try #require(
                try await pull(world).lease(limit: 9, for: Seconds(60)))
            #expect(work.orders.map(\.isQuestion) == [true])
            let question = (leased.action, try #require(work.orders.first).lease)
            #expect(try await pull(world).take(executed(question)).recorded != nil)
            #expect(try await world.bank.action(leased.action)?.execution == .executed)
        }
    }

    @Test func `come beside the new keys that signed them`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            try await world.importPayee(customer)
            _ = try await world.approve(
                try await world.create(customer, try world.transfer("1.00")), phone)
            let pull = PullDelivery(
                queue: PostgresDeliveryQueue(database: world.database, sealer: world.sealer),
                mayLease: true
            ) { id, _ in "promise of \(id)" }
            let work = try #require(try await pull.lease(limit: 9, for: Seconds(60)))
            #expect(work.orders.count == 1 && work.credentials.count == 1)
            let order = try #require(work.orders.first).document
            let id = try #require(order["evidence_id"]?.text)
            #expect(order["promise"] == .string("promise of \(id)"))
            let key = try #require(work.credentials.first)
            #expect(key.document["credential_id"] == .string(phone.credential.text))
            #expect(try await !pull.note(credential: phone.credential, lease: ID(rawValue: 1)))
            #expect(try await pull.note(credential: phone.credential, lease: key.lease))
            #expect(try await !pull.note(credential: phone.credential, lease: key.lease))
        }
    }
}

extension ReceiptOutcome {
    fileprivate var recorded: RecordedReceipt? {
        if case .recorded(let recorded) = self { recorded } else { nil }
    }
}
