package import Countersign
package import Evidence

/// Records events of the service itself, under the zero subject.
package struct ServiceSubject: Sendable {
    private let database: Database
    private let sealer: EvidenceSealer
    private let keyEncryption: KeyEncryptionKey
    private let entropy: EntropySource

    package init(
        database: Database, sealer: EvidenceSealer, keyEncryption: KeyEncryptionKey,
        entropy: EntropySource
    ) {
        self.database = database
        self.sealer = sealer
        self.keyEncryption = keyEncryption
        self.entropy = entropy
    }

    /// Seals drafts of the service itself at the database's time.
    ///
    /// - Throws: ``StoreFailure``.
    func seal(_ drafts: [EvidenceDraft]) async throws(StoreFailure) -> Bytes {
        let (wrapped, at) = try await key()
        return try seal(drafts, wrapped, at)
    }

    /// Seals drafts of the service itself, and after them some of a customer's action, of one transaction.
    ///
    /// - Throws: ``StoreFailure``.
    func seal(
        _ drafts: [EvidenceDraft], then others: [EvidenceDraft], of subject: ID<Subject>,
        wrappedKey: Bytes, heads: ChainHeads
    ) async throws(StoreFailure) -> (service: Bytes, action: Bytes) {
        let (wrapped, at) = try await key()
        let told = try sealer.records(
            others, subject: subject, wrappedKey: wrappedKey, at: at, heads: heads,
            after: drafts.count
        ).json
        return (try seal(drafts, wrapped, at), told)
    }

    private func seal(
        _ drafts: [EvidenceDraft], _ wrapped: Bytes, _ at: Instant
    ) throws(StoreFailure) -> Bytes {
        try sealer.records(
            drafts, subject: EvidenceSealer.serviceSubject, wrappedKey: wrapped, at: at,
            heads: ChainHeads()
        ).json
    }

    /// Records drafts by themselves.
    package func record(_ drafts: [EvidenceDraft]) async throws(StoreFailure) {
        guard !drafts.isEmpty else { return }
        let evidence = try await seal(drafts)
        try await database.run { connection throws(PostgresError) in
            _ = try connection.execute(.recordEvent, [.json(evidence)])
        }
    }

    private func key() async throws(StoreFailure) -> (wrapped: Bytes, at: Instant) {
        if let found = try await readKey() { return found }
        let wrapped = keyEncryption.wrapFreshKey(
            for: EvidenceSealer.serviceSubject, entropy: entropy)
        try await database.run { connection throws(PostgresError) in
            _ = try connection.execute(.ensureServiceSubject, [.bytes(wrapped)])
        }
        guard let found = try await readKey() else { throw .internalFailure(code: "service_key") }
        return found
    }

    private func readKey() async throws(StoreFailure) -> (wrapped: Bytes, at: Instant)? {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.readServiceKey, []).single() else {
                return nil
            }
            return (try row["wrapped"], try row["now"])
        }
    }
}
