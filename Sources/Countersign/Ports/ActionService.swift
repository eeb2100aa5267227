/// What the API offers about actions; the adapter that speaks HTTP knows nothing else of them.
///
/// Every call throws ``StoreFailure``, after which the same call may be made again.
package protocol ActionService: ActionReader {
    /// Stores an action with its first challenge, once for each idempotency key of a client.
    func create(_ command: CreateActionCommand) async throws(StoreFailure) -> CreationOutcome
    /// Issues another challenge; the earlier one is dead.
    func issueChallenge(for action: ID<Action>) async throws(StoreFailure) -> ChallengeOutcome
    /// Approves or rejects an action.
    func decide(_ command: DecideCommand) async throws(StoreFailure) -> DecisionOutcome
    /// Cancels an action that is pending, or approved and never sent to core banking.
    func cancel(_ action: ID<Action>, reason: String) async throws(StoreFailure) -> CancelOutcome
}
