import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// What a superuser does with triggers off, and where `evidence fsck` finds it.
@Suite struct `A log that somebody changed` {
    /// A log of 520 records in three batches, checked, changed and checked again.
    private func find(_ changes: [(table: String, sql: String, fault: String)]) async throws {
        try await LogWorld.withThreeBatches { world in
            #expect(try await world.faults() == [])
            for change in changes {
                let database = await world.test.open(as: nil, size: 1)
                let found = try await changed(world, database, change.table, change.sql)
                #expect(found == [change.fault], "\(change.sql)")
            }
            #expect(try await world.faults() == [])
        }
    }

    /// What is found while a change stands that is taken back afterwards.
    private func changed(
        _ world: LogWorld, _ database: Database, _ table: String, _ sql: String
    ) async throws -> [String] {
        func run(_ script: String) async throws {
            try await database.run { connection throws(PostgresError) in
                try connection.run(script: script)
            }
        }
        let copy = "backup_of_\(table)"
        try await run(
            """
            CREATE TABLE \(copy) AS SELECT * FROM countersign.\(table);
            SET session_replication_role = replica;
            ALTER TABLE countersign.\(table) DISABLE TRIGGER ALL;
            \(sql);
            ALTER TABLE countersign.\(table) ENABLE TRIGGER ALL
            """)
        let found = try await world.faults()
        let columns =
            table == "evidence"
            ? "id, xid, kind, action_id, subject_id, credential_id, leaf, body_commit, recorded_at"
            : "*"
        let into = table == "evidence" ? "(\(columns))" : ""
        try await run(
            """
            ALTER TABLE countersign.\(table) DISABLE TRIGGER ALL;
            DELETE FROM countersign.\(table);
            INSERT INTO countersign.\(table) \(into) SELECT \(columns) FROM \(copy);
            ALTER TABLE countersign.\(table) ENABLE TRIGGER ALL;
            DROP TABLE \(copy);
            SET session_replication_role = origin
            """)
        return found
    }

    private static func at(_ position: Int) -> String {
        "id = (SELECT evidence_id FROM countersign.log_leaf WHERE position = \(position))"
    }

    @Test func `is found at the position of a changed record, whichever column it is`() async throws
    {
        var changes = [
            "kind = 'act.proposed'", "action_id = gen_random_uuid()",
            "subject_id = gen_random_uuid()", "credential_id = gen_random_uuid()",
            "body_commit = sha256('x')", "recorded_at = recorded_at - interval '1 hour'",
            "leaf = leaf || '\\x20'",
        ].map {
            (
                "evidence", "UPDATE countersign.evidence SET \($0) WHERE \(Self.at(321))",
                "321: record"
            )
        }
        changes += [
            (
                "evidence", "UPDATE countersign.evidence SET xid = '3' WHERE \(Self.at(321))",
                "321: order"
            ),
            (
                "evidence", "DELETE FROM countersign.evidence WHERE \(Self.at(519))",
                "519: recordMissing"
            ),
            (
                "evidence", "DELETE FROM countersign.evidence WHERE \(Self.at(0))",
                "0: recordMissing"
            ),
        ]
        try await find(changes)
    }

    private typealias Tampering = (table: String, sql: String, fault: String)

    private static func set(_ table: String, _ assignment: String, _ fault: String) -> Tampering {
        (table, "UPDATE countersign.\(table) SET \(assignment)", fault)
    }

    private static func delete(_ table: String, _ rows: String, _ fault: String) -> Tampering {
        (table, "DELETE FROM countersign.\(table) WHERE \(rows)", fault)
    }

    @Test func `is found at the position of a changed row of leaves and tiles`() async throws {
        let twin = "(SELECT leaf_hash FROM countersign.log_leaf WHERE position = 7)"
        let insert = "INSERT INTO countersign"
        try await find([
            Self.set("log_leaf", "leaf_hash = \(twin) WHERE position = 40", "40: leafHash"),
            Self.delete("log_leaf", "position = 300", "300: gap"),
            Self.delete("log_leaf", "position = 519", "519: gap"),
            Self.set(
                "log_leaf", "evidence_id = gen_random_uuid() WHERE position = 9", "9: recordMissing"
            ),
            (
                "log_leaf", "\(insert).log_leaf VALUES (520, gen_random_uuid(), sha256('x'))",
                "520: beyond"
            ),
            Self.set(
                "log_tile",
                "hashes = overlay(hashes PLACING sha256('x') FROM 65) WHERE level = 0 AND index = 1",
                "258: tile"),
            Self.delete("log_tile", "index = 1", "256: tile"),
            (
                "log_tile",
                "\(insert).log_tile SELECT 3, 0, hashes FROM countersign.log_tile WHERE index = 0",
                "520: beyond"
            ),
        ])
    }

