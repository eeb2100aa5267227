package import Countersign
package import Evidence

/// Says whether promises of records were kept.
package struct PostgresPromises: Sendable {
    private let database: Database

    /// - Parameter database: As the role `countersign_auditor`.
    package init(database: Database) { self.database = database }

    /// What came of a promise.
    package enum Outcome: Hashable, Sendable {
        /// A published checkpoint has the record.
        case kept
        /// None has, and by the database's clock there is still time.
        case pending
        /// The time is over, and none has.
        case missing
        /// One has the record with another leaf.
        case altered
    }

    /// - Throws: ``StoreFailure``.
    package func outcome(of promise: RecordPromise) async throws(StoreFailure) -> Outcome {
        try await database.query(
            .promisedRecord, [.id(promise.evidence), .instant(promise.dueAt)]
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("leaf_hash") }
            let leafHash: Digest? = try row["leaf_hash"]
            if let leafHash { return leafHash == promise.leafHash ? .kept : .altered }
            let isDue: Bool = try row["is_due"]
            return isDue ? .missing : .pending
        }
    }
}
