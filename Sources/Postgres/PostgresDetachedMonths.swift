package import Countersign
package import Evidence

/// Reads which months of evidence were detached, and what of them is still known here.
package struct PostgresDetachedMonths: Sendable {
    private let database: Database
    private let keyEncryption: KeyEncryptionKey

    /// Leaf hashes that are looked for together.
    private static let page = 10_000

    /// - Parameters:
    ///   - database: As the role `countersign_auditor` or `countersign_service`.
    ///   - keyEncryption: Opens the records that tell of it.
    package init(database: Database, keyEncryption: KeyEncryptionKey) {
        self.database = database
        self.keyEncryption = keyEncryption
    }

    /// The months that records in the log name as detached.
    ///
    /// - Throws: ``StoreFailure``.
    package func months() async throws(StoreFailure) -> DetachedMonths {
        let records = try await database.query(.detachedEvidence) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try StoredEvidence(row) }
        }
        return DetachedMonths(reading: records, with: keyEncryption)
    }

    /// What is kept of a month, to be compared with what its detaching says.
    ///
    /// - Throws: ``StoreFailure``.
    package func kept(
        of month: String
    ) async throws(StoreFailure) -> ServiceEvidence.DetachedMonth.Kept {
        try await database.query(.evidenceKeptOf, [.text(month + "-01")]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("kept") }
            return ServiceEvidence.DetachedMonth.Kept(
                records: try row["kept"], digest: try row["kept_digest"])
        }
    }

    /// How many records are kept of all months.
    ///
    /// - Throws: ``StoreFailure``.
    package func kept() async throws(StoreFailure) -> Int64 {
        try await database.query(.countKept) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("kept") }
            return try row["kept"]
        }
    }

    /// Of some leaf hashes, in hexadecimal, those that stand in the log at a position of a detached month.
    ///
    /// - Throws: ``StoreFailure``.
    package func leaves(
        _ hashes: Set<String>, of months: DetachedMonths
    ) async throws(StoreFailure) -> Set<String> {
        guard let end = months.end, let last = months.lastPosition else { return [] }
        var found: Set<String> = []
        var rest = hashes.sorted()[...]
        while !rest.isEmpty {
            let page = rest.prefix(Self.page).map(Optional.some)
            rest = rest.dropFirst(Self.page)
            let known = try await database.query(
                .detachedLeaves, [.text(end), .int64(last), .textArray(page)]
            ) { rows throws(PostgresError) in
                try rows.map { row throws(PostgresError) -> String in try row["leaf_hash"] }
            }
            found.formUnion(known)
        }
        return found
    }
}
