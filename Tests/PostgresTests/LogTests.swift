import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

/// Records get their positions, on a real database.
@Suite struct `The log` {
    @Test func `gives each record one position, in the order of their transactions`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            #expect(try await log.lead() == .new)
            #expect(try await log.lead() == .leader)
            try await world.record(7)
            try await world.record(5, together: true)
            let all = try await world.count("SELECT count(*) FROM countersign.evidence")
            #expect(try await world.sequence(log) == Int64(all))
            #expect(try await world.sequence(log) == nil)
            try await world.record(1)
            #expect(try await world.sequence(log) == Int64(all + 1))
            // Who was acknowledged before another began comes before it.
            let outOfOrder = try await world.count(
                """
                SELECT count(*) FROM countersign.log_leaf a JOIN countersign.log_leaf b
                    ON b.position = a.position + 1 JOIN countersign.evidence ea ON ea.id = a.evidence_id
                  JOIN countersign.evidence eb ON eb.id = b.evidence_id
                 WHERE (ea.xid, ea.id) >= (eb.xid, eb.id)
                """)
            #expect(outOfOrder == 0)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `signs what a verifier makes of the served entries`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            for count in [300, 1, 260] {
                try await world.record(count, together: true)
                try await world.sequence(log)
            }
            let reader = PostgresLogReader(database: await world.test.open(as: .auditor))
            let served = try #require(try await reader.checkpoint())
            let note = try #require(SignedNote(decoding: served))
            #expect(world.verifierKey.verifies(note))
            let checkpoint = try #require(Checkpoint(text: note.text))
            var edge = TreeEdge()
            for index in 0...checkpoint.size / 256 {
                let width = Int(min(256, checkpoint.size - index * 256))
                let entries = try #require(
                    try await reader.resource(TilePath.entries(index: index, width: width).text))
                let leaves = try #require(EntryTile(decoding: entries)).entries
                let hashes = leaves.map { EvidenceSealer.leafHash($0) }
                _ = edge.append(hashes)
                let tile = try await reader.resource(
                    TilePath.hashes(Tile.Place(level: 0, index: index), width: width).text)
                #expect(tile == hashes.flatMap(\.bytes))
            }
            #expect(edge.root == checkpoint.root)
            let level1 = try await reader.resource("tile/1/000.p/\(checkpoint.size / 256)")
            #expect(level1 == edge.levels[1].flatMap(\.bytes))
            for path in [
                "tile/0/000.p/0", "tile/0/0", "tile/0/000.p/256", "tile/0/004", "tile/2/000.p/1",
                "tile/entries/002", "tile/entries/002.p/\(checkpoint.size % 256 + 1)", "checkpoint",
                "tile/0/-01", "tile/0/x000/000",
            ] {
                #expect(try await reader.resource(path) == nil, "\(path)")
            }
        }
    }

    /// How long a transaction and a snapshot stay open beside the sequencer; more with
    /// `COUNTERSIGN_LOG_OPEN_SECONDS`.
    private static let openSeconds =
        ProcessInfo.processInfo.environment["COUNTERSIGN_LOG_OPEN_SECONDS"].flatMap { Int($0) } ?? 1

    /// F11 of the fault tests: a transaction that has written, and a snapshot that keeps all rows as they were.
    @Test func `leaves nothing out that commits late, and waits for nobody`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.sequence(log)
            try await world.whileOneIsOpen {
                try await world.whileASnapshotIsOpen {
                    try await tick(beside: world, log)
                    #expect(try await world.count("SELECT \(Self.pinned)") == 2)
                }
            }
            // The late one is taken by the very next tick.
            #expect(try await world.sequence(log) != nil)
            #expect(try await world.count(Self.unsequenced) == 0)
            #expect(try await world.faults() == [])
        }
    }

    private static let unsequenced = "SELECT count(*) FROM countersign.audit_unsequenced"
    /// Who keeps the horizon of this database where it was: the open transaction and the open snapshot.
    private static let pinned = """
        count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND backend_xmin IS NOT NULL AND xact_start < clock_timestamp()
           AND state IN ('active', 'idle in transaction')
        """

    /// Records begun after the open one, and committed before it: each tick takes all of them.
    private func tick(beside world: LogWorld, _ log: PostgresLog) async throws {
        let end = ContinuousClock.now + .seconds(Self.openSeconds)
        var longest = Duration.zero
        var lag = Duration.zero
        var ticks = 0
        repeat {
            let recorded = ContinuousClock.now
            try await world.record(2)
            let begin = ContinuousClock.now
            let batch = try #require(try await world.advance(log))
            #expect(batch.count == 2)
            try await log.publish(batch)
            longest = max(longest, ContinuousClock.now - begin)
            lag = max(lag, ContinuousClock.now - recorded)
            #expect(try await world.count(Self.unsequenced) == 0)
            ticks += 1
        } while ContinuousClock.now < end || ticks < 10
        print(
            "beside a transaction and a snapshot that stayed open: \(ticks) ticks, the longest took "
                + "\(longest), and the last of two records had its position after \(lag) at most")
    }

    @Test func `is one log, however many sequence at once without the lead`() async throws {
        try await LogWorld.with { world in
            var logs: [PostgresLog] = []
            for _ in 0..<3 { logs.append(await world.instance(demandsLead: false)) }
            // Only to open it: nobody asks for the lead below.
            _ = try await logs[0].lead()
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<25 { try await world.record(1) } }
                }
                for log in logs {
                    group.addTask {
                        for _ in 0..<40 {
                            do throws(StoreFailure) {
                                if let batch = try await world.advance(log) {
                                    try await log.publish(batch)
                                }
                            } catch {
                                // Another one was faster.
                                #expect(error == .unavailable, "\(error)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await world.sequence(logs[0])
            #expect(try await world.faults() == [])
            let unpublished = try await world.count(
                """
                SELECT count(*) FROM countersign.log_state s
                 WHERE s.published <> (SELECT max(size) FROM countersign.log_checkpoint)
                """)
            #expect(unpublished == 0)
        }
    }

    @Test func `proves each checkpoint consistent with the next`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            var checkpoints: [Checkpoint] = []
            for count in [1, 2, 255, 1, 300, 7] {
                try await world.record(count, together: true)
                let batch = try #require(try await world.advance(log))
                checkpoints.append(try #require(Checkpoint(text: batch.note.text)))
            }
            let reader = PostgresLogReader(database: await world.test.open())
            for (old, new) in zip(checkpoints, checkpoints.dropFirst()) {
                let tiles = try await reader.tiles(
                    TreeProof.tiles(forConsistencyFrom: old.size, to: new.size))
                let proof = try #require(
                    TreeProof.consistency(from: old.size, to: new.size) { tiles[$0] })
                #expect(
                    TreeProof.isConsistent(
                        from: old.size, root: old.root, to: new.size, root: new.root, by: proof))
            }
        }
    }

    @Test func `has one leader, and another when its connection is gone`() async throws {
        try await LogWorld.with { world in
            let first = await world.instance()
            let second = await world.instance()
            #expect(try await first.lead() == .new)
            #expect(try await second.lead() == .follower)
            try await world.test.sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_locks
                 WHERE locktype = 'advisory' AND classid = 7003 AND database =
                    (SELECT oid FROM pg_database WHERE datname = current_database())
                """)
            try await eventually("the second leads") { try await second.lead() == .new }
            #expect(try await first.lead() == .follower)
        }
    }

    @Test func `advances on no other connection than the one that leads`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            #expect(try await log.lead() == .new)
            let batch = try #require(try await world.advance(log))
            try await world.record(1)
            try await world.test.sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_locks
                 WHERE locktype = 'advisory' AND classid = 7003 AND database =
                    (SELECT oid FROM pg_database WHERE datname = current_database())
                """)
            // It has another connection by now, maybe to another server.
            await #expect(throws: StoreFailure.internalFailure(code: "CS013")) {
                try await world.advance(log)
            }
            #expect(try await log.lead() == .new)
            #expect(try await world.advance(log) != nil)
            // Nor is published what this server does not have.
            _ = try await world.test.open().query(
                .write("SELECT countersign.publish_log(\(batch.size), 'x')"))
            #expect(
                try await world.count(
                    "SELECT coalesce(max(published), -1) FROM countersign.log_state") == -1)
        }
    }

    @Test func `gives nothing a position that nobody signed`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(3)
            await #expect(throws: PostgresLog.unsigned) {
                try await log.advance(keys: [world.verifierKey]) { _ in nil }
            }
            #expect(try await world.count("SELECT count(*) FROM countersign.log_leaf") == 0)
            #expect(try await world.sequence(log) != nil)
        }
    }

    @Test func `leaves the service only once it was published`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            let reader = PostgresLogReader(database: await world.test.open())
            _ = try await log.lead()
            let first = try #require(try await world.advance(log))
            #expect(try await reader.checkpoint() == nil)
            #expect(try await reader.resource("tile/0/000.p/1") == nil)
            try await log.publish(first)
            #expect(try await reader.checkpoint() == first.note.encoded)
            try await world.record(1)
            let second = try #require(try await world.advance(log))
            #expect(try await reader.checkpoint() == first.note.encoded)
            #expect(try await reader.resource("tile/entries/000.p/\(second.size)") == nil)
            #expect(try await log.holds(first.note.text, of: first.size))
            #expect(!(try await log.holds(first.note.text, of: second.size)))
            #expect(!(try await log.holds(second.note.text, of: second.size + 1)))
        }
    }

    @Test func `never shows a smaller checkpoint than before, whoever asks`() async throws {
        try await LogWorld.with { world in
            let database = await world.test.open()
            let plain = PostgresLogReader(database: database)
            let witnessed = PostgresLogReader(database: database, isWitnessed: true)
            let testimony = PostgresLogTestimony(database: database)
            let log = await world.instance()
            _ = try await log.lead()
            var notes: [Bytes] = []
            var sizes: [Int64] = []
            for _ in 0..<3 {
                try await world.record(1)
                let batch = try #require(try await world.advance(log))
                try await log.publish(batch)
                notes.append(batch.note.encoded)
                sizes.append(batch.size)
            }
            try await testimony.recordQuorum(of: sizes[0])
            #expect(try await witnessed.checkpoint() == notes[0])
            #expect(try await plain.checkpoint() == notes[2])
            // Nor does one that asks for a quorum go back from there.
            try await testimony.recordQuorum(of: sizes[1])
            #expect(try await witnessed.checkpoint() == notes[2])
            try await world.record(1)
            let newest = try #require(try await world.advance(log))
            try await log.publish(newest)
            #expect(try await witnessed.checkpoint() == notes[2])
            try await testimony.recordQuorum(of: newest.size)
            #expect(try await witnessed.checkpoint() == newest.note.encoded)
            // What was not published cannot be pointed at.
            await #expect(throws: StoreFailure.internalFailure(code: "CS009")) {
                try await testimony.recordQuorum(of: newest.size + 1)
            }
        }
    }

    @Test(arguments: ["99999999999:99999999999:", "3:99999999999:3"])
    func `stops when the counter of transactions went backwards, also behind an old one`(
        snapshot: String
    ) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.sequence(log)
            try await world.test.tamper(
                with: "log_state", "snapshot = '\(snapshot)'::pg_snapshot")
            try await world.record(1)
            let rewound = PostgresLog.Alteration.transactions.failure
            await #expect(throws: rewound) { try await world.advance(log) }
            // That it has caught up does not make it another.
            try await log.noteRewound()
            try await world.tamper(
                "UPDATE log_state SET snapshot = (SELECT snapshot FROM log_checkpoint c WHERE c.size = log_state.size)"
            )
            await #expect(throws: rewound) { try await world.advance(log) }
        }
    }

    @Test func `does not remember of a counter that goes on that it went backwards`() async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.sequence(log)
            try await log.noteRewound()
            try await world.record(1)
            #expect(try await world.sequence(log) != nil)
        }
    }

    @Test(arguments: [
        ("edge = '{}'", PostgresLog.Alteration.edge),
        ("edge[1] = substr(edge[1], 1, 7)", .edge),
        ("edge[1] = edge[1] || sha256('x')", .edge),
        ("edge[1] = overlay(edge[1] PLACING sha256('x') FROM 33)", .signature),
        ("origin = 'other.example/log'", .origin),
    ])
    func `is not signed on where its state was changed`(
        change: String, alteration: PostgresLog.Alteration
    ) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(5)
            try await world.sequence(log)
            try await world.tamper("UPDATE log_state SET \(change)")
            try await world.record(1)
            await #expect(throws: alteration.failure) { try await world.advance(log) }
            #expect(PostgresLog.Alteration(alteration.failure) == alteration)
        }
    }

    @Test(arguments: [
        "log_state", "log_leaf", "log_tile", "log_checkpoint", "log_cosignature", "log_timestamp",
        "log_key",
    ])
    func `is written by its functions alone`(table: String) async throws {
        try await LogWorld.with { world in
            let log = await world.instance()
            _ = try await log.lead()
            try await world.record(260, together: true)
            try await world.sequence(log)
            for role in [TestDatabase.Role.service, .auditor] {
                let database = await world.test.open(as: role)
                for sql in [
                    "DELETE FROM countersign.\(table)", "TRUNCATE countersign.\(table) CASCADE",
                    "INSERT INTO countersign.\(table) SELECT * FROM countersign.\(table)",
                ] {
                    await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(sql)") {
                        try await database.query(.write(sql))
                    }
                }
            }
            // Not even its owner changes what was written.
            for sql in [
                "DELETE FROM countersign.\(table)", "TRUNCATE countersign.\(table) CASCADE",
            ] where table != "log_cosignature" && table != "log_timestamp" && table != "log_key" {
                await #expect(throws: StoreFailure.internalFailure(code: "CS001"), "\(sql)") {
                    try await world.test.sql(sql)
                }
            }
        }
    }
}
