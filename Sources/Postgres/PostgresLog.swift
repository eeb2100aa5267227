package import Countersign
package import Evidence

/// The writing half of the log: gives positions to what was recorded, and keeps tree and checkpoints.
///
/// Any number of instances may call it at once; the state's row is locked, and who read it in an older
/// snapshot fails. The lead only spares them that.
package struct PostgresLog: Sendable {
    private let database: Database
    private let origin: String

    /// - Parameters:
    ///   - database: As the role `countersign_service`, with one connection that nobody else uses: the lead
    ///     is held by the session that writes.
    ///   - origin: The log's name.
    package init(database: Database, origin: String) {
        self.database = database
        self.origin = origin
    }

    /// What ``advance(after:keys:_:)`` throws when nobody signed.
    package static let unsigned = StoreFailure.internalFailure(code: "CS012")
    /// What it throws when the stored log is not the one that was signed last.
    package static let altered = StoreFailure.internalFailure(code: "CS015")

    /// Which part this instance has.
    package enum Lead: String, Sendable {
        case follower, leader
        /// It leads from now on, and did not on this connection before.
        case new
    }

    /// One batch that was given positions.
    package struct Batch: Sendable {
        /// The size of the log with it.
        package let size: Int64
        /// How many records it holds.
        package let count: Int
        /// The time in the ID of the oldest of them; `nil` when it is empty.
        package let oldest: Instant?
        /// What was signed.
        package let checkpoint: Checkpoint
        /// It, signed.
        package let note: SignedNote
    }

    /// Tries to lead; the first call of a connection opens the log.
    ///
    /// - Throws: ``StoreFailure``.
    package func lead() async throws(StoreFailure) -> Lead {
        let lead = try await database.query(.leadLog) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("lead") }
            return try word("lead", row, Lead.init)
        }
        if lead == .new { try await database.query(.openLog, [.text(origin)]) }
        return lead
    }

    /// Gives positions to what has become visible since the last batch, in one transaction of one snapshot:
    /// to all of it, or to as much as is one batch.
    ///
    /// It fails on a session that does not lead. The connection may be another one than when ``lead()`` was asked, to
    /// another server: what is held outside was not compared with that one. And it fails with ``altered`` when the
    /// newest checkpoint is not that of the stored state, or not signed: whoever has the database but not the key
    /// shall not have the rest of it signed.
    ///
    /// - Parameters:
    ///   - last: The checkpoint that this session signed last, which must be the newest; `nil` for the first time.
    ///   - keys: Of which one must have signed the newest checkpoint.
    ///   - sign: Signs the checkpoint, on the thread of the connection, in at most some seconds; `nil` when it
    ///     cannot: then nothing changes.
    /// - Returns: What was written; `nil` when there was nothing to do.
    /// - Throws: ``StoreFailure``. After ``StoreFailure/outcomeUnknown`` the note may be stored or not: it
    ///   must not leave the process.
    package func advance(
        after last: Checkpoint? = nil, keys: [VerifierKey],
        _ sign: @escaping @Sendable (Checkpoint) -> SignedNote?
    ) async throws(StoreFailure) -> Batch? {
        let origin = origin
        return try await database.run { connection throws(PostgresError) in
            try Self.demandLead(connection)
            return try Self.advance(origin, connection, after: last, keys, sign)
        }
    }

    /// Does the same without the lead: for tests of what the database holds by itself.
    package func advanceUnled(
        keys: [VerifierKey], _ sign: @escaping @Sendable (Checkpoint) -> SignedNote?
    ) async throws(StoreFailure) -> Batch? {
        let origin = origin
        return try await database.run { connection throws(PostgresError) in
            try Self.advance(origin, connection, after: nil, keys, sign)
        }
    }

    private static func advance(
        _ origin: String, _ connection: borrowing Connection, after last: Checkpoint?,
        _ keys: [VerifierKey], _ sign: (Checkpoint) -> SignedNote?
    ) throws(PostgresError) -> Batch? {
        // An idle log costs a read, and no commit.
        guard let due = try connection.execute(.logIsDue).single() else {
            throw .malformedColumn("is_due")
        }
        guard try due["is_due"] else { return nil }
        return try connection.transaction { connection throws(PostgresError) in
            _ = try connection.execute(.oneSnapshot)
            _ = try connection.execute(.patientTransaction)
            guard let row = try connection.execute(.lockLog).single() else {
                throw .malformedColumn("size")
            }
            let edge = try LogEdge.read(row)
            guard try row["origin"] == origin else { throw .malformedColumn("origin") }
            let note: Bytes? = try row["note"]
            let stored = Checkpoint(origin: origin, size: edge.size, root: edge.root)
            guard last == nil || last == stored, try row["root"] == stored.root,
                isSigned(stored, by: note, keys)
            else { throw .raised(sqlState: "CS015") }
            let rows = try connection.execute(.logBatch)
            guard rows.count > 0 || note == nil else { return nil }
            return try append(rows, to: edge, of: origin, connection, sign)
        }
    }

    /// Whether the newest checkpoint says what is stored, and is signed. Of a log without leaves there may be none.
    private static func isSigned(
        _ stored: Checkpoint, by note: Bytes?, _ keys: [VerifierKey]
    ) -> Bool {
        guard let note else { return stored.size == 0 }
        guard let note = SignedNote(decoding: note), note.text == stored.text else { return false }
        return keys.contains { $0.verifies(note) }
    }

    private static func demandLead(
        _ connection: borrowing Connection
    ) throws(PostgresError) {
        guard let row = try connection.execute(.leadsLog).single(), try row["leads"] else {
            throw .raised(sqlState: "CS013")
        }
    }

    private static func append(
        _ rows: Rows, to old: TreeEdge, of origin: String, _ connection: borrowing Connection,
        _ sign: (Checkpoint) -> SignedNote?
    ) throws(PostgresError) -> Batch? {
        var hashes: [Digest] = []
        hashes.reserveCapacity(rows.count)
        var oldest: Instant?
        for row in rows {
            let id: ID<Countersign.Evidence> = try row["evidence_id"]
            oldest = min(oldest ?? id.instant, id.instant)
            hashes.append(try row["leaf_hash"])
        }
        var edge = old
        let tiles = edge.append(hashes)
        let checkpoint = Checkpoint(origin: origin, size: edge.size, root: edge.root)
        guard let note = sign(checkpoint) else { throw .raised(sqlState: "CS012") }
        _ = try connection.execute(
            .advanceLog,
            [
                .int64(old.size), .int64(edge.size), .digest(checkpoint.root),
                .textArray(LogEdge.text(edge)), .int64Array(tiles.map { Int64($0.place.level) }),
                .int64Array(tiles.map(\.place.index)),
                .textArray(tiles.map { Hex.encode($0.bytes) }), .bytes(note.encoded),
            ])
        return Batch(
            size: edge.size, count: hashes.count, oldest: oldest, checkpoint: checkpoint, note: note
        )
    }

    /// Lets the newest checkpoint leave the service, also when it is another's whose answer was lost. It was
    /// committed before this began, so the acknowledged commit of this covers it.
    ///
    /// - Throws: ``StoreFailure``.
    package func publishNewest() async throws(StoreFailure) {
        try await database.run { connection throws(PostgresError) in
            try Self.demandLead(connection)
            _ = try connection.execute(.publishNewestLog)
        }
    }

    /// Gives the lead up, so that another instance may try.
    ///
    /// - Throws: ``StoreFailure``.
    package func giveUpLead() async throws(StoreFailure) {
        try await database.query(.giveUpLog)
    }

    /// Lets a batch's checkpoint leave the service, after its commit was acknowledged.
    ///
    /// - Throws: ``StoreFailure``. It does nothing where that checkpoint is not stored.
    package func publish(_ batch: Batch) async throws(StoreFailure) {
        try await database.query(
            .publishLog, [.int64(batch.size), .bytes(batch.note.encoded)])
    }

    /// Whether the log holds exactly this note: what others hold of it must be a part of it.
    ///
    /// - Parameters:
    ///   - note: The text of a checkpoint, without signatures.
    ///   - size: What it says of its size.
    /// - Returns: Whether the checkpoint of that size has this text.
    /// - Throws: ``StoreFailure``.
    package func holds(_ note: Bytes, of size: Int64) async throws(StoreFailure) -> Bool {
        try await database.query(.checkpointOfSize, [.int64(size)]) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return false }
            let stored: Bytes = try row["note"]
            return SignedNote(decoding: stored)?.text == note
        }
    }

    /// Closes the connection, and gives up the lead with it.
    package func close() async { await database.close() }
}

/// The right edge of the tree, as the database has it: levels of hexadecimal hashes.
enum LogEdge {
    static func read(_ row: Row) throws(PostgresError) -> TreeEdge {
        let text: String = try row["edge"]
        var levels: [[Digest]] = []
        if !text.isEmpty {
            for level in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let bytes = Hex.decode(String(level)), let hashes = Tile.hashes(bytes) else {
                    throw .malformedColumn("edge")
                }
                levels.append(hashes)
            }
        }
        // Whoever edited the row gets nothing signed.
        guard let edge = TreeEdge(size: try row["size"], levels: levels) else {
            throw .malformedColumn("edge")
        }
        return edge
    }

    static func text(_ edge: TreeEdge) -> [String] {
        edge.levels.map { level in Hex.encode(level.flatMap(\.bytes)) }
    }
}
