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

    /// Runs a function whose only other status is a lost race.
    ///
    /// - Returns: `false` for a lost race.
    /// - Throws: ``StoreFailure``; also when the function answers anything else.
    func succeeded(
        _ success: String, _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> Bool {
        switch try await status(statement, parameters) {
        case success: return true
        case "lost_race": return false
        default: throw .internalFailure(code: "status")
        }
    }

    /// Commits a write of its own; see ``DecisionStore/barrier()``.
    func barrier() async throws(StoreFailure) { try await query(.barrier) }
}
