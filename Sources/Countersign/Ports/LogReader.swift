/// Hands out the public log, byte for byte, in the layout of C2SP tlog-tiles.
package protocol LogReader: Sendable {
    /// The newest published checkpoint, a signed note.
    ///
    /// - Returns: `nil` before the first.
    /// - Throws: ``StoreFailure``.
    func checkpoint() async throws(StoreFailure) -> Bytes?

    /// What stands at a path below the log.
    ///
    /// - Parameter path: Such as `tile/0/x001/234` or `tile/entries/005.p/17`.
    /// - Returns: `nil` when nothing stands there.
    /// - Throws: ``StoreFailure``.
    func resource(_ path: String) async throws(StoreFailure) -> Bytes?
}
