/// The events that the receiver does not have yet, batch by batch.
///
/// One batch is under way at a time, whatever the number of instances, and the next one is given out only
/// when it has arrived. So nothing is skipped and nothing overtakes.
package protocol EventPushQueue: Sendable {
    /// Takes the batch that is due, under a lease of its own.
    ///
    /// A batch that did not arrive comes again with the same events.
    ///
    /// - Parameters:
    ///   - limit: The most events of a batch that is not begun yet; 1 to 100.
    ///   - lease: How long nobody else gets it.
    /// - Returns: What waits, and the batch when one is due.
    /// - Throws: ``StoreFailure``.
    func claim(
        limit: Int, lease: Seconds
    ) async throws(StoreFailure) -> EventPushStanding

    /// Records what came of a batch.
    ///
    /// - Returns: `false` when the lease was lost; then nothing was recorded.
    /// - Throws: ``StoreFailure``.
    func settle(
        _ batch: EventBatch, _ outcome: EventPushOutcome
    ) async throws(StoreFailure) -> Bool
}

/// How far the feed was sent.
package struct EventPushStanding: Sendable {
    /// Events that have not arrived.
    package let waiting: Int
    /// How old the first of them is; zero when there is none.
    package let lag: Seconds
    /// The batch that is to be sent now; `nil` when none is due, or somebody else has it.
    package let batch: EventBatch?

    package init(waiting: Int, lag: Seconds, batch: EventBatch?) {
        self.waiting = waiting
        self.lag = lag
        self.batch = batch
    }
}

/// Events that are sent together.
package struct EventBatch: Sendable {
    /// At least one event.
    package let page: EventPage
    package let lease: ID<Lease>
    /// From 1.
    package let attempt: Int
    /// The database's time of the claim.
    package let claimedAt: Instant

    package init(page: EventPage, lease: ID<Lease>, attempt: Int, claimedAt: Instant) {
        self.page = page
        self.lease = lease
        self.attempt = attempt
        self.claimedAt = claimedAt
    }

    /// The first and the last place, the same whenever these events are sent.
    package var id: String {
        "\(page.events.first?.place.text ?? "")-\(page.next.text)"
    }
}

/// What came of sending a batch.
package enum EventPushOutcome: Equatable, Sendable {
    case arrived
    /// The same batch is due again after `after`.
    case retry(after: Seconds, cause: UnsettledCause)
}
