/// What removing payees and recovering customers needs from the database.
package protocol CustomerStore: Sendable {
    /// Reads what removing a payee looks at; `nil` when the customer has no such payee.
    func loadForRemoval(
        of payee: ID<Payee>, from customer: CustomerID
    ) async throws(StoreFailure) -> PayeeRemovalContext?

    /// Removes a payee with its evidence.
    ///
    /// - Returns: `false` for a lost race.
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func remove(
        _ command: RemovePayeeCommand, on context: PayeeRemovalContext
    ) async throws(StoreFailure) -> Bool

    /// Reads, in one round trip and without locks, all that a recovery ends; `nil` for an unknown
    /// customer.
    func loadForRecovery(of customer: CustomerID) async throws(StoreFailure) -> RecoveryContext?

    /// Recovers a customer in one transaction that compares and swaps everything that `context` holds,
    /// and spends the token.
    ///
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func recover(
        _ recovery: Recovery, on context: RecoveryContext
    ) async throws(StoreFailure) -> RecoveryResult

    /// Records a recovery that nobody entitled asked for.
    func record(
        _ fault: AuthorizationFault, of command: RecoverCustomerCommand, on context: RecoveryContext
    ) async throws(StoreFailure)

    /// Commits a write of its own, so that everything read before it is as durable as this commit.
    func barrier() async throws(StoreFailure)
}

/// What came of writing a recovery.
package enum RecoveryResult: Sendable {
    case recovered
    /// Something that it was based on has changed: load again. Nothing was written.
    case lostRace
    /// The token was used before. Nothing was written.
    case tokenSpent
}

extension CustomerStore {
    /// After a lost answer to a commit: waits for what that commit waits for, so that reading again
    /// tells what became of it.
    func settle() async throws(StoreFailure) {
        do throws(StoreFailure) { try await barrier() } catch { throw .outcomeUnknown }
    }
}
