/// What the API offers about signed requests; the adapter that speaks HTTP knows nothing else of them.
package protocol DeviceRequestService: Sendable {
    /// Judges a request that a phone signed, and remembers its nonce when it is good.
    ///
    /// - Returns: A verdict for everything that a phone may send.
    /// - Throws: ``StoreFailure``. After ``StoreFailure/outcomeUnknown`` the nonce may be spent: the
    ///   phone signs again with another one.
    func verify(_ request: DeviceRequest) async throws(StoreFailure) -> DeviceRequestAnswer

    /// How strictly a device key's requests are judged; `nil` when there is no such device key.
    func requestSigning(
        of credential: ID<Credential>
    ) async throws(StoreFailure) -> RequestSigning?

    /// Sets how strictly a device key's requests are judged. What is so already stays as it is.
    ///
    /// - Returns: How it then is; `nil` when there is no such device key.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func setRequestSigning(
        _ command: SetRequestSigningCommand
    ) async throws(StoreFailure) -> RequestSigning?
}
