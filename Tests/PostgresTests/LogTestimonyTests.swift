import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// Where the words of witnesses and timestamp authorities are kept.
@Suite struct `What others say of a log` {
    private static let line = Bytes("\u{2014} witness.example/w1 AQIDBAUG\n".utf8)
    private static let at = Instant(milliseconds: 1_700_000_000_000)

    /// A log with a published checkpoint, and one that was not.
    private func withLog(
        _ body: (LogWorld, PostgresLogTestimony, _ published: Int64, _ other: Int64) async throws
            -> Void
    ) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(3)
            let published = try #require(try await world.sequence(log))
            try await world.record(1)
            let other = try #require(try await world.advance(log)).size
            try await body(
                world, PostgresLogTestimony(database: await world.test.open()), published, other)
        }
    }

    @Test func `is kept byte for byte, and once`() async throws {
        try await withLog { world, testimony, size, _ in
            for _ in 0..<2 {
                try await testimony.record(
                    cosignature: Self.line, of: size, by: "w1", at: Self.at)
                try await testimony.record(
                    timestamp: [0, 1, 255], of: size, by: "tsa.example", at: Self.at)
            }
            // A later one of the same authority adds nothing; one of a witness does.
            let later = Self.at + Seconds(60)
            try await testimony.record(timestamp: [7], of: size, by: "tsa.example", at: later)
            try await testimony.record(cosignature: Self.line, of: size, by: "w1", at: later)
            let lines = try await world.test.sql(
                "SELECT convert_to(line, 'UTF8') AS line, cosigned_at FROM countersign.log_cosignature ORDER BY 2"
            )
            #expect(try lines.map { row in try row["line"] as Bytes } == [Self.line, Self.line])
            #expect(try lines.map { row in try row["cosigned_at"] as Instant } == [Self.at, later])
            let stamps = try await world.test.sql("SELECT response FROM countersign.log_timestamp")
            #expect(try stamps.map { row in try row["response"] as Bytes } == [[0, 1, 255]])
            let newest = try await testimony.timestamped()
            #expect(newest["tsa.example"]?.size == size && newest["tsa.example"]?.at == Self.at)
            #expect(newest.count == 1)
        }
    }

    @Test func `is of published checkpoints alone`() async throws {
        try await withLog { world, testimony, published, other in
            let shown = try await testimony.published()
            #expect(shown?.size == published)
            for size in [other, other + 1] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS009")) {
                    try await testimony.record(
                        cosignature: Self.line, of: size, by: "w1", at: Self.at)
                }
                await #expect(throws: StoreFailure.internalFailure(code: "CS009")) {
                    try await testimony.record(timestamp: [1], of: size, by: "t", at: Self.at)
                }
            }
            // Between two checkpoints there is none.
            await #expect(throws: StoreFailure.self) {
                try await testimony.record(
                    cosignature: Self.line, of: published - 1, by: "w1", at: Self.at)
            }
            let kept = try await world.count("SELECT count(*) FROM countersign.log_cosignature")
            #expect(kept == 0)
        }
    }

    @Test(arguments: [
        "", "\u{2014} witness AQIDBAUG", "- witness AQIDBAUG\n", "\u{2014} wit ness AQIDBAUG\n",
        "\u{2014} witness AQIDBAUG\n\n", "\u{2014} witness AQ!DBAUG\n",
        "\u{2014} witness AQIDBAUG\n\u{2014} witness AQIDBAUG\n",
        "\u{2014} witness \(String(repeating: "A", count: 1024))\n",
    ])
    func `is one signature line`(line: String) async throws {
        try await withLog { _, testimony, size, _ in
            await #expect(
                throws: StoreFailure.internalFailure(code: "23514:log_cosignature_line")
            ) {
                try await testimony.record(
                    cosignature: Bytes(line.utf8), of: size, by: "w1", at: Self.at)
            }
        }
    }

    @Test func `is no longer than what is read`() async throws {
        try await withLog { _, testimony, size, _ in
            for count in [0, 32_769] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "23514:log_timestamp_size")
                ) {
                    try await testimony.record(
                        timestamp: Bytes(repeating: 1, count: count), of: size, by: "t",
                        at: Self.at)
                }
            }
            try await testimony.record(
                timestamp: Bytes(repeating: 1, count: TimestampToken.responseBytesMax), of: size,
                by: "t", at: Self.at)
        }
    }

    @Test func `is recorded by the service alone, and changed by nobody`() async throws {
        try await withLog { world, testimony, size, _ in
            try await testimony.record(cosignature: Self.line, of: size, by: "w1", at: Self.at)
            try await testimony.record(timestamp: [1], of: size, by: "t", at: Self.at)
            for role in [TestDatabase.Role.auditor, .op] {
                let other = PostgresLogTestimony(database: await world.test.open(as: role))
                await #expect(throws: StoreFailure.internalFailure(code: "42501")) {
                    try await other.record(
                        cosignature: Self.line, of: size, by: "w2", at: Self.at)
                }
                await #expect(throws: StoreFailure.internalFailure(code: "42501")) {
                    try await other.record(timestamp: [1], of: size, by: "u", at: Self.at)
                }
            }
            for sql in [
                "DELETE FROM countersign.log_cosignature", "TRUNCATE countersign.log_timestamp",
                "UPDATE countersign.log_cosignature SET line = line",
                "UPDATE countersign.log_timestamp SET response = ''",
                "DELETE FROM countersign.log_timestamp",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS001"), "\(sql)") {
                    try await world.test.sql(sql)
                }
            }
        }
    }

    @Test func `is proved from every size that somebody may have seen`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            let testimony = PostgresLogTestimony(database: await world.test.open())
            var seen: [Checkpoint] = []
            for count in [1, 6, 250, 300, 1] {
                try await world.record(count, together: true)
                try await world.sequence(log)
                let note = try #require(try await testimony.published()).note
                seen.append(try #require(Checkpoint(text: note.text)))
            }
            let newest = try #require(seen.last)
            for old in seen {
                let proof = try #require(
                    try await testimony.consistency(from: old.size, to: newest.size))
                #expect(
                    TreeProof.isConsistent(
                        from: old.size, root: old.root, to: newest.size, root: newest.root,
                        by: proof))
            }
            #expect(try await testimony.consistency(from: 0, to: newest.size) == [])
            #expect(try await testimony.consistency(from: newest.size + 1, to: newest.size) == nil)
        }
    }
}
