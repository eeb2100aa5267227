import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Deciding at once` {
    @Test func `64 identical approvals make one decision and get one answer`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            let command = try world.command(.approve, asked, customer)
            let outcomes = try await inParallel(64) { _ in try await world.bank.decide(command) }
            var answers: Set<Bytes> = []
            var fresh = 0
            for case .decided(let decision, let replayed) in outcomes {
                answers.insert(decision.json { "promise of \($0) \($1.hex)" }.encoded)
                if !replayed { fresh += 1 }
            }
            #expect(outcomes.filter(\.isDecided).count == 64)
            #expect(answers.count == 1)
            #expect(fresh == 1)
            #expect(try await world.count("SELECT count(*) FROM countersign.decision") == 1)
            #expect(try await world.count("SELECT count(*) FROM countersign.execution_order") == 1)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'action.approved'") == 1
            )
            let faults = try await world.evidenceFaults()
            #expect(faults == [])
        }
    }

    @Test func `approve and reject at once leave exactly one of them`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            for _ in 0..<30 {
                let asked = try await world.ask(try Fixtures.transfer("1.00"), customer)
                let approve = try world.command(.approve, asked, customer)
                let reject = try world.command(.reject, asked, customer)
                let outcomes = try await inParallel(8) { index in
                    try await world.bank.decide(index % 2 == 0 ? approve : reject)
                }
                var decided: Set<Authorization> = []
                for case .decided(let decision, _) in outcomes { decided.insert(decision.outcome) }
                #expect(decided.count == 1)
            }
            #expect(try await world.count("SELECT count(*) FROM countersign.decision") == 30)
        }
    }

    @Test func `approve against cancel 1,000 times never leaves both`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy(["{currencies,EUR,daily_max}": "\"1000000.00\""])
            let customers = try await inParallel(8) { try await world.customer("c-\($0)") }
            _ = try await inParallel(8) { number in
                for _ in 0..<125 {
                    let customer = customers[number]
                    let asked = try await world.ask(try Fixtures.transfer("1.00"), customer)
                    let command = try world.command(.approve, asked, customer)
                    async let approval = world.bank.decide(command)
                    async let cancellation = world.bank.cancel(asked.id, reason: "customer called")
                    _ = try await (approval, cancellation)
                }
            }
            #expect(try await world.count("SELECT count(*) FROM countersign.action") == 1000)
            // Cancelled before the decision, or decided and then cancelled before any delivery.
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.action a
                      LEFT JOIN countersign.decision d ON d.action_id = a.id
                     WHERE (a."authorization" = 'cancelled') = (d.action_id IS NOT NULL)
                    """) == 0)
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.execution_order o
                      JOIN countersign.action a ON a.id = o.action_id
                     WHERE (a.execution = 'cancelled') <> (o.settled_at IS NOT NULL)
                    """) == 0)
            // What was cancelled no longer counts, what was not still does.
            #expect(
                try await world.count(
                    """
                    SELECT (SELECT coalesce(sum(used), 0) FROM countersign.counter)
                         - (SELECT coalesce(sum(amount_minor), 0) FROM countersign.action
                             WHERE "authorization" = 'approved' AND execution <> 'cancelled')
                    """) == 0)
            let faults = try await world.evidenceFaults()
            #expect(faults == [])
        }
    }

    @Test func `claim against cancel never leaves both`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy(["{open_challenges_max}": "100"])
            let customer = try await world.customer()
            let ids = try await inParallel(60) { _ in
                let asked = try await world.ask(try Fixtures.transfer("1.00"), customer)
                let command = try world.command(.approve, asked, customer)
                _ = try await world.bank.decide(command)
                return asked.id
            }
            async let claimed = inParallel(20) { _ in
                try await world.queue.claim(limit: 5, lease: Seconds(60)).compactMap { claim in
                    if case .order(let order) = claim.item { order.actionID } else { nil }
                }
            }
            async let cancelled = inParallel(60) { index in
                if case .cancelled = try await world.bank.cancel(ids[index], reason: "stop") {
                    return ids[index]
                }
                return ID<Action>(rawValue: 0)
            }
            let taken = Set(try await claimed.flatMap { $0 })
            let stopped = Set(try await cancelled).subtracting([ID(rawValue: 0)])
            #expect(taken.isDisjoint(with: stopped))
            #expect(taken.count + stopped.count == 60)
        }
    }

    @Test func `32 creations with one key make one action and get one answer`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let asked = try await inParallel(32) { _ in
                try await world.ask(try Fixtures.transfer(), customer, key: "k-1")
            }
            #expect(Set(asked.map(\.id)).count == 1)
            #expect(try await world.count("SELECT count(*) FROM countersign.action") == 1)
        }
    }

    @Test func `one external ID makes one action, whoever's it is`() async throws {
        try await DecisionWorld.with { world in
            let content = try Fixtures.transfer()
            for round in 0..<10 {
                let outcomes = try await inParallel(16) { index in
                    try await world.bank.create(
                        CreateActionCommand(
                            client: world.client, customerID: CustomerID("c-\(index)"),
                            content: content, externalID: ExternalID("x-\(round)"), risk: nil,
                            idempotencyKey: "\(round)-\(index)"))
                }
                let created = outcomes.filter { if case .created = $0 { true } else { false } }
                #expect(created.count == 1)
            }
        }
    }
}
