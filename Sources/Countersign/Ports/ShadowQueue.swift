/// Where the decisions come from that shadows have to decide, and where their verdicts go.
package protocol ShadowQueue: Sendable {
    /// The shadows that are not complete.
    func incomplete() async throws(StoreFailure) -> [EvaluatedShadow]

    /// Committed decisions without a verdict of this shadow, oldest first.
    ///
    /// - Parameters:
    ///   - shadow: Whose verdict they lack.
    ///   - limit: At most so many.
    ///   - reach: How far back they are looked for.
    /// - Returns: The decisions.
    /// - Throws: ``StoreFailure``.
    func undecided(
        by shadow: ID<Shadow>, limit: Int, reach: ShadowReach
    ) async throws(StoreFailure) -> [RecordedVerdict]

    /// Keeps verdicts; of several about one decision the first one.
    ///
    /// - Returns: The decisions of which they were new.
    /// - Throws: ``StoreFailure``.
    func record(
        _ verdicts: [ShadowVerdict], of shadow: ID<Shadow>
    ) async throws(StoreFailure) -> Set<ID<Evidence>>

    /// Tells the database that nothing undecided was found, so that it may move
    /// ``PolicyShadow/doneUntil``; it looks for itself first.
    func advance(_ shadow: ID<Shadow>) async throws(StoreFailure)
}

/// How far back a shadow looks for decisions, which matters while a transaction is open for long:
/// ``PolicyShadow/doneUntil`` waits for it.
package enum ShadowReach: Sendable {
    /// Everything since ``PolicyShadow/doneUntil``.
    case whole
    /// What was decided a minute before the newest verdict, or later, while one is waited for. A
    /// decision that is committed later than that is left to a whole look.
    case recent
}

/// A shadow that has decisions to decide, or will have some.
package struct EvaluatedShadow: Sendable {
    package let id: ID<Shadow>
    /// Its rules; `nil` for a document that this program cannot read.
    package let policy: Policy?

    package init(id: ID<Shadow>, policy: Policy?) {
        self.id = id
        self.policy = policy
    }
}
