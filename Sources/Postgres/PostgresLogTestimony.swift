package import Countersign
package import Evidence

/// What others say of checkpoints: what is shown to them, and where their words are kept.
package struct PostgresLogTestimony: Sendable {
    private let database: Database

    /// - Parameter database: As the role `countersign_service`.
    package init(database: Database) { self.database = database }

    /// A checkpoint that may be shown to anybody.
    package struct Published: Hashable, Sendable {
        package let size: Int64
        /// With the log's own signatures alone.
        package let note: SignedNote
        /// The note byte for byte.
        package let encoded: Bytes
    }

    /// The newest checkpoint that may leave the service.
    ///
    /// - Returns: `nil` before the first.
    /// - Throws: ``StoreFailure``.
    package func published() async throws(StoreFailure) -> Published? {
        try await database.query(.publishedNote) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try Self.published(row, of: try row["size"])
        }
    }

    /// The checkpoint of a size that was published.
    ///
    /// - Returns: `nil` when there is none.
    /// - Throws: ``StoreFailure``.
    package func published(of size: Int64) async throws(StoreFailure) -> Published? {
        try await database.query(.publishedCheckpointOfSize, [.int64(size)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try Self.published(row, of: size)
        }
    }

    private static func published(_ row: Row, of size: Int64) throws(PostgresError) -> Published {
        let bytes: Bytes = try row["note"]
        // Whoever edited the row has nothing shown to anybody.
        guard let note = SignedNote(decoding: bytes), Checkpoint(text: note.text)?.size == size
        else { throw .malformedColumn("note") }
        return Published(size: size, note: note, encoded: bytes)
    }

    /// The hashes that show that the log of one size is the beginning of the log of another one.
    ///
    /// - Returns: `nil` when the log has not so many tiles.
    /// - Throws: ``StoreFailure``.
    package func consistency(
        from old: Int64, to new: Int64
    ) async throws(StoreFailure) -> [Digest]? {
        try await PostgresLogReader(database: database).consistency(from: old, to: new)
    }

    /// Keeps a cosignature that was verified; the same one again changes nothing.
    ///
    /// - Parameters:
    ///   - line: The signature line, with its line feed.
    ///   - size: Of the checkpoint, which was published.
    ///   - witness: As the policy calls it.
    ///   - instant: The time in the cosignature.
    /// - Throws: ``StoreFailure``.
    package func record(
        cosignature line: Bytes, of size: Int64, by witness: String, at instant: Instant
    ) async throws(StoreFailure) {
        try await database.query(
            .recordCosignature,
            [
                .int64(size), .text(witness), .instant(instant),
                .text(String(decoding: line, as: UTF8.self)),
            ])
    }

    /// Notes that a checkpoint has the cosignatures that the policy asks for, so that it is the one to show.
    ///
    /// - Parameter size: Of the checkpoint, which was published.
    /// - Throws: ``StoreFailure``.
    package func recordQuorum(of size: Int64) async throws(StoreFailure) {
        try await database.query(.recordQuorum, [.int64(size)])
    }

    /// Keeps a timestamp that was verified; of one authority and checkpoint the first stays.
    ///
    /// - Parameters:
    ///   - response: The TimeStampResp.
    ///   - size: Of the checkpoint, which was published.
    ///   - authority: As it is called.
    ///   - instant: The time in the timestamp.
    /// - Throws: ``StoreFailure``.
    package func record(
        timestamp response: Bytes, of size: Int64, by authority: String, at instant: Instant
    ) async throws(StoreFailure) {
        try await database.query(
            .recordTimestamp,
            [.int64(size), .text(authority), .instant(instant), .bytes(response)])
    }

    /// The newest timestamp that is kept of each authority.
    ///
    /// - Throws: ``StoreFailure``.
    package func timestamped() async throws(StoreFailure) -> [String: (size: Int64, at: Instant)] {
        try await database.query(.logTimestamped) { rows throws(PostgresError) in
            var newest: [String: (size: Int64, at: Instant)] = [:]
            for row in rows {
                newest[try row["authority"]] = (try row["size"], try row["stamped_at"])
            }
            return newest
        }
    }
}
