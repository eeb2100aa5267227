/// A request to remove a payee.
package struct RemovePayeeCommand: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    package let customerID: CustomerID
    package let payee: ID<Payee>

    package init(client: ID<Client>, customerID: CustomerID, payee: ID<Payee>) {
        self.client = client
        self.customerID = customerID
        self.payee = payee
    }
}

/// What was read to remove a payee.
package struct PayeeRemovalContext: Sendable {
    package let at: Instant
    package let customer: CustomerVersion
    package let identity: PayeeIdentity
    package let isRemoved: Bool

    package init(
        at: Instant, customer: CustomerVersion, identity: PayeeIdentity, isRemoved: Bool
    ) {
        self.at = at
        self.customer = customer
        self.identity = identity
        self.isRemoved = isRemoved
    }
}

/// Takes a payee away. Confirmed again it begins anew, with its hold and all limits of a new one.
package struct RemovePayee<Store: CustomerStore>: Sendable {
    private let store: Store

    /// As for ``DecideAction``.
    private static var racesMax: Int { 100 }

    package init(store: Store) { self.store = store }

    /// Removes a payee; one that is removed already stays so.
    ///
    /// - Returns: `false` when the customer has no such payee.
    /// - Throws: ``StoreFailure``; asking again is safe.
    package func callAsFunction(_ command: RemovePayeeCommand) async throws(StoreFailure) -> Bool {
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.loadForRemoval(
                    of: command.payee, from: command.customerID)
            else { return false }
            if context.isRemoved {
                // What is answered again must be durable: the row may be visible before it is.
                try await store.barrier()
                return true
            }
            do throws(StoreFailure) {
                if try await store.remove(command, on: context) { return true }
            } catch .outcomeUnknown {
                try await store.settle()
            }
        }
        throw .unavailable
    }
}
