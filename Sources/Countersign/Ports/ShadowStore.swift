/// What shadows need from the database.
package protocol ShadowStore: Sendable {
    /// The person who asks, and the time; `nil` for nobody of the role `risk`.
    func asker(
        _ person: ID<Client>
    ) async throws(StoreFailure) -> (person: Person, at: Instant)?

    /// Writes a new one with its evidence.
    ///
    /// - Parameters:
    ///   - shadow: What it is.
    ///   - document: The draft as it was sent, in the form in which it is kept.
    /// - Returns: What came of it.
    /// - Throws: ``StoreFailure``.
    func start(
        _ shadow: PolicyShadow, _ document: Bytes
    ) async throws(StoreFailure) -> ShadowCreation

    /// Some of them, newest first, and the time.
    func shadows(
        _ query: ShadowQuery
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant)

    /// What a shadow has found, with the first changed decisions.
    func report(
        of shadow: PolicyShadow, changesMax: Int
    ) async throws(StoreFailure) -> ShadowReport

    /// Ends one with its evidence.
    ///
    /// - Returns: `false` when it has ended meanwhile, or the person may not act any more.
    /// - Throws: ``StoreFailure``.
    func end(
        _ shadow: PolicyShadow, by person: Person, at: Instant
    ) async throws(StoreFailure) -> Bool

    /// See ``DecisionStore/barrier()``.
    func barrier() async throws(StoreFailure)
}

/// What came of writing a shadow.
package enum ShadowCreation: Sendable {
    case started
    case tooManyActive
    case lostRace
}
