package import Countersign
internal import Evidence

/// The keys that have signed checkpoints of the log, each of which evidence tells once.
package struct LogKeys: Sendable {
    private let database: Database
    private let service: ServiceSubject

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - service: Records what the service does by itself.
    package init(database: Database, service: ServiceSubject) {
        self.database = database
        self.service = service
    }

    /// Records those keys that no record tells yet.
    ///
    /// - Parameter keys: Verifier keys, as C2SP signed-note writes them.
    /// - Throws: ``StoreFailure``.
    package func announce(_ keys: [String]) async throws(StoreFailure) {
        for key in keys {
            let isKnown = try await database.query(.logKeyIsKnown, [.text(key)]) {
                rows throws(PostgresError) in try rows.single() != nil
            }
            if isKnown { continue }
            let evidence = try await service.seal([ServiceEvidence.logKey(key)])
            try await database.query(.announceLogKey, [.text(key), .json(evidence)])
        }
    }
}
