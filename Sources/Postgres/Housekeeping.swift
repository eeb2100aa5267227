package import Countersign
package import Evidence

/// What happens with time: expiry is written, holds end, old keys, nonces and decisions are forgotten,
/// months get partitions.
///
/// Any number of instances may run it; each step compares what it read, so only one of them writes.
package struct Housekeeping: Sendable {
    private let database: Database
    private let sealer: EvidenceSealer

    /// Actions in a row that cannot be had now, before the round is given up.
    private static let busyMax = 3

    /// Actions that are looked at together.
    package static var batchMax: Int { 100 }
    /// Rows of a kind that are forgotten in one transaction.
    package static var forgettingMax: Int { 5000 }

    package init(database: Database, sealer: EvidenceSealer) {
        self.database = database
        self.sealer = sealer
    }

    /// Writes what is due, those first that have waited longest.
    ///
    /// - Returns: How many actions changed.
    /// - Throws: ``StoreFailure``; the next round tries again.
    package func settleDueActions() async throws(StoreFailure) -> Int {
        var changed = 0
        var failure: StoreFailure?
        var busy = 0
        var place = DuePlace.start
        while true {
            let page = try await dueActions(after: place)
            for action in page {
                do throws(StoreFailure) {
                    switch action.change {
                    case .success(let action):
                        if try await settle(action) { changed += 1 }
                        busy = 0
                    case .failure(let error): throw StoreFailure(error)
                    }
                } catch {
                    // What is wrong with one customer's rows, or who holds them, stops nobody else's. But
                    // a database that does not answer does not answer the next one either.
                    if case .internalFailure = error { busy = 0 } else { busy += 1 }
                    guard busy < Self.busyMax else { throw error }
                    failure = failure ?? error
                }
            }
            guard page.count == Self.batchMax, let last = page.last, !Task.isCancelled else {
                break
            }
            // The next page starts behind this one, or what cannot be settled would stand before it.
            place = last.place
        }
        if let failure { throw failure }
        return changed
    }

    private func dueActions(
        after place: DuePlace
    ) async throws(StoreFailure) -> [(place: DuePlace, change: Result<DueAction, PostgresError>)] {
        try await database.run { connection throws(PostgresError) in
            let values: [Parameter] = [.int(Self.batchMax), .instant(place.at), .id(place.action)]
            return try connection.execute(.dueActions, values).map { row throws(PostgresError) in
                (
                    try DuePlace(row),
                    Result { () throws(PostgresError) in try DueAction(row) }
                )
            }
        }
    }

    /// Forgets old idempotency keys and makes the partitions of the months to come.
    package func tidy() async throws(StoreFailure) {
        try await database.run { connection throws(PostgresError) in
            _ = try connection.execute(.forgetIdempotency, [])
            _ = try connection.execute(.ensurePartitions, [])
        }
    }

    /// Forgets signed requests that can no longer be good, a batch at a time.
    ///
    /// - Returns: How many; when it is a whole batch, there may be more.
    /// - Throws: ``StoreFailure``; the next round tries again.
    package func forgetDeviceRequests() async throws(StoreFailure) -> Int {
        try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(
                .forgetDeviceRequests, [.int(Self.forgettingMax)])
            guard let row = try rows.single() else { throw .malformedColumn("forgotten") }
            return try row["forgotten"]
        }
    }

    /// Forgets decisions that dry runs look at, a batch of them, and of shadows that ended as long
    /// ago all verdicts, which are deleted a batch at a time.
    ///
    /// - Parameter days: How long they are kept; at least 30.
    /// - Throws: ``StoreFailure``; the next round tries again.
    package func forgetDecisions(keptFor days: Int) async throws(StoreFailure) {
        try await database.query(.forgetPolicyDecisions, [.int(days), .int(Self.forgettingMax)])
    }

    /// Whether the partition two months ahead is there, as `/readyz` demands.
    package func hasPartitions() async throws(StoreFailure) -> Bool {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.partitionExists, []).single() else {
                return false
            }
            return try row["present"]
        }
    }

    private func settle(_ due: DueAction) async throws(StoreFailure) -> Bool {
        let evidence = try sealer.records(
            [due.draft], subject: due.subject, wrappedKey: due.wrappedKey, at: due.at,
            heads: ChainHeads(actions: [due.id: due.head])
        ).json
        let status =
            switch due.change {
            case .expire:
                try await database.status(
                    .expireAction,
                    [.id(due.subject), .id(due.id), .int(due.head.length), .json(evidence)])
            case .release, .cancel:
                try await database.status(
                    .releaseAction,
                    [
                        .id(due.subject), .int64(due.customerVersion), .id(due.id),
                        .int(due.head.length), .bool(due.isCancelled), .json(evidence),
                    ])
            }
        return status != "lost_race"
    }
}

/// Where a page of due actions ends.
private struct DuePlace: Sendable {
    let at: Instant
    let action: ID<Action>

    /// Before everything: nothing was due before 1970.
    static let start = DuePlace(at: Instant(milliseconds: 0), action: ID(rawValue: 0))

    private init(at: Instant, action: ID<Action>) {
        self.at = at
        self.action = action
    }

    init(_ row: Row) throws(PostgresError) {
        self.init(at: try row["due_at"], action: try row["action_id"])
    }
}

/// An action whose time has come, and what that means for it.
private struct DueAction: Sendable {
    enum Change: Sendable {
        case expire(expiresAt: Instant)
        case release(Hold)
        /// Evaluated again at its release, and no longer allowed.
        case cancel(rule: String)
    }

    let id: ID<Action>
    let subject: ID<Subject>
    let customerVersion: Int64
    let wrappedKey: Bytes
    let head: ChainHead
    let at: Instant
    let change: Change

    init(_ row: Row) throws(PostgresError) {
        id = try row["action_id"]
        subject = try row["subject_id"]
        customerVersion = try row["customer_version"]
        wrappedKey = try row["wrapped"]
        head = ChainHead(length: try row["seq"], leafHash: try row["head"])
        at = try row["now"]
        if let hold = try ActionColumns.hold(row) {
            change = try DueAction.refusal(row, hold).map { .cancel(rule: $0) } ?? .release(hold)
        } else {
            change = .expire(expiresAt: try row["expires_at"])
        }
    }

    /// The rule by which a held action is no longer allowed at its release; `nil` when it still is.
    private static func refusal(_ row: Row, _ hold: Hold) throws(PostgresError) -> String? {
        if let rule = try HeldAction.againstRelease(row) { return rule }
        // Nobody has answered it, and its rule says what that means.
        return hold.end == .cancel ? "unanswered_\(hold.rule.rawValue)" : nil
    }

    var isCancelled: Bool {
        switch change {
        case .cancel: true
        case .expire, .release: false
        }
    }

    var draft: EvidenceDraft {
        switch change {
        case .expire(let expiresAt): ActionEvidence.expired(id, expiresAt: expiresAt)
        case .release(let hold): ActionEvidence.released(id, hold: hold)
        case .cancel(let rule): ActionEvidence.cancelled(id, reason: rule)
        }
    }
}
