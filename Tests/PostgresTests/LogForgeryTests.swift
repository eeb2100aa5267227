import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// What hides from positions, and is found all the same.
@Suite struct `A record that somebody hid` {
    @Test func `is missing although its position names an older one`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(20)
            try await world.sequence(log)
            try await world.test.tamper(
                with: "log_leaf",
                "evidence_id = '00000000-0000-0000-0000-000000000000' WHERE position = 7")
            #expect(try await world.faults() == ["7: recordMissing"])
        }
    }

    @Test func `is counted when no transaction has its number yet`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(3)
            try await world.sequence(log)
            try await world.record(1)
            try await world.test.tamper(
                with: "evidence",
                "xid = '9000000000000000000' WHERE id NOT IN (SELECT evidence_id FROM countersign.log_leaf)"
            )
            #expect(try await world.sequence(log) == nil)
            #expect(try await world.faults().first?.contains("unsequenced: 1") == true)
        }
    }

    /// The service's own role may tell much, but not what excuses a missing record; and what a superuser tells
    /// excuses no record of a month that is here.
    @Test func `is missing, whatever is told of detached months`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(20)
            try await world.sequence(log)
            let month = try #require(
                try await world.test.sql("SELECT to_char(clock_timestamp(), 'YYYY-MM') AS month")
                    .first)
            let told = try await world.json([
                ServiceEvidence.detached(
                    month: try month["month"], .init(records: 9, positions: 0...8, kept: nil))
            ])
            let refused = try await world.json([
                ServiceEvidence.read(by: ID(rawValue: 1), filter: .null, count: 1),
                ServiceEvidence.detached(
                    month: try month["month"], .init(records: 9, positions: 0...8, kept: nil)),
            ])
            await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                try await world.test.run { connection throws(PostgresError) in
                    try connection.run(script: "SELECT countersign.write_evidence('\(refused)')")
                }
            }
            try await world.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        SET ROLE countersign_owner;
                        SELECT countersign.write_evidence('\(told)');
                        RESET ROLE
                        """)
            }
            try await world.sequence(log)
            #expect(try await world.faults() == [])
            try await world.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.evidence DISABLE TRIGGER ALL;
                        DELETE FROM countersign.evidence WHERE id =
                            (SELECT evidence_id FROM countersign.log_leaf WHERE position = 7);
                        ALTER TABLE countersign.evidence ENABLE TRIGGER ALL
                        """)
            }
            #expect(try await world.faults() == ["7: recordMissing"])
            let size = Int64(try await world.count("SELECT size FROM countersign.log_state"))
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            #expect(try await audit.completeness(of: size).missing == 1)
        }
    }

    @Test func `is published when the answer to its checkpoint's commit was lost`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(3)
            let batch = try #require(try await world.advance(log))
            let reader = PostgresLogReader(database: await world.test.open())
            #expect(try await reader.checkpoint() == nil)
            try await log.publishNewest()
            #expect(try await reader.checkpoint() == batch.note.encoded)
            try await log.giveUpLead()
            await #expect(throws: StoreFailure.self) { try await log.publishNewest() }
        }
    }
}

/// Who has the database, but not the key.
@Suite struct `A log that was written anew` {
    private static let altered = PostgresLog.Alteration.signature.failure

    /// What a superuser does between two batches.
    @Test(arguments: [
        // Another root, which the edge does not have; and an edge and root of an older checkpoint.
        "UPDATE log_state SET root = sha256('x')",
        """
        DELETE FROM log_checkpoint WHERE number = 3;
        UPDATE log_chain c SET length = k.number, link = k.link
          FROM log_checkpoint k WHERE c.name = 'checkpoint' AND k.number = 2
        """,
        "UPDATE log_checkpoint SET note = note || '\\x0a' WHERE number = 3",
        "UPDATE log_checkpoint SET note = (SELECT note FROM log_checkpoint WHERE number = 2) WHERE number = 3",
        "UPDATE log_state SET edge[1] = overlay(edge[1] PLACING sha256('x') FROM 33)",
        // A whole log of nothing.
        """
        DELETE FROM log_leaf; DELETE FROM log_tile; DELETE FROM log_checkpoint;
        UPDATE log_state SET size = 0, root = sha256(''), edge = '{}', snapshot = NULL, published = NULL
        """,
    ])
    func `is not signed any more`(change: String) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            for _ in 0..<3 {
                try await world.record(5)
                try await world.sequence(log)
            }
            try await world.tamper(change)
            try await world.record(1)
            await #expect(throws: Self.altered) { try await world.advance(log) }
        }
    }

    @Test func `is not signed, though it is one that was signed before`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(5)
            let first = try #require(try await world.advance(log)).checkpoint
            try await world.record(5)
            let second = try #require(
                try await log.advance(after: first, keys: [world.verifierKey], world.signer))
            try await world.record(1)
            await #expect(throws: Self.altered) {
                try await log.advance(after: first, keys: [world.verifierKey], world.signer)
            }
            let other = try Ed25519PrivateKey.generate()
            await #expect(throws: Self.altered) {
                try await log.advance(keys: [LogWorld.verifierKey(other)], LogWorld.signer(other))
            }
            #expect(
                try await log.advance(
                    after: second.checkpoint, keys: [world.verifierKey], world.signer) != nil)
            try await log.publishNewest()
            #expect(try await world.faults() == [])
        }
    }
}
