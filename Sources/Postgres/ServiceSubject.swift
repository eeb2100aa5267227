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

    /// Whose key encrypts what the service tells of a customer, so that it goes with the customer.
    struct BodyKey: Sendable {
        let subject: ID<Subject>
        let wrapped: Bytes
    }

    /// Seals drafts of the service itself at the database's time.
    ///
    /// - Parameters:
    ///   - drafts: What to record.
    ///   - owner: Whose the bodies are; `nil` for the service's own.
    /// - Returns: The records as the database's functions take them.
    /// - Throws: ``StoreFailure``.
    func seal(
        _ drafts: [EvidenceDraft], keptBy owner: BodyKey? = nil
    ) async throws(StoreFailure) -> Bytes {
        let (wrapped, at) = try await key()
        return try seal(drafts, owner, wrapped, at)
    }

    /// Seals drafts as ``seal(_:keptBy:)`` does, for whoever needs to know their IDs.
    ///
    /// - Throws: ``StoreFailure``.
    func records(_ drafts: [EvidenceDraft]) async throws(StoreFailure) -> [SealedEvidence] {
        let (wrapped, at) = try await key()
        return try sealer.records(
            drafts, subject: EvidenceSealer.serviceSubject, wrappedKey: wrapped, at: at,
            heads: ChainHeads())
    }

    /// The database's time.
    ///
    /// - Throws: ``StoreFailure``.
    func now() async throws(StoreFailure) -> Instant { try await key().at }

    /// Seals drafts of the service itself about a customer's action, and after them some on that action's
    /// chain, of one transaction. The bodies of both are the customer's.
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
        let owner = BodyKey(subject: subject, wrapped: wrappedKey)
        return (try seal(drafts, owner, wrapped, at), told)
    }

    private func seal(
        _ drafts: [EvidenceDraft], _ owner: BodyKey?, _ wrapped: Bytes, _ at: Instant
    ) throws(StoreFailure) -> Bytes {
        try sealer.records(
            drafts, subject: owner?.subject ?? EvidenceSealer.serviceSubject,
            wrappedKey: owner?.wrapped ?? wrapped, at: at, heads: ChainHeads(),
            toldOf: EvidenceSealer.serviceSubject
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
