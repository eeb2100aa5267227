import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Attempts under concurrency` {
    @Test func `after the fifth failure even the right signature finds the customer locked`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            // Two actions, so that neither the challenge nor the action is what stops it.
            let first = try await world.ask(try Fixtures.transfer("1.00"), customer)
            let second = try await world.ask(try Fixtures.transfer("2.00"), customer)
            let outcomes = try await inParallel(40) { index in
                try await world.bank.decide(
                    world.wrongCommand(index % 2 == 0 ? first : second, customer))
            }
            let counted = outcomes.count { $0.refusal == .authenticationFailed }
            #expect(counted == 5)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'attempt.failed'") == 5)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'customer.locked'") == 1
            )
            let third = try await world.ask(try Fixtures.transfer("3.00"), customer)
            let outcome = try await world.bank.decide(world.command(.approve, third, customer))
            guard case .customerLocked = outcome.refusal else {
                Issue.record("the customer is not locked: \(outcome)")
                return
            }
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `three failures kill the challenge and five the action`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy(["{attempts,per_customer}": "5"])
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            let wrong = try world.wrongCommand(asked, customer)
            let outcomes = try await inParallel(10) { _ in try await world.bank.decide(wrong) }
            #expect(outcomes.count { $0.refusal == .authenticationFailed } == 3)
            #expect(outcomes.count { $0.refusal == .attemptsExhausted } == 7)
            #expect(
                try await world.bank.decide(world.command(.approve, asked, customer)).refusal
                    == .attemptsExhausted)
        }
    }

    @Test func `a success takes the customer's failures back to zero`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            for _ in 0..<4 {
                let asked = try await world.ask(try Fixtures.transfer("1.00"), customer)
                for _ in 0..<2 {
                    _ = try await world.bank.decide(world.wrongCommand(asked, customer))
                }
                #expect(
                    try await world.bank.decide(world.command(.approve, asked, customer)).isDecided)
            }
        }
    }

    @Test func `attempts at a challenge that is not live do not count`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            _ = try await world.bank.issueChallenge(for: asked.id)
            for _ in 0..<10 {
                let outcome = try await world.bank.decide(world.wrongCommand(asked, customer))
                #expect(outcome.refusal == .challengeSuperseded)
            }
            #expect(try await world.count("SELECT sum(failures) FROM countersign.customer") == 0)
        }
    }

    @Test func `unsigned reject and cancel work while the customer is locked`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let first = try await world.ask(try Fixtures.transfer("1.00"), customer)
            let second = try await world.ask(try Fixtures.transfer("2.00"), customer)
            try await world.test.sql(
                """
                UPDATE countersign.customer SET locked_until = clock_timestamp() + interval '1 hour'
                """)
            let rejection = try await world.bank.decide(
                DecideCommand(action: first.id, decision: .reject, proof: .unsigned(.notMe)))
            #expect(rejection.isDecided)
            guard case .cancelled = try await world.bank.cancel(second.id, reason: "stop") else {
                Issue.record("a locked customer's action was not cancelled")
                return
            }
        }
    }
}
