import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `What decisions looked at` {
    private func old(_ days: Int, _ world: ShadowWorld) async throws {
        try await world.bank.test.sql(
            world.copyDecision("clock_timestamp() - interval '\(days) days', inputs"))
    }

    private func decisions(_ world: ShadowWorld) async throws -> Int {
        try await world.bank.count("SELECT count(*) FROM countersign.policy_decision")
    }

    @Test func `is forgotten when it is as old as is configured, with its verdicts`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            try await world.evaluate()
            for days in [29, 39, 41, 50, 60] { try await old(days, world) }
            try await world.bank.test.runScript(
                """
                INSERT INTO countersign.shadow_verdict (shadow_id, evidence_id, action_id, kind, decided_at,
                       before_outcome, after_outcome)
                SELECT '\(shadow.id)', evidence_id, action_id, 'transfer', decided_at, 'allowed', 'allowed'
                  FROM countersign.policy_decision WHERE decided_at < clock_timestamp() - interval '1 day'
                """)
            let housekeeping = world.bank.housekeeping
            #expect(try await housekeeping.forgetDecisions(keptFor: 400) == 0)
            // Three decisions and their three verdicts.
            #expect(try await housekeeping.forgetDecisions(keptFor: 40) == 6)
            #expect(try await housekeeping.forgetDecisions(keptFor: 40) == 0)
            #expect(try await decisions(world) == 3)
            #expect(
                try await world.bank.count("SELECT count(*) FROM countersign.shadow_verdict") == 3)
            // Evidence keeps it.
            #expect(try await world.bank.evidenceFaults() == [])
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'action.approved'") == 1
            )
        }
    }

    @Test func `is forgotten batch by batch, the oldest first`() async throws {
        try await ShadowWorld.with { world in
            try await world.pay("20.00")
            for days in [41, 60, 50] { try await old(days, world) }
            try await world.bank.test.sql("SELECT countersign.forget_policy_decisions(40, 2)")
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.policy_decision
                     WHERE decided_at BETWEEN clock_timestamp() - interval '42 days'
                                          AND clock_timestamp() - interval '40 days'
                    """) == 1)
            #expect(try await decisions(world) == 2)
        }
    }

    @Test func `is kept for 30 days at least, whoever asks`() async throws {
        try await ShadowWorld.with { world in
            try await world.pay("20.00")
            try await old(29, world)
            let young = StoreFailure.internalFailure(code: "CS001")
            for days in [29, 0, -1] {
                await #expect(throws: young) {
                    try await world.bank.housekeeping.forgetDecisions(keptFor: days)
                }
            }
            for statement in [
                "DELETE FROM countersign.policy_decision", "TRUNCATE countersign.policy_decision",
                "UPDATE countersign.policy_decision SET outcome = 'x'",
            ] {
                await #expect(throws: young, "\(statement)") {
                    try await world.bank.test.sql(statement)
                }
            }
            #expect(try await world.bank.housekeeping.forgetDecisions(keptFor: 30) == 0)
            #expect(try await decisions(world) == 2)
        }
    }

    @Test func `waits for a shadow that has not decided it`() async throws {
        try await ShadowWorld.with { world in
            try await world.pay("20.00")
            for days in [36, 31, 33] { try await old(days, world) }
            try await world.bank.test.sql(
                """
                INSERT INTO countersign.policy_shadow (id, label, document, started_by, started_at, until,
                       evidence_id, done_until)
                SELECT gen_random_uuid(), 'late', '', '\(world.anna)', t, t + interval '30 days',
                       gen_random_uuid(), t FROM (SELECT clock_timestamp() - interval '35 days') x (t)
                """)
            #expect(try await world.bank.housekeeping.forgetDecisions(keptFor: 30) == 1)
            #expect(try await decisions(world) == 3)
        }
    }
}
