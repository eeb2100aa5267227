package import Countersign
package import Evidence

/// Makes bundles: all that a stranger needs to verify one decision, from the database and the log.
package struct PostgresBundles: Sendable {
    private let database: Database
    private let keyEncryption: KeyEncryptionKey
    private let reader: PostgresLogReader

    /// - Parameters:
    ///   - database: As the role `countersign_service` or `countersign_auditor`.
    ///   - keyEncryption: Unwraps the customers' data keys.
    package init(database: Database, keyEncryption: KeyEncryptionKey) {
        self.database = database
        self.keyEncryption = keyEncryption
        reader = PostgresLogReader(database: database)
    }

    /// The bundle of the action that a record is about.
    ///
    /// - Parameter evidence: Any record of the action.
    /// - Returns: The file, or why there is none.
    /// - Throws: ``StoreFailure``, also when a record that it needs is gone and its month was not detached; ``StoreFailure/unavailable`` while one of its records has no position in a
    ///   published checkpoint, which takes about a second.
    package func bundle(
        of evidence: ID<Countersign.Evidence>
    ) async throws(StoreFailure) -> BundleOutcome {
        let found = try await database.query(.bundleRecords, [.id(evidence)]) {
            rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in
                (position: try row["position"] as Int64?, record: try StoredEvidence(row))
            }
        }
        var records: [EvidenceBundle.Record] = []
        for (position, record) in found {
            guard let role = EvidenceKind(rawValue: record.kind).flatMap(BundleRole.init) else {
                continue
            }
            guard let position else { throw .unavailable }
            records.append(
                EvidenceBundle.Record(
                    role: role, position: position, leaf: record.leaf, body: try opened(record)))
        }
        guard let decision = records.first(where: \.role.isDecision) else {
            return try await detached(evidence).isDetached ? .detached(kind: nil) : .notFound
        }
        var roles: Set<BundleRole> = []
        let chosen = records.filter { $0.isOf(decision) && roles.insert($0.role).inserted }
        if let missing = decision.needed.first(where: { !roles.contains($0) }) {
            guard try await detached(evidence).anyMonth else {
                throw .internalFailure(code: "bundle")
            }
            return .detached(kind: missing.kind.rawValue)
        }
        return .bundle(try await bundle(chosen))
    }

    /// Whether a record is in a month that was detached, and whether there is any such month.
    private func detached(
        _ evidence: ID<Countersign.Evidence>
    ) async throws(StoreFailure) -> (isDetached: Bool, anyMonth: Bool) {
        try await database.query(.isEvidenceDetached, [.id(evidence)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("is_detached") }
            return (try row["is_detached"], try row["any_month"])
        }
    }

    /// A body that is there and cannot be opened was not erased.
    private func opened(
        _ record: StoredEvidence
    ) throws(StoreFailure) -> EvidenceBundle.OpenedBody? {
        guard let sealed = record.body else { return nil }
        guard let body = record.openBody(with: keyEncryption) else {
            throw .internalFailure(code: "body")
        }
        return EvidenceBundle.OpenedBody(salt: sealed.salt, bytes: body)
    }

    private func bundle(
        _ records: [EvidenceBundle.Record]
    ) async throws(StoreFailure) -> Bytes {
        let positions = records.map(\.position)
        guard let checkpoint = try await checkpoint(after: positions.max() ?? 0) else {
            throw .unavailable
        }
        let tiles = try await reader.tiles(
            EvidenceBundle.tiles(for: positions, in: checkpoint.size))
        let bundle = EvidenceBundle(
            records, timestamps: checkpoint.timestamps, checkpoint: checkpoint.note,
            from: { tiles[$0] })
        guard let bundle else { throw .internalFailure(code: "bundle") }
        return bundle.encoded
    }

    private struct StampedCheckpoint: Sendable {
        let size: Int64
        let note: SignedNote
        let timestamps: [Bytes]
    }

    private func checkpoint(
        after position: Int64
    ) async throws(StoreFailure) -> StampedCheckpoint? {
        try await database.query(.bundleCheckpoint, [.int64(position)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            let note: Bytes = try row["note"]
            let cosignatures: String = try row["cosignatures"]
            guard let signed = SignedNote(decoding: note + Bytes(cosignatures.utf8)) else {
                throw .malformedColumn("note")
            }
            return StampedCheckpoint(
                size: try row["size"], note: signed,
                timestamps: try row.list("timestamps") { Hex.decode($0) })
        }
    }
}

extension EvidenceBundle.Record {
    /// What a bundle of this decision must hold beside it, or nobody can verify it.
    fileprivate var needed: [BundleRole] {
        let leaf = EvidenceLeaf(decoding: leaf)
        return [.created] + (leaf?.credential == nil ? [] : [.enrolled])
            + (leaf?.policy == nil ? [] : [.policy])
    }

    /// Whether it belongs to a decision: of the publications of one document, that of the version that
    /// decided. A decision without a body does not say which, and takes the first.
    fileprivate func isOf(_ decision: Self) -> Bool {
        guard role == .policy, let decided = decision.body.flatMap({ JSON(recorded: $0.bytes) }),
            let published = body.flatMap({ JSON(recorded: $0.bytes) })
        else { return true }
        return published["version"] == decided["policy"]?["version"]
    }
}
