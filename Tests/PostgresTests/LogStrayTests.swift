import Countersign
import Evidence
import Postgres
import TestSupport
import Testing

/// Records that a superuser puts in with triggers off, where the sequencer does not look.
@Suite struct `A record that was put in behind the sequencer's back` {
    /// This month and one long past, each with a transaction that the log has behind it and one that there never was.
    @Test(arguments: ["this month", "an older month"], ["3", "99999999999"])
    func `has no position, and is named`(month: String, transaction: String) async throws {
        try await withLog { world in
            let id = try await month == "this month" ? fresh(world) : old(world)
            try await insert(id, transaction, world)
            try await expectStrays([id], world)
            // It is not taken later, and the log goes on.
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(2)
            #expect(try await world.sequence(log) != nil)
            try await expectStrays([id], world)
            #expect(try await isDue(id, world) == false)
        }
    }

    @Test func `is told apart from those that are just being recorded`() async throws {
        try await withLog { world in
            let log = await world.instance()
            _ = try await log.lead()
            // Committed and in no batch yet, and one that was open while the last batch was read.
            try await world.whileOneIsOpen {
                try await world.record(3)
                try await world.sequence(log)
                try await world.record(2)
                try await expectStrays([], world)
            }
            #expect(
                try await world.count("SELECT count(*) FROM countersign.audit_unsequenced") == 3)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.audit_unsequenced WHERE is_due") == 3)
            try await expectStrays([], world)
            let id = try await fresh(world)
            try await insert(id, "3", world)
            try await expectStrays([id], world)
            try await world.sequence(log)
            try await expectStrays([id], world)
        }
    }

    @Test func `is named among many`() async throws {
        try await withLog { world in
            var ids: [String] = []
            for transaction in ["3", "4", "99999999999"] {
                let id = try await fresh(world)
                try await insert(id, transaction, world)
                ids.append(id)
            }
            try await expectStrays(ids.sorted(), world)
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            #expect(try await audit.strays(limit: 2).map(\.text) == Array(ids.sorted().prefix(2)))
        }
    }

    @Test func `does not count as waiting for its position`() async throws {
        try await withLog { world in
            let reader = PostgresLogReader(database: await world.test.open())
            try await insert(try await fresh(world), "3", world)
            #expect(try await reader.waiting() == 0)
        }
    }

    /// A log that has all there is.
    private func withLog(_ body: (LogWorld) async throws -> Void) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(5)
            try await world.sequence(log)
            try await log.giveUpLead()
            try await body(world)
        }
    }

    private func expectStrays(
        _ ids: [String], _ world: LogWorld, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await world.faults().filter { $0.hasPrefix("stray ") }
        #expect(found == ids.map { "stray \($0)" }, sourceLocation: sourceLocation)
    }

    private func isDue(_ id: String, _ world: LogWorld) async throws -> Bool? {
        let rows = try await world.test.sql(
            "SELECT is_due FROM countersign.audit_unsequenced WHERE id = '\(id)'")
        return try rows.first?["is_due"]
    }

    /// An ID of now.
    private func fresh(_ world: LogWorld) async throws -> String {
        let rows = try await world.test.sql(
            """
            SELECT overlay(overlay(gen_random_uuid()::text PLACING
                left(countersign.uuid7_floor(clock_timestamp())::text, 13) FROM 1 FOR 13)
                PLACING '7' FROM 15 FOR 1) AS id
            """)
        return try #require(rows.first)["id"]
    }

    /// An ID of a month of long ago, which still has its partition.
    private func old(_ world: LogWorld) async throws -> String {
        try await world.test.sql(
            """
            CREATE TABLE countersign.evidence_2019_01 PARTITION OF countersign.evidence
                FOR VALUES FROM ('016806b5-bc00-0000-0000-000000000000')
                TO ('0168a65a-e000-0000-0000-000000000000')
            """)
        return OldMonth.id(1)
    }

    /// A copy of a record under another ID and transaction.
    private func insert(_ id: String, _ transaction: String, _ world: LogWorld) async throws {
        try await world.test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    SET session_replication_role = replica;
                    ALTER TABLE countersign.evidence DISABLE TRIGGER ALL;
                    INSERT INTO countersign.evidence
                           (id, xid, kind, subject_id, leaf, body_commit, recorded_at)
                    SELECT '\(id)', '\(transaction)', e.kind, e.subject_id,
                           convert_to(replace(convert_from(e.leaf, 'UTF8'), e.id::text, '\(id)'), 'UTF8'),
                           e.body_commit, e.recorded_at
                      FROM countersign.evidence e JOIN countersign.log_leaf l ON l.evidence_id = e.id
                     WHERE l.position = 2;
                    ALTER TABLE countersign.evidence ENABLE TRIGGER ALL;
                    ALTER TABLE countersign.evidence ENABLE ALWAYS TRIGGER stamp,
                        ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate
                    """)
        }
    }
}
