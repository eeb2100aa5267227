import Countersign
import Evidence
import Postgres
import Synchronization
import TestSupport
import Testing

/// A month is detached while others read, write and set legal holds, over connections of their own.
@Suite struct `Detaching a month` {
    /// Set once by a test, and read by what waits for it on a thread of a pool.
    private final class Signal: Sendable {
        private let state = Mutex(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    private static let waiting = """
        SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'countersign.evidence'::regclass
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    private static let hold = """
        INSERT INTO countersign.legal_hold (evidence_id, subject_id)
        VALUES (gen_random_uuid(), '\(OldMonth.customer)')
        """

    /// Opens a transaction with some statements, and ends it when the condition holds.
    private func transaction(
        _ old: OldMonth, _ statements: [String], isOpen: Signal,
        until condition: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Bool
    ) async throws {
        defer { isOpen.set() }
        try await old.world.test.run { connection throws(PostgresError) in
            try connection.transaction { connection throws(PostgresError) in
                for statement in statements { try connection.run(script: statement) }
                isOpen.set()
                // No longer than a test may take that fails.
                for _ in 0..<1000 {
                    if try condition(connection) { return }
                    try connection.run(script: "SELECT pg_sleep(0.02)")
                }
            }
        }
    }

    private func wait(for signal: Signal) async throws {
        while !signal.isSet { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func `sees a legal hold that was set while it waited for the table`() async throws {
        try await OldMonth.with { old in
            try await old.world.sequence(old.log)
            let record = try await old.world.statement()
            let isOpen = Signal()
            let waiting = Statement("waiting", .read, Bytes(Self.waiting.utf8))
            // A hold is evidence, too, and commits when the detaching waits for it.
            async let holding: Void = transaction(old, [record, Self.hold], isOpen: isOpen) {
                connection throws(PostgresError) in
                guard let row = try connection.execute(waiting, []).single() else { return false }
                let count: Int64 = try row["count"]
                return count > 0
            }
            try await wait(for: isOpen)
            let result = try await old.detach()
            try await holding
            #expect(result == .refused(.legalHold))
            #expect(try await old.text("count(*) FROM countersign.evidence_kept") == "0")
            #expect(
                try await old.text(
                    "count(*) FROM countersign.evidence WHERE kind = 'evidence.detached'") == "0")
        }
    }

    @Test func `is refused for a record of the service itself that is about a held customer`()
        async throws
    {
        try await OldMonth.with { old in
            try await old.world.test.sql(
                """
                INSERT INTO countersign.customer (customer_id, subject_id)
                VALUES ('c-2', '22222222-2222-4222-8222-222222222222')
                """)
            try await old.record(
                "act.proposed", 4, of: OldMonth.service,
                body: "22222222-2222-4222-8222-222222222222")
            try await old.world.sequence(old.log)
            try await old.world.test.sql(
                Self.hold.replacing(OldMonth.customer, with: "22222222-2222-4222-8222-222222222222")
            )
            #expect(try await old.detach() == .refused(.legalHold))
        }
    }

    @Test func `gives up soon while somebody reads, and stands in nobody's way then`() async throws
    {
        try await OldMonth.with { old in
            try await old.world.sequence(old.log)
            let (isOpen, isDone) = (Signal(), Signal())
            async let reading: Void = transaction(
                old, ["SELECT count(*) FROM countersign.evidence"], isOpen: isOpen
            ) { _ throws(PostgresError) in isDone.isSet }
            // Before the reading is waited for, whatever fails.
            defer { isDone.set() }
            try await wait(for: isOpen)
            let begin = ContinuousClock.now
            #expect(try await old.detach() == .refused(.busy))
            #expect(ContinuousClock.now - begin < .seconds(30))
            // Nobody waits any more, and the reader is still there.
            #expect(try await old.text("(\(Self.waiting))") == "0")
            try await old.world.record(1)
            isDone.set()
            try await reading
            guard case .detached = try await old.detach() else {
                Issue.record("the month stays")
                return
            }
        }
    }

    @Test func `lets what was written meanwhile into its month be counted`() async throws {
        try await OldMonth.with { old in
            try await old.world.sequence(old.log)
            try await old.record("evidence.read", 9)
            #expect(try await old.detach() == .refused(.unsequenced))
        }
    }
}
