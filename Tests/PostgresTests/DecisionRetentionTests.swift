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

    /// A shadow that ended some days ago, with verdicts on decisions of other days.
    private func endedShadow(
        _ days: Int, verdicts: [Int], _ world: ShadowWorld
    ) async throws -> ID<Shadow> {
        let id = ID<Shadow>(rawValue: UInt128(days))
        try await world.bank.test.runScript(
            """
            INSERT INTO countersign.policy_shadow (id, label, document, started_by, started_at, until,
                   evidence_id, done_until)
            SELECT '\(id)', 'old', '', '\(world.anna)', t - interval '30 days', t, gen_random_uuid(), t
              FROM (SELECT clock_timestamp() - interval '\(days) days') x (t);
            INSERT INTO countersign.shadow_verdict (shadow_id, evidence_id, action_id, kind,
                   decided_at, before_outcome, after_outcome, after_rule)
            SELECT '\(id)', gen_random_uuid(), gen_random_uuid(), 'transfer',
                   clock_timestamp() - make_interval(days => d), 'allowed', 'refused', 'single_max'
              FROM unnest(ARRAY\(verdicts)) d
            """)
        return id
    }

    private func report(_ id: ID<Shadow>, _ world: ShadowWorld) async throws -> JSON {
        try #require(try await world.shadows.report(of: id)).report.json
    }

    @Test func `is forgotten when it is as old as is configured`() async throws {
        try await ShadowWorld.with { world in
            try await world.pay("20.00")
            for days in [29, 39, 41, 50, 60] { try await old(days, world) }
            let housekeeping = world.bank.housekeeping
            try await housekeeping.forgetDecisions(keptFor: 400)
            #expect(try await decisions(world) == 6)
            try await housekeeping.forgetDecisions(keptFor: 40)
            #expect(try await decisions(world) == 3)
            // Evidence keeps it.
            #expect(try await world.bank.evidenceFaults() == [])
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'action.approved'") == 1
            )
        }
    }

    @Test func `is forgotten of a shadow as a whole, by its end`() async throws {
        try await ShadowWorld.with { world in
            let young = try await endedShadow(35, verdicts: [36, 45, 60], world)
            let aged = try await endedShadow(45, verdicts: [46, 50, 60], world)
            for id in [young, aged] {
                let found = try await report(id, world)
                #expect(found["complete"] == .bool(true) && found["decided"] == .integer(3))
            }
            // It tells nothing any more from the first deleted verdict on.
            for left in [5, 4, 3, 3] {
                try await world.bank.test.sql("SELECT countersign.forget_policy_decisions(40, 1)")
                #expect(
                    try await world.bank.count("SELECT count(*) FROM countersign.shadow_verdict")
                        == left)
                let forgotten = try await report(aged, world)
                #expect(forgotten["complete"] == .bool(false))
                #expect(forgotten["decided"] == .integer(0))
                #expect(forgotten["changes"] == .array([]))
            }
            let whole = try await report(young, world)
            #expect(whole["complete"] == .bool(true) && whole["decided"] == .integer(3))
            guard case .array(let changes)? = whole["changes"] else { return }
            #expect(changes.count == 3)
        }
    }

    @Test func `is kept of a shadow that has not decided everything`() async throws {
        try await ShadowWorld.with { world in
            let id = try await endedShadow(45, verdicts: [46], world)
            try await world.bank.test.runScript(
                """
                ALTER TABLE countersign.policy_shadow DISABLE TRIGGER guard;
                UPDATE countersign.policy_shadow SET done_until = until - interval '1 day';
                ALTER TABLE countersign.policy_shadow ENABLE ALWAYS TRIGGER guard
                """)
            try await world.bank.housekeeping.forgetDecisions(keptFor: 40)
            #expect(try await report(id, world)["decided"] == .integer(1))
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
            try await world.bank.housekeeping.forgetDecisions(keptFor: 30)
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
            try await world.bank.housekeeping.forgetDecisions(keptFor: 30)
            #expect(try await decisions(world) == 3)
        }
    }
}
