/// What the API offers a risk team about shadows.
package protocol ShadowService: Sendable {
    /// Begins one.
    ///
    /// - Throws: ``StoreFailure``; when the outcome is unknown, ``shadows(_:)`` tells it.
    func start(_ command: StartShadowCommand) async throws(StoreFailure) -> StartShadowOutcome

    /// A page of them, newest first, and the time at which it was read.
    func shadows(
        _ query: ShadowQuery
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant)

    /// What one has found so far; `nil` when there is none of that ID.
    func report(
        of id: ID<Shadow>
    ) async throws(StoreFailure) -> (report: ShadowReport, at: Instant)?

    /// Ends one. One that has ended stays as it is.
    ///
    /// - Parameters:
    ///   - id: The shadow.
    ///   - person: Who ends it.
    /// - Returns: It as it then is; `nil` when there is none of that ID.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func end(
        _ id: ID<Shadow>, by person: ID<Client>
    ) async throws(StoreFailure) -> (shadow: PolicyShadow, at: Instant)?
}

/// Which shadows somebody wants to see.
package struct ShadowQuery: Sendable {
    /// Only this one; `nil` for all.
    package let id: ID<Shadow>?
    /// At most so many.
    package let limit: Int
    /// Older than this one; `nil` for the newest.
    package let before: ID<Shadow>?

    /// A page of all.
    package init(limit: Int, before: ID<Shadow>? = nil) {
        id = nil
        self.limit = limit
        self.before = before
    }

    /// One.
    package init(_ id: ID<Shadow>) {
        self.id = id
        limit = 1
        before = nil
    }
}
