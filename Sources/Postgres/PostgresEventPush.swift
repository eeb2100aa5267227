package import Countersign

/// Keeps how far the feed of events was sent, in the one row of `event_push`.
package struct PostgresEventPush: EventPushQueue {
    private let database: Database
    private let feed: PostgresEventFeed

    /// - Parameter database: As the role `countersign_service`.
    package init(database: Database) {
        self.database = database
        feed = PostgresEventFeed(database: database)
    }

    package func claim(
        limit: Int, lease: Seconds
    ) async throws(StoreFailure) -> EventPushStanding {
        try await feed.placeEvents()
        let claim = try await database.query(
            .claimEventPush, [.int(limit), .interval(lease)]
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("claimed_at") }
            return try Claimed(row)
        }
        return EventPushStanding(
            waiting: claim.waiting, lag: claim.lag, batch: try await batch(claim))
    }

    private func batch(_ claim: Claimed) async throws(StoreFailure) -> EventBatch? {
        guard let (lease, after, last) = claim.lease else { return nil }
        let events = try await feed.events(
            after: EventPlace(number: after), limit: Int(last - after))
        // Exactly these: a batch with a gap would skip what is missing for ever.
        guard let events, events.map(\.place.number) == Array(after + 1...last) else {
            throw .internalFailure(code: "event_batch")
        }
        return EventBatch(
            page: EventPage(events, after: EventPlace(number: after)), lease: lease,
            attempt: claim.attempt, claimedAt: claim.at)
    }

    package func settle(
        _ batch: EventBatch, _ outcome: EventPushOutcome
    ) async throws(StoreFailure) -> Bool {
        switch outcome {
        case .arrived: try await done(.settleEventPush, [.id(batch.lease)])
        case .retry(let after, _):
            try await done(.retryEventPush, [.id(batch.lease), .interval(after)])
        }
    }

    private func done(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> Bool {
        try await database.query(statement, parameters) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("done") }
            return try row["done"]
        }
    }
}

/// A row of `claim_event_push`.
private struct Claimed: Sendable {
    let at: Instant
    let waiting: Int
    let lag: Seconds
    let attempt: Int
    let lease: (token: ID<Lease>, after: Int64, last: Int64)?

    init(_ row: Row) throws(PostgresError) {
        let at: Instant = try row["claimed_at"]
        self.at = at
        waiting = try row["waiting"]
        let since: Instant? = try row["waiting_since"]
        lag = Seconds(since.map { max(0, at.milliseconds - $0.milliseconds) / 1000 } ?? 0)
        attempt = try row["attempt"]
        if let token: ID<Lease> = try row["lease_token"] {
            lease = (token, try row["after_place"], try row["last_place"])
        } else {
            lease = nil
        }
    }
}
