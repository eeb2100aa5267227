/// The events that the receiver does not have yet, batch by batch.
///
/// One batch is under way at a time, whatever the number of instances, and the next one is given
/// out only when it has arrived. So nothing is skipped and nothing overtakes.
package protocol EventPushQueue: Sendable {
    /// Takes the batch that is due, under a lease of its own.
    ///
    /// A batch that did not arrive comes again with the same events.
    ///
    /// - Parameters:
    ///   - limit: The most events of a batch that is not begun yet; 1 to 100.
    ///   - lease: How long nobody else gets it.
    /// - Returns: What waits, and the claim when a batch is due.
    /// - Throws: ``StoreFailure``.
    func claim(
        limit: Int, lease: Seconds
    ) async throws(StoreFailure) -> EventPushStanding

    /// Reads what was claimed: by itself, so that what waits is known also when it cannot be read.
    ///
    /// - Throws: ``StoreFailure``; `event_batch` when an event of it is missing.
    func batch(_ claim: EventPushClaim) async throws(StoreFailure) -> EventBatch

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
    package let claim: EventPushClaim?

    package init(waiting: Int, lag: Seconds, claim: EventPushClaim?) {
        self.waiting = waiting
        self.lag = lag
        self.claim = claim
    }
}

/// The right to send a batch, for as long as the lease holds.
package struct EventPushClaim: Sendable {
    package let lease: ID<Lease>
    /// The batch begins behind this place.
    package let after: EventPlace
    /// Its last place, behind ``after``.
    package let last: EventPlace
    /// From 1.
    package let attempt: Int
    /// The database's time of the claim.
    package let at: Instant

    package init(
        lease: ID<Lease>, after: EventPlace, last: EventPlace, attempt: Int, at: Instant
    ) {
        precondition(after.number < last.number, "a batch has at least one event")
        self.lease = lease
        self.after = after
        self.last = last
        self.attempt = attempt
        self.at = at
    }

    /// How many events the batch has, at least one.
    package var count: Int { Int(last.number - after.number) }
}

/// Events that are sent together.
package struct EventBatch: Sendable {
    /// At least one event.
    package let page: EventPage
    package let claim: EventPushClaim
    /// The first and the last place, the same whenever these events are sent.
    package let id: String

    package init(page: EventPage, claim: EventPushClaim) {
        guard let first = page.events.first else {
            preconditionFailure("a batch has at least one event")
        }
        self.page = page
        self.claim = claim
        id = "\(first.place.text)-\(page.next.text)"
    }
}

/// What came of sending a batch.
package enum EventPushOutcome: Equatable, Sendable {
    case arrived
    /// The same batch is due again after `after`.
    case retry(after: Seconds, cause: UnsettledCause)
}
