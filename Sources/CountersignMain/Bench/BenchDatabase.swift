import Countersign
import Postgres

/// The database of a benchmark, as its superuser.
struct BenchDatabase: Sendable {
    let base: DemoDatabase

    /// Runs statements that are separated by semicolons, as one transaction.
    ///
    /// - Throws: ``CommandFailure``.
    func run(_ script: String) async throws {
        try await base.asSuperuser(script)
    }

    /// The columns of the first row, as text.
    ///
    /// - Throws: ``CommandFailure``, also when there is no row.
    func row(_ sql: String, _ columns: [String]) async throws -> [String] {
        let statement = Statement("bench", .read, Bytes(sql.utf8))
        let values = try await base.asSuperuser { connection throws(PostgresError) in
            try connection.execute(statement).first.map { row throws(PostgresError) in
                try columns.map { name throws(PostgresError) -> String in try row[name] }
            }
        }
        guard let values else { throw CommandFailure("the benchmark's database has no such row") }
        return values
    }

    /// One column of all rows, as text.
    ///
    /// - Throws: ``CommandFailure``.
    func column(_ sql: String, _ name: String) async throws -> [String] {
        let statement = Statement("bench", .read, Bytes(sql.utf8))
        return try await base.asSuperuser { connection throws(PostgresError) in
            try connection.execute(statement).map { row throws(PostgresError) in try row[name] }
        }
    }

    /// Does something while nobody else sequences the log.
    ///
    /// - Throws: ``CommandFailure``, or what `body` throws.
    func holdingLead(_ body: () async throws -> Void) async throws {
        let take = Statement(
            "take_lead", .read, Bytes("SELECT pg_try_advisory_lock(7003, 1) AS taken".utf8))
        let endLead = Statement(
            "end_lead", .read,
            Bytes(
                """
                SELECT pg_terminate_backend(pid) FROM pg_locks
                 WHERE locktype = 'advisory' AND classid = 7003 AND database
                    = (SELECT oid FROM pg_database WHERE datname = current_database())
                """.utf8))
        let database = Database(
            DatabaseOptions(connection: try ConnectionInfo(base.url(as: "postgres")), size: 1))
        do {
            while true {
                let isTaken = try await database.query(take) { rows throws(PostgresError) in
                    try rows.single().map { row throws(PostgresError) in
                        try row["taken"] as Bool
                    } ?? false
                }
                if isTaken { break }
                try await database.query(endLead)
            }
            try await body()
            await database.close()
        } catch {
            await database.close()
            throw error
        }
    }

    /// How many actions were approved: what every phase is checked against.
    func approvals() async throws -> Int {
        let sql = "SELECT count(*)::text AS n FROM countersign.decision WHERE outcome = 'approved'"
        return Int(try await row(sql, ["n"])[0]) ?? 0
    }

    /// Gives the planner what it knows in a database that has been in use, and starts each phase with
    /// an empty write queue.
    func settle() async throws {
        try await run("VACUUM (ANALYZE)")
        try await run("CHECKPOINT")
    }
}
