/// What the API offers to core banking that fetches its orders itself instead of having them sent.
package protocol ExecutionService: Sendable {
    /// Leases orders that are due, and new keys that core banking has not noted.
    ///
    /// - Parameters:
    ///   - limit: At most this many of each.
    ///   - lease: How long nobody else gets them.
    /// - Returns: `nil` when orders are not for fetching in this installation.
    /// - Throws: ``StoreFailure``; what was leased meanwhile comes again when its lease is over.
    func lease(limit: Int, for lease: Seconds) async throws(StoreFailure) -> LeasedWork?

    /// Takes what core banking did with an order, once.
    func take(_ receipt: SubmittedReceipt) async throws(StoreFailure) -> ReceiptOutcome

    /// Takes note that core banking knows a new key.
    ///
    /// - Returns: `false` when the lease was lost, or there is no such announcement.
    func note(credential: ID<Credential>, lease: ID<Lease>) async throws(StoreFailure) -> Bool
}

/// What one call leased.
package struct LeasedWork: Sendable {
    /// When the leases end; `nil` when there is nothing.
    package let expiresAt: Instant?
    /// Documents of new keys.
    package let credentials: [LeasedDocument]
    package let orders: [LeasedDocument]

    package init(expiresAt: Instant?, credentials: [LeasedDocument], orders: [LeasedDocument]) {
        self.expiresAt = expiresAt
        self.credentials = credentials
        self.orders = orders
    }
}

/// One leased thing.
package struct LeasedDocument: Sendable {
    package let lease: ID<Lease>
    /// 1 for the first lease of it.
    package let attempt: Int
    /// Whether core banking is only asked what it did with it: then it must not be carried out now.
    package let isQuestion: Bool
    /// As it would have been sent.
    package let document: JSON

    package init(lease: ID<Lease>, attempt: Int, isQuestion: Bool, document: JSON) {
        self.lease = lease
        self.attempt = attempt
        self.isQuestion = isQuestion
        self.document = document
    }
}
