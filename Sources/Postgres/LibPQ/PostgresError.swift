package import Countersign

/// Why a statement did not succeed; told by SQLSTATE and constraint name, never by message text.
///
/// Every case but ``outcomeUnknown`` means that nothing was changed.
package enum PostgresError: Error, Hashable, Sendable {
    /// A named constraint refused a write (SQLSTATE class 23).
    case constraintViolated(name: String, sqlState: String)
    /// A lock was not had within `lock_timeout` (55P03).
    case lockTimeout
    /// `statement_timeout` ran out, or an operator cancelled the statement (57014).
    case statementTimeout
    /// The database asks for the transaction to be made again (40001, 40P01).
    case serialization(sqlState: String)
    /// One of the schema's own functions or triggers raised: a code that begins with `CS`.
    case raised(sqlState: String)
    /// The connection was lost before anything could have been committed.
    case connectionLost
    /// A write was sent, and whether it was committed, or is durable, is not known.
    case outcomeUnknown
    /// Shutting down, out of resources, too slow, or no capacity here.
    case unavailable
    /// A connection could not be made; the reason, in libpq's words, is for the operator only.
    case unreachable(reason: String)
    /// The server takes no writes: a standby, or a primary that was demoted (25006).
    case readOnly
    /// A column is missing, is NULL, or has another type or form than the caller expects.
    case malformedColumn(String)
    /// Anything else that the database refuses.
    case other(sqlState: String)
}

extension PostgresError {
    /// Classifies an error that left the connection in use, so that its statement was rolled back.
    ///
    /// Source: PostgreSQL 15 manual, appendix A.
    init(sqlState: String, constraint: String?) {
        if let constraint, !constraint.isEmpty, sqlState.hasPrefix("23") {
            self = .constraintViolated(name: constraint, sqlState: sqlState)
            return
        }
        self =
            switch sqlState {
            case "55P03": .lockTimeout
            case "57014": .statementTimeout
            case "40001", "40P01": .serialization(sqlState: sqlState)
            case "40003": .outcomeUnknown
            case "25006": .readOnly
            case "57P01", "57P02", "57P03", "57P05": .unavailable
            case _ where sqlState.hasPrefix("08") || sqlState.hasPrefix("53"): .unavailable
            case _ where sqlState.hasPrefix("CS"): .raised(sqlState: sqlState)
            default: .other(sqlState: sqlState)
            }
    }
}

extension PostgresError {
    /// What an operator is told when a connection cannot be made.
    var reason: String {
        if case .unreachable(let reason) = self { return reason }
        return "\(self)"
    }

    /// Whether the same may go well in another session. Nothing was changed in this one.
    var asksForNewSession: Bool {
        switch self {
        // A server that takes no writes may have a successor.
        case .connectionLost, .readOnly: true
        // The schema changed under a prepared statement; a pooler lost a prepared statement.
        case .other(let sqlState): sqlState == "0A000" || sqlState == "26000"
        case .constraintViolated, .lockTimeout, .statementTimeout, .serialization, .raised,
            .outcomeUnknown, .unavailable, .unreachable, .malformedColumn:
            false
        }
    }
}

extension StoreFailure {
    /// What a database error means to the domain; the only place that decides it.
    package init(_ error: PostgresError) {
        self =
            switch error {
            case .outcomeUnknown: .outcomeUnknown
            case .lockTimeout, .statementTimeout, .serialization, .connectionLost, .unavailable,
                .unreachable, .readOnly:
                .unavailable
            case .constraintViolated(let name, let sqlState):
                .internalFailure(code: "\(sqlState):\(name)")
            case .raised(let sqlState), .other(let sqlState): .internalFailure(code: sqlState)
            case .malformedColumn(let name): .internalFailure(code: "column:\(name)")
            }
    }
}
