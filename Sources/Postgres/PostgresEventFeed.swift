package import Countersign
import Evidence

/// Reads what the bank must tell its customers, as the writing transactions left it.
package struct PostgresEventFeed: EventFeed {
    private let database: Database

    /// Events that get their places in one transaction.
    private static var placingMax: Int { 1000 }

    /// - Parameter database: As the role `countersign_service`.
    package init(database: Database) { self.database = database }

    package func events(
        after place: EventPlace, limit: Int
    ) async throws(StoreFailure) -> [PlacedEvent]? {
        try await placeEvents()
        let found: [PlacedEvent]? = try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(.listEvents, [.int64(place.number), .int(limit)])
            guard let first = rows.first else { throw .malformedColumn("last_place") }
            let last: Int64 = try first["last_place"]
            guard place.number <= last else { return nil }
            guard place.number < last else { return [] }
            return try rows.map { row throws(PostgresError) in try PlacedEvent(row) }
        }
        // What is told must be durable: a row may be visible before it is, and its place be given to
        // another event after a failover.
        if let found, !found.isEmpty { try await database.barrier() }
        return found
    }

    /// Gives committed events their places.
    func placeEvents() async throws(StoreFailure) {
        try await database.query(.placeEvents, [.int(Self.placingMax)])
    }
}

extension PlacedEvent {
    fileprivate init(_ row: Row) throws(PostgresError) {
        let customer: String? = try row["customer_id"]
        let document: String = try row["document"]
        guard let json = JSON(recorded: Bytes(document.utf8)) else {
            throw .malformedColumn("document")
        }
        self.init(
            place: EventPlace(number: try row["position"]), id: try row["id"],
            kind: try row["kind"], at: try row["at"],
            customerID: customer.flatMap { try? CustomerID($0) }, actionID: try row["action_id"],
            credentialID: try row["credential_id"], credentialLabel: try row["label"],
            payeeID: try row["payee_id"], document: json)
    }
}
