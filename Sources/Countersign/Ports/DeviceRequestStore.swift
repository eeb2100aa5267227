/// What judging signed requests needs from the database.
package protocol DeviceRequestStore: Sendable {
    /// Reads, in one round trip and without locks, all that is looked at.
    func load(_ lookup: DeviceRequestLookup) async throws(StoreFailure) -> DeviceRequestContext

    /// Accepts a request by remembering its nonce, if its credential is still active, its time still
    /// within the window, and the nonce not used.
    ///
    /// - Returns: `false` for a lost race: one of these does not hold any more.
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func remember(
        _ signature: RequestSignature, as call: ID<DeviceRequest>
    ) async throws(StoreFailure) -> Bool

    /// Records the first replay of an accepted request.
    ///
    /// - Returns: `false` for a lost race.
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func record(
        _ replay: ReplayedRequest, by claimed: ClaimedCredential, at: Instant
    ) async throws(StoreFailure) -> Bool

    /// Sets a credential's mode, with its evidence.
    ///
    /// - Returns: `false` for a lost race.
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func set(
        _ command: SetRequestSigningCommand, on claimed: ClaimedCredential, at: Instant
    ) async throws(StoreFailure) -> Bool

    /// Commits a write of its own, so that everything read before it is as durable as this commit.
    func barrier() async throws(StoreFailure)
}

/// By what a load finds things. Only what is of its strict form is ever looked up.
package struct DeviceRequestLookup: Hashable, Sendable {
    package let credential: ID<Credential>?
    /// `nil` when the request's fields are not all of their form: then its nonce does not matter.
    package let nonce: String?
    /// Whom the backend named.
    package let customerID: CustomerID?

    package init(_ request: DeviceRequest) {
        credential = RequestSignature.credential(request.fields)
        customerID = request.customerID
        do throws(DeviceRequestRefusal) {
            nonce = try RequestSignature(request.fields).nonce
        } catch { nonce = nil }
    }

    package init(credential: ID<Credential>) {
        self.credential = credential
        nonce = nil
        customerID = nil
    }
}
