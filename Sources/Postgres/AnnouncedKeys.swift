package import Countersign
internal import Evidence

/// The keys with which the service signs, each of which evidence tells once.
package struct AnnouncedKeys: Sendable {
    /// What a key signs.
    package enum Use: Sendable {
        case checkpoints
        case promises
    }

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
    /// - Parameters:
    ///   - keys: Verifier keys, as C2SP signed-note writes them.
    ///   - use: What they sign.
    /// - Throws: ``StoreFailure``.
    package func announce(_ keys: [String], for use: Use) async throws(StoreFailure) {
        for key in keys {
            let isKnown = try await database.query(use.isKnown, [.text(key)]) {
                rows throws(PostgresError) in try rows.single() != nil
            }
            if isKnown { continue }
            let evidence = try await service.seal([use.draft(key)])
            try await database.query(use.announce, [.text(key), .json(evidence)])
        }
    }
}

extension AnnouncedKeys.Use {
    fileprivate var isKnown: Statement {
        switch self {
        case .checkpoints: .logKeyIsKnown
        case .promises: .promiseKeyIsKnown
        }
    }

    fileprivate var announce: Statement {
        switch self {
        case .checkpoints: .announceLogKey
        case .promises: .announcePromiseKey
        }
    }

    fileprivate func draft(_ key: String) -> EvidenceDraft {
        switch self {
        case .checkpoints: ServiceEvidence.logKey(key)
        case .promises: ServiceEvidence.promiseKey(key)
        }
    }
}
