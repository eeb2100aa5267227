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
        return try await database.query(
            .claimEventPush, [.int(limit), .interval(lease)]
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("claimed_at") }
            return try EventPushStanding(row)
        }
    }

    package func batch(_ claim: EventPushClaim) async throws(StoreFailure) -> EventBatch {
        let events = try await feed.events(after: claim.after, limit: claim.count)
        // Exactly these: a batch with a gap would skip what is missing for ever.
        guard let events,
            events.map(\.place.number) == Array(claim.after.number + 1...claim.last.number)
        else { throw .internalFailure(code: "event_batch") }
        return EventBatch(page: EventPage(events, after: claim.after), claim: claim)
    }

    package func settle(
        _ batch: EventBatch, _ outcome: EventPushOutcome
    ) async throws(StoreFailure) -> Bool {
        switch outcome {
        case .arrived: try await done(.settleEventPush, [.id(batch.claim.lease)])
        case .retry(let after, _):
            try await done(.retryEventPush, [.id(batch.claim.lease), .interval(after)])
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

extension EventPushStanding {
    /// Reads a row of `claim_event_push`.
    fileprivate init(_ row: Row) throws(PostgresError) {
        let at: Instant = try row["claimed_at"]
        let since: Instant? = try row["waiting_since"]
        var claim: EventPushClaim?
        if let lease: ID<Lease> = try row["lease_token"] {
            claim = EventPushClaim(
                lease: lease, after: EventPlace(number: try row["after_place"]),
                last: EventPlace(number: try row["last_place"]), attempt: try row["attempt"],
                at: at)
        }
        self.init(
            waiting: try row["waiting"],
            lag: Seconds(since.map { max(0, at.milliseconds - $0.milliseconds) / 1000 } ?? 0),
            claim: claim)
    }
}
