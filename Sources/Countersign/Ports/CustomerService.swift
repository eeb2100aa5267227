/// What the API offers about a customer beside actions and credentials.
///
/// Every call throws ``StoreFailure``, after which the same call may be made again.
package protocol CustomerService: Sendable {
    /// Removes a payee; one that is removed already stays so.
    ///
    /// - Returns: `false` when the customer has no such payee.
    func removePayee(_ command: RemovePayeeCommand) async throws(StoreFailure) -> Bool

    /// Ends all that the customer's keys were good for.
    func recover(_ command: RecoverCustomerCommand) async throws(StoreFailure) -> RecoveryOutcome
}

/// The use cases over one store.
package struct Customers<Store: CustomerStore>: CustomerService {
    private let removePayee: RemovePayee<Store>
    private let recover: RecoverCustomer<Store>

    /// As for ``RecoverCustomer``.
    package init(store: Store, identityToken: IdentityTokenReader?, rule: FirstEnrolmentRule) {
        removePayee = RemovePayee(store: store)
        recover = RecoverCustomer(store: store, identityToken: identityToken, rule: rule)
    }

    package func removePayee(_ command: RemovePayeeCommand) async throws(StoreFailure) -> Bool {
        try await removePayee.callAsFunction(command)
    }

    package func recover(
        _ command: RecoverCustomerCommand
    ) async throws(StoreFailure) -> RecoveryOutcome {
        try await recover.callAsFunction(command)
    }
}
