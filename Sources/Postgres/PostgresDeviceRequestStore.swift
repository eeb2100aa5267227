package import Countersign
package import Evidence

/// Keeps what signed requests need in Postgres.
///
/// Every write is one call of a function in `sql/migrations/V0010_device_requests.sql`, which is one
/// transaction.
package struct PostgresDeviceRequestStore: DeviceRequestStore {
    private let database: Database
    private let sealer: EvidenceSealer

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - sealer: Makes the evidence of replays and of changes of mode.
    package init(database: Database, sealer: EvidenceSealer) {
        self.database = database
        self.sealer = sealer
    }

    package func load(
        _ lookup: DeviceRequestLookup
    ) async throws(StoreFailure) -> DeviceRequestContext {
        try await database.query(
            .loadDeviceRequest,
            [.id(lookup.credential), .text(lookup.nonce), .text(lookup.customerID?.text)]
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("now") }
            return try DeviceRequestContext(row)
        }
    }

    package func remember(
        _ signature: RequestSignature, as call: ID<DeviceRequest>
    ) async throws(StoreFailure) -> Bool {
        try await database.succeeded(
            "accepted", .acceptDeviceRequest,
            [
                .id(signature.credential), .text(signature.nonce), .id(call),
                .int64(signature.timestamp),
            ])
    }

    package func record(
        _ replay: ReplayedRequest, by claimed: ClaimedCredential, at: Instant
    ) async throws(StoreFailure) -> Bool {
        let evidence = try seal(DeviceRequestEvidence.replayed(replay, by: claimed), claimed, at)
        return try await database.succeeded(
            "recorded", .recordDeviceRequestReplay,
            [
                .id(claimed.customer.subject), .id(claimed.registered.id),
                .int(claimed.head.length), .text(replay.signature.nonce), .json(evidence),
            ])
    }

    package func set(
        _ command: SetRequestSigningCommand, on claimed: ClaimedCredential, at: Instant
    ) async throws(StoreFailure) -> Bool {
        let evidence = try seal(
            DeviceRequestEvidence.configured(command, from: claimed.choice), claimed, at)
        return try await database.succeeded(
            "set", .setRequestSigning,
            [
                .id(claimed.customer.subject), .id(claimed.registered.id),
                .int(claimed.head.length), .text(command.choice.own?.rawValue), .json(evidence),
            ])
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }

    private func seal(
        _ draft: EvidenceDraft, _ claimed: ClaimedCredential, _ at: Instant
    ) throws(StoreFailure) -> Bytes {
        try sealer.records(
            [draft], subject: claimed.customer.subject, wrappedKey: claimed.customer.wrappedKey,
            at: at, heads: ChainHeads(credentials: [claimed.registered.id: claimed.head])
        ).json
    }
}
