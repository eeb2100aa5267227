/// Why the database could not do what was asked. A refusal by a rule is a result, never one of these.
package enum StoreFailure: Error, Equatable, Sendable {
    /// Nothing was changed; asking again later may succeed.
    case unavailable
    /// The answer to a commit was lost: it may or may not have taken effect.
    case outcomeUnknown
    /// A defect of this service, named by a code for the operator (an SQLSTATE or constraint).
    case internalFailure(code: String)

    /// That the record of a key cannot be used, by the code of what found it.
    static func unusableRecord(_ failure: VerificationFailure) -> StoreFailure {
        .internalFailure(code: failure.code)
    }
}
