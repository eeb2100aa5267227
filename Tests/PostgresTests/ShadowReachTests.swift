import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `A shadow while a transaction is long open` {
    @Test func `looks near its newest verdict, and at everything from time to time`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            func decided() async throws -> JSON? { try await world.report(shadow)["decided"] }
            try await world.pay("20.00")
            // So that what is decided now comes long after the newest.
            try await world.bank.test.sql(
                world.copyDecision("clock_timestamp() + interval '5 minutes', inputs"))
            let late = world.copyDecision("clock_timestamp(), inputs")
            try await world.holdingOpen("PERFORM pg_current_xact_id()") {
                try await world.evaluate()
                #expect(try await decided() == .integer(2))
                try await world.bank.test.sql(late)
                for _ in 0..<3 { try await world.evaluate(.recent) }
                #expect(try await decided() == .integer(2))
                try await world.evaluate(.whole)
                #expect(try await decided() == .integer(3))
                // What comes as it should is seen at every look.
                try await world.bank.test.sql(
                    world.copyDecision("clock_timestamp() + interval '5 minutes', inputs"))
                try await world.evaluate(.recent)
                #expect(try await decided() == .integer(4))
                try await world.bank.test.sql(late)
                try await world.evaluate(.recent)
                #expect(try await decided() == .integer(4))
            }
            // As soon as nothing is waited for, every look is a whole one.
            try await world.evaluate(.recent) { try await decided() == .integer(5) }
        }
    }

    @Test func `goes forward while another instance writes verdicts`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            let verdict = """
                INSERT INTO countersign.shadow_verdict (shadow_id, evidence_id, action_id, kind,
                       decided_at, before_outcome, after_outcome)
                SELECT '\(shadow.id)', evidence_id, action_id, 'transfer', decided_at, 'allowed', 'allowed'
                  FROM countersign.policy_decision
                """
            try await world.holdingOpen(verdict) {
                let done = try await world.bank.text("countersign.advance_shadow('\(shadow.id)')")
                #expect(done != nil)
            }
        }
    }

    /// A dump keeps the ID, and a new cluster counts from the beginning.
    @Test func `waits for no transaction of the cluster that it was restored from`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            try await world.evaluate()
            try await world.bank.test.sql(
                """
                UPDATE countersign.policy_shadow
                   SET next_until = clock_timestamp(), next_xid = '9000000000000000'
                """)
            try await world.hurry()
            let later = try await world.time()
            try await world.evaluate { try await world.doneUntil(shadow) > later }
            #expect(try await world.report(shadow)["decided"] == .integer(1))
        }
    }
}

@Suite struct `The report of a shadow` {
    @Test func `counts nothing that was decided after the end`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            try await Task.sleep(for: .milliseconds(20))
            let (person, at) = try #require(try await world.store.asker(world.anna))
            // Decided and evaluated while the end is on its way to the database.
            try await Task.sleep(for: .milliseconds(20))
            try await world.pay("30.00", "10.00")
            try await world.evaluate()
            #expect(try await world.report(shadow)["decided"] == .integer(3))
            #expect(try await world.store.end(shadow, by: person, at: at))
            let found = try await world.report(shadow)
            #expect(found["decided"] == .integer(1) && found["changed"] == .integer(1))
            guard case .array(let changes)? = found["changes"] else {
                Issue.record("no changes")
                return
            }
            #expect(changes.count == 1)
            #expect(found["outcomes"]?["allowed"]?["before"] == .integer(1))
        }
    }

    @Test func `takes no verdict on what was decided after the end`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            _ = try #require(try await world.shadows.end(shadow.id, by: world.anna))
            try await world.pay("20.00")
            let id = try await world.bank.text(
                "SELECT evidence_id FROM countersign.policy_decision")
            let late = ShadowVerdict(
                RecordedVerdict(
                    evidence: try #require(id.flatMap(ID<Evidence>.init)), action: ID(rawValue: 1),
                    outcome: .allowed, content: nil, state: []),
                under: nil)
            let queue = PostgresShadowQueue(database: world.bank.database)
            #expect(try await queue.record([late], of: shadow.id).isEmpty)
            #expect(
                try await world.bank.count("SELECT count(*) FROM countersign.shadow_verdict") == 0)
        }
    }
}

extension ShadowWorld {
    /// How many kinds of verdicts have another count than there are.
    static let miscounted = """
        SELECT count(*) FROM (
            (SELECT shadow_id, currency, band_minor, before_outcome, before_rule, after_outcome,
                    after_rule, count(*) AS times
               FROM countersign.shadow_verdict GROUP BY 1, 2, 3, 4, 5, 6, 7)
            EXCEPT SELECT * FROM countersign.shadow_count) missing
        """
}
