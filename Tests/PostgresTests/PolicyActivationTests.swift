import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// A version of the policy that comes into force while customers approve.
@Suite struct `A policy that comes into force` {
    /// Approves transfers one after another until it is refused for a while.
    private func approve(
        _ world: DecisionWorld, _ customer: TestCustomer, until end: ContinuousClock.Instant
    ) async throws -> (approved: Int, refused: Int) {
        var (approved, refused) = (0, 0)
        while ContinuousClock.now < end {
            let outcome = try await world.approve(try Fixtures.transfer("60.00"), customer)
            switch outcome {
            case .decided: approved += 1
            case .refused(.policy(.limitExceeded)): refused += 1
            case .refused(let refusal): throw Unexpected("\(refusal)")
            }
        }
        return (approved, refused)
    }

    @Test func `decides every approval from that moment, under any number of connections`()
        async throws
    {
        try await DecisionWorld.with { world in
            var customers: [TestCustomer] = []
            for number in 0..<4 { customers.append(try await world.customer("c-\(number)")) }
            // Published as people publish: visible before it is in force.
            try await world.test.sql(
                """
                INSERT INTO countersign.policy (version, time_zone, active_from, document)
                SELECT version + 1, time_zone, clock_timestamp() + interval '1500 milliseconds',
                       convert_to(jsonb_set(convert_from(document, 'UTF8')::jsonb,
                           '{currencies,EUR,single_max}', '"50.00"')::text, 'UTF8')
                  FROM countersign.policy ORDER BY version DESC LIMIT 1
                """)
            let end = ContinuousClock.now + .milliseconds(3000)
            let all = customers
            let counts = try await inParallel(8) { number in
                try await approve(world, all[number % 4], until: end)
            }
            #expect(counts.reduce(0) { $0 + $1.approved } > 0)
            #expect(counts.reduce(0) { $0 + $1.refused } > 0)
            // Whoever decided at or after its time decided under it, and it allows none of these.
            let late = """
                SELECT count(*) FROM countersign.decision d
                  JOIN countersign.policy p ON p.version = 2 AND d.decided_at >= p.active_from
                 WHERE d.outcome = 'approved'
                """
            #expect(try await world.count(late) == 0)
            // And what was refused was refused by it: the version before would have allowed it.
            let early = """
                SELECT count(*) FROM countersign.evidence e JOIN countersign.policy p
                    ON p.version = 1
                   AND convert_from(e.leaf, 'UTF8')::jsonb ->> 'policy' = encode(p.digest, 'hex')
                 WHERE e.kind = 'action.refused'
                """
            #expect(try await world.count(early) == 0)
            #expect(try await world.evidenceFaults() == [])
        }
    }
}