    @Test func `is found where a checkpoint or the state was changed`() async throws {
        let older = "(SELECT note FROM countersign.log_checkpoint WHERE size = 100)"
        let checkpoint = "log_checkpoint"
        try await find([
            Self.set(checkpoint, "root = sha256('x') WHERE size = 400", "399: root"),
            Self.set(checkpoint, "note = note || '\\x0a' WHERE size = 400", "399: note"),
            Self.set(checkpoint, "note = \(older) WHERE size = 400", "399: note"),
            Self.set(checkpoint, "snapshot = '1:1:' WHERE size = 400", "100: order"),
            Self.set(checkpoint, "size = 401 WHERE size = 400", "400: order"),
            Self.delete(checkpoint, "size = 520", "400: checkpoint"),
            Self.delete(checkpoint, "size = 400", "100: checkpoint"),
            Self.delete(checkpoint, "size = 100", "0: checkpoint"),
            Self.set(checkpoint, "link = sha256('x') WHERE size = 400", "399: link"),
            Self.set(checkpoint, "number = 9 WHERE size = 400", "100: checkpoint"),
            (
                checkpoint,
                """
                INSERT INTO countersign.log_checkpoint
                SELECT 450, root, snapshot, note, 9, link FROM countersign.log_checkpoint WHERE size = 400
                """, "400: checkpoint"
            ),
            Self.set("log_state", "size = 519, published = 100", "519: beyond"),
            Self.set("log_state", "size = 521", "520: gap"),
            Self.set("log_state", "root = sha256('x')", "519: edge"),
            Self.set("log_state", "snapshot = '1:1:'", "519: edge"),
            Self.set("log_state", "published = 7", "519: edge"),
            Self.set(
                "log_state", "edge[1] = overlay(edge[1] PLACING sha256('x') FROM 33)",
                "513: tile"),
        ])
    }

    @Test func `is found when a record was put in behind the sequencer's back`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(5)
            try await world.sequence(log)
            try await world.record(1)
            try await world.sequence(log)
            try await world.test.tamper(
                with: "evidence",
                "xid = '3' WHERE id = (SELECT evidence_id FROM countersign.log_leaf ORDER BY position DESC LIMIT 1)"
            )
            #expect(try await world.faults().first?.hasSuffix(": order") == true)
        }
    }

    @Test func `is found where a record and its position were changed together`() async throws {
        try await LogWorld.withThreeBatches { world in
            // In the tile that is not full yet, in one that became full later, and in the first batch.
            for position in [519, 321, 10] {
                try await world.test.tamper(
                    with: "evidence",
                    """
                    leaf = convert_to(replace(convert_from(leaf, 'UTF8'), '"read"', '"reed"'), 'UTF8')
                    WHERE \(Self.at(position))
                    """)
                try await world.test.tamper(
                    with: "log_leaf",
                    """
                    leaf_hash = (SELECT e.leaf_hash FROM countersign.evidence e WHERE e.id = evidence_id)
                    WHERE position = \(position)
                    """)
                #expect(try await world.faults() == ["\(position): leafHash"])
            }
        }
    }

    @Test func `is not signed by just anybody`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(5)
            let size = try #require(try await world.sequence(log))
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            let other = VerifierKey(
                name: LogWorld.origin, kind: .ed25519,
                publicKey: try Ed25519PrivateKey.generate().publicKey)
            await #expect(throws: LogFault(.signature, at: size - 1)) {
                try await audit.check(nil, keys: [other])
            }
            #expect(try await audit.check(nil, keys: [other, world.verifierKey]) == size)
        }
    }

    @Test func `can be checked from any position on, and up to any`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            for _ in 0..<6 {
                try await world.record(100, together: true)
                try await world.sequence(log)
            }
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            let size = try await audit.check(nil, keys: [world.verifierKey])
            for from in [0, 1, 255, 256, 300, 599] as [Int64] {
                #expect(try await audit.check(from..<Int64.max, keys: [world.verifierKey]) == size)
            }
            try await world.test.tamper(
                with: "log_leaf", "leaf_hash = sha256('x') WHERE position = 350")
            #expect(try await audit.check(0..<250, keys: [world.verifierKey]) >= 250)
            #expect(try await audit.check(500..<Int64.max, keys: [world.verifierKey]) == size)
            await #expect(throws: LogFault(.leafHash, at: 350)) {
                try await audit.check(300..<400, keys: [world.verifierKey])
            }
        }
    }
}
