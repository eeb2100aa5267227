import Countersign
import Postgres

/// The database of a benchmark, as its superuser.
struct BenchDatabase: Sendable {
    let base: DemoDatabase

    /// Runs statements that are separated by semicolons, as one transaction.
    ///
    /// - Throws: ``CommandFailure``.
    func run(_ script: String) async throws {
        try await connected { connection throws(PostgresError) in
            try connection.run(script: script)
        }
    }

    /// The columns of the first row, as text.
    ///
    /// - Throws: ``CommandFailure``, also when there is no row.
    func row(_ sql: String, _ columns: [String]) async throws -> [String] {
        let statement = Statement("bench", .read, Bytes(sql.utf8))
        let values = try await connected { connection throws(PostgresError) in
            try connection.execute(statement).first.map { row throws(PostgresError) in
                try columns.map { name throws(PostgresError) -> String in try row[name] }
            }
        }
        guard let values else { throw CommandFailure("the benchmark's database has no such row") }
        return values
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

    private func connected<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Result
    ) async throws -> Result {
        var options = DatabaseOptions(
            connection: try ConnectionInfo(base.url(as: "postgres")), size: 1)
        options.statementDeadline = .seconds(120)
        let database = Database(options)
        do throws(StoreFailure) {
            let result = try await database.run(body)
            await database.close()
            return result
        } catch {
            await database.close()
            throw CommandFailure("the benchmark's database refused: \(error)")
        }
    }
}
