import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// Rows of the log that no root covers: what others said of checkpoints, and the keys that sign.
@Suite struct `What surrounds a log` {
    private static let at = Instant(milliseconds: 1_700_000_000_000)

    /// A log with three cosignatures and three timestamps, of two checkpoints.
    private func withLog(
        _ body: (LogWorld, PostgresLogAudit, Witness) async throws -> Void
    ) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.keys().announce([world.verifierKey.text], for: .checkpoints)
            let testimony = PostgresLogTestimony(database: await world.test.open())
            let witness = try Witness()
            for round in 0..<2 {
                try await world.record(5)
                let size = try #require(try await world.sequence(log))
                for number in 0...round {
                    let published = try #require(try await testimony.published())
                    let at = Self.at + Seconds(Int64(number))
                    try await testimony.record(
                        cosignature: try witness.line(published.note, at: at), of: size, by: "w1",
                        at: at)
                    try await testimony.record(
                        timestamp: [1, UInt8(number)], of: size, by: "tsa-\(number)", at: at)
                }
            }
            try await body(
                world, PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1)),
                witness)
        }
    }

    /// A witness and the policy that names it.
    private struct Witness {
        let key: Ed25519PrivateKey
        let verifierKey: VerifierKey

        init() throws {
            key = try .generate()
            verifierKey = VerifierKey(
                name: "witness.example/w1", kind: .cosignature, publicKey: key.publicKey)
        }

        func line(_ note: SignedNote, at instant: Instant) throws -> Bytes {
            let line = try verifierKey.cosignature(on: note.text, at: instant) { try key.sign($0) }
            return try #require(line).line
        }

        func policy(_ key: VerifierKey? = nil) throws -> TrustPolicy {
            try TrustPolicy(
                text: Bytes("witness w1 \((key ?? verifierKey).text)\nquorum none\n".utf8))
        }
    }

    @Test func `is whole, and of known witnesses verified`() async throws {
        try await withLog { world, audit, witness in
            #expect(try await world.faults() == [])
            let all = try await audit.checkTestimony(
                witnesses: try witness.policy(), anchors: [], policies: [])
            #expect(all.cosignatures == 3 && all.verifiedCosignatures == 3)
            #expect(all.timestamps == 3 && all.verifiedTimestamps == 0)
            // Another key of the same name verifies none of them, and contradicts none.
            let other = try await audit.checkTestimony(
                witnesses: try witness.policy(try Witness().verifierKey), anchors: [], policies: [])
            #expect(other.cosignatures == 3 && other.verifiedCosignatures == 0)
        }
    }

    /// What a superuser changes, and what is found.
    fileprivate struct Tampering: Sendable, CustomTestStringConvertible {
        let sql: String
        let fault: String

        var testDescription: String { sql }

        init(_ sql: String, _ fault: String) {
            self.sql = sql
            self.fault = fault
        }
    }

    @Test(arguments: [
        Tampering(
            "UPDATE log_cosignature SET witness = 'w2' WHERE number = 2", "last: cosignature"),
        Tampering(
            "UPDATE log_cosignature SET cosigned_at = cosigned_at + interval '1 microsecond' WHERE number = 1",
            "first: cosignature"),
        Tampering(
            "UPDATE log_cosignature SET line = replace(line, 'w1', 'w9') WHERE number = 3",
            "last: cosignature"),
        Tampering(
            "UPDATE log_cosignature SET size = size - 1 WHERE number = 1", "before: cosignature"),
        Tampering(
            "UPDATE log_cosignature SET link = sha256('x') WHERE number = 3", "last: cosignature"),
        Tampering("UPDATE log_cosignature SET number = 9 WHERE number = 3", "last: cosignature"),
        Tampering("DELETE FROM log_cosignature WHERE number = 1", "last: cosignature"),
        Tampering("DELETE FROM log_cosignature WHERE number = 3", "last: cosignature"),
        Tampering("DELETE FROM log_cosignature", "none: cosignature"),
        Tampering(
            "INSERT INTO log_cosignature SELECT size, 'w9', cosigned_at, line, 4, link FROM log_cosignature WHERE number = 1",
            "first: cosignature"),
        Tampering(
            "INSERT INTO log_cosignature SELECT size, 'w9', cosigned_at, line, -4, link FROM log_cosignature WHERE number = 1",
            "first: cosignature"),
        Tampering("UPDATE log_timestamp SET authority = 'x' WHERE number = 1", "first: timestamp"),
        Tampering(
            "UPDATE log_timestamp SET stamped_at = stamped_at - interval '1 day' WHERE number = 1",
            "first: timestamp"),
        Tampering(
            "UPDATE log_timestamp SET response = '\\x09' WHERE number = 2", "last: timestamp"),
        Tampering("DELETE FROM log_timestamp WHERE number = 3", "last: timestamp"),
        Tampering(
            "INSERT INTO log_timestamp SELECT size, 'x', stamped_at, response, 4, link FROM log_timestamp WHERE number = 1",
            "first: timestamp"),
        Tampering(
            "UPDATE log_chain SET link = sha256('x') WHERE name = 'checkpoint'", "last: edge"),
        Tampering(
            "UPDATE log_chain SET length = 4 WHERE name = 'cosignature'", "last: cosignature"),
        Tampering("DELETE FROM log_chain WHERE name = 'timestamp'", "first: timestamp"),
        Tampering("UPDATE log_key SET verifier_key = verifier_key || 'x'", "key: key"),
        Tampering("UPDATE log_key SET evidence_id = gen_random_uuid()", "key: key"),
        Tampering("DELETE FROM log_key", "key: key"),
        Tampering("INSERT INTO log_key VALUES ('other', gen_random_uuid())", "end: key"),
        Tampering(
            """
            INSERT INTO log_key SELECT 'other', l.evidence_id FROM log_leaf l
             WHERE l.position = (SELECT size - 1 FROM log_state)
            """, "last: key"),
    ])
    fileprivate func `is found when a superuser changes it`(change: Tampering) async throws {
        try await withLog { world, _, _ in
            let sizes = try await world.test.sql(
                "SELECT DISTINCT size FROM countersign.log_cosignature ORDER BY 1"
            ).map { row in try row["size"] as Int64 }
            let key = try await world.count(
                """
                SELECT position FROM countersign.log_leaf l JOIN countersign.log_key k USING (evidence_id)
                """)
            try await world.tamper(change.sql)
            let places = [
                "first": sizes[0] - 1, "before": sizes[0] - 2, "last": sizes[1] - 1,
                "end": sizes[1],
                "none": 0, "key": Int64(key),
            ]
            let parts = change.fault.split(separator: ":")
            let position = try #require(places[String(parts[0])])
            #expect(try await world.faults() == ["\(position):\(parts[1])"])
        }
    }

    @Test func `is signed by the keys that the log itself tells, under that of today`() async throws
    {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            let keys = try await world.keys()
            try await keys.announce([world.verifierKey.text], for: .checkpoints)
            try await world.record(3)
            try await world.sequence(log)
            let next = try Ed25519PrivateKey.generate()
            let nextKey = LogWorld.verifierKey(next)
            try await keys.announce([nextKey.text], for: .checkpoints)
            let batch = try #require(
                try await log.advance(keys: [world.verifierKey], LogWorld.signer(next)))
            try await log.publish(batch)
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            #expect(try await audit.check(nil, keys: [nextKey]) == batch.size)
            #expect(
                try await audit.check(batch.size - 1..<batch.size, keys: [nextKey]) == batch.size)
            await #expect(throws: LogFault(.signature, at: batch.size - 1)) {
                try await audit.check(nil, keys: [world.verifierKey])
            }
        }
    }
}
