/// Work for core banking that it fetches itself; the same rows as those of a ``DeliveryQueue``.
package protocol PullQueue: DeliveryQueue {
    /// Leases up to `limit` orders that are due, and as many new keys, and commits. No order waits for
    /// its key to be noted, since both are told in one answer.
    func lease(
        limit: Int, for lease: Seconds
    ) async throws(StoreFailure) -> (announcements: [Claim], orders: [Claim])

    /// Settles the announcement of a key; `false` when the lease was lost.
    func note(
        _ credential: ID<Credential>, lease: ID<Lease>
    ) async throws(StoreFailure) -> Bool

    /// Reads where an order stands; `nil` when there is none.
    func receipt(of action: ID<Action>) async throws(StoreFailure) -> OrderStanding?

    /// Settles an order by its receipt, with its evidence and all that follows.
    ///
    /// - Returns: `false` when the lease was lost.
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func settle(_ submitted: SubmittedReceipt) async throws(StoreFailure) -> Bool

    /// Records that another receipt came for a settled order; the first one stays. The same one again
    /// is not recorded again.
    ///
    /// - Returns: `false` for a lost race.
    func record(
        contradiction submitted: SubmittedReceipt, of recorded: RecordedReceipt,
        on standing: OrderStanding
    ) async throws(StoreFailure) -> Bool

    /// Commits a write of its own, so that everything read before it is as durable as this commit.
    func barrier() async throws(StoreFailure)
}

/// Where an order stands.
package struct OrderStanding: Sendable {
    package let at: Instant
    package let subject: ID<Subject>
    /// The customer's data key, wrapped.
    package let wrappedKey: Bytes
    /// Where the chain of its action stands.
    package let head: ChainHead
    package let receipt: RecordedReceipt?

    package init(
        at: Instant, subject: ID<Subject>, wrappedKey: Bytes, head: ChainHead,
        receipt: RecordedReceipt?
    ) {
        self.at = at
        self.subject = subject
        self.wrappedKey = wrappedKey
        self.head = head
        self.receipt = receipt
    }
}
