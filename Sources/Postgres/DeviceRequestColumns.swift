import Countersign

extension DeviceRequestContext {
    /// Reads a row of `load_device_request`.
    init(_ row: Row) throws(PostgresError) {
        self.init(
            at: try row["now"], claimed: try ClaimedCredential(loaded: row),
            customerEnforces: try row["customer_enforces"])
    }
}

extension ClaimedCredential {
    /// `nil` when there is no such credential.
    fileprivate init?(loaded row: Row) throws(PostgresError) {
        guard let registered = try RegisteredCredential(loaded: row),
            let head = try ChainHead(ofCredential: row)
        else { return nil }
        self.init(
            registered: registered,
            customerID: try word("customer_id", row) { try? CustomerID($0) },
            status: try word("credential_status", row, RecordedCredential.Status.init),
            choice: try word("signing_mode", row, RequestModeChoice.init),
            earlier: try AcceptedRequest(loaded: row),
            replaysRecorded: try row["replays_recorded"], customer: try CustomerVersion(row),
            head: head)
    }
}

extension AcceptedRequest {
    /// `nil` when none with this nonce was accepted.
    fileprivate init?(loaded row: Row) throws(PostgresError) {
        guard let id: ID<DeviceRequest> = try row["request_id"] else { return nil }
        self.init(
            id: id, at: try row["request_seen_at"],
            replayIsRecorded: try row["replay_is_recorded"])
    }
}
