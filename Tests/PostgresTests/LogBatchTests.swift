import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// A log whose batches have a largest size.
@Suite struct `A batch of the log` {
    /// Batches of at most ten records.
    private func withSmallBatches(_ body: (LogWorld, PostgresLog) async throws -> Void) async throws
    {
        try await LogWorld.with { world in
            try await world.test.sql(
                """
                CREATE OR REPLACE FUNCTION countersign.log_batch_max() RETURNS int LANGUAGE sql IMMUTABLE
                AS 'SELECT 10'
                """)
            let log = await world.instance()
            _ = try await log.lead()
            try await body(world, log)
        }
    }

    /// Sequences until nothing waits; how many records each batch had.
    private func batches(_ world: LogWorld, _ log: PostgresLog) async throws -> [Int] {
        var counts: [Int] = []
        while let batch = try await world.advance(log) {
            try await log.publish(batch)
            counts.append(batch.count)
        }
        return counts
    }

    @Test func `has at most its largest size, and the next goes on where it ended`() async throws {
        try await withSmallBatches { world, log in
            try await world.record(25)
            let all = try await world.count("SELECT count(*) FROM countersign.evidence")
            let first = try await batches(world, log)
            #expect(first.reduce(0, +) == all)
            #expect(first.allSatisfy { $0 <= 10 } && first.dropLast().allSatisfy { $0 == 10 })
            try await world.record(12)
            #expect(try await batches(world, log) == [10, 2])
            #expect(try await world.faults() == [])
            // Each claims to hold all that it saw, and none of them claims more.
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            for row in try await world.test.sql("SELECT size FROM countersign.log_checkpoint") {
                let found = try await audit.completeness(of: try row["size"])
                #expect(found == .init(unsequenced: 0, missing: 0, altered: 0))
            }
        }
    }

    @Test func `never parts the records of one transaction`() async throws {
        try await withSmallBatches { world, log in
            _ = try await batches(world, log)
            try await world.record(4)
            try await world.record(25, together: true)
            try await world.record(3)
            #expect(try await batches(world, log) == [4, 25, 3])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `leaves to a later one what had not committed, wherever it ends`() async throws {
        try await withSmallBatches { world, log in
            _ = try await batches(world, log)
            try await world.record(2)
            try await world.whileOneIsOpen {
                try await world.record(15)
                #expect(try await batches(world, log) == [10, 7])
            }
            try await world.record(1)
            #expect(try await batches(world, log) == [2])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `of nothing writes nothing`() async throws {
        try await withSmallBatches { world, log in
            try await world.record(3)
            _ = try await batches(world, log)
            let before = try await world.test.sql(
                "SELECT pg_current_snapshot()::text AS now, xmax::text AS locker FROM countersign.log_state"
            )
            for _ in 0..<3 { #expect(try await world.advance(log) == nil) }
            let after = try await world.test.sql(
                "SELECT pg_current_snapshot()::text AS now, xmax::text AS locker FROM countersign.log_state"
            )
            #expect(
                try before.map { row in try row["locker"] as String }
                    == after.map { row in try row["locker"] as String })
        }
    }
}
