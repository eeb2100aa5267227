import Countersign

/// What an operator is told when the database could not do what a command asked.
extension StoreFailure: ExplainedError {
    /// The code is an SQLSTATE or the name of a constraint, never data.
    var explanation: String {
        switch self {
        case .unavailable: "the database cannot be reached or does not answer"
        case .outcomeUnknown:
            "the database's answer to a commit was lost: it may or may not have taken effect"
        // Source of 42501: PostgreSQL, Appendix A, insufficient_privilege.
        case .internalFailure(code: "42501"):
            "the role of the setting database.url may not do this (42501)"
        case .internalFailure(let code): "the database did not do it (\(code))"
        }
    }
}
