import Countersign

// The functions of `sql/migrations` answer with one row of one column `status`: what came of it.

extension Connection {
    /// Runs a function that answers with one row of one column `status`.
    borrowing func status(
        _ statement: Statement, _ parameters: [Parameter]
    ) throws(PostgresError) -> String {
        guard let row = try execute(statement, parameters).single() else {
            throw .malformedColumn("status")
        }
        return try row["status"]
    }
}

extension Database {
    /// Runs a function that answers with a status.
    func status(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> String {
        try await run { connection throws(PostgresError) in
            try connection.status(statement, parameters)
        }
    }

    /// Commits a write of its own; see ``DecisionStore/barrier()``.
    func barrier() async throws(StoreFailure) { try await query(.barrier) }
}
