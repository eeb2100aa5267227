package import Countersign
package import Evidence

/// The writing half of the log: gives positions to what was recorded, and keeps tree and checkpoints.
///
/// Any number of instances may call it at once; the state's row is locked, and who read it in an older
/// snapshot fails. The lead only spares them that.
package struct PostgresLog: Sendable {
    private let database: Database
    private let origin: String
    private let demandsLead: Bool

    /// - Parameters:
    ///   - database: As the role `countersign_service`, with one connection that nobody else uses: the lead
    ///     is held by the session that writes.
    ///   - origin: The log's name.
    ///   - demandsLead: `false` for tests of what the database holds by itself: this one sequences whoever leads.
    package init(database: Database, origin: String, demandsLead: Bool = true) {
        self.database = database
        self.origin = origin
        self.demandsLead = demandsLead
    }

    /// What ``advance(after:keys:written:_:)`` throws when nobody signed.
    package static let unsigned = StoreFailure.internalFailure(code: "CS012")

    /// Why the stored log is not one that may be signed on: a person has to look before anything is. The raw value
    /// is the SQLSTATE.
    package enum Alteration: String, CaseIterable, Sendable {
        /// The database counts transactions anew, as after a dump was restored elsewhere.
        case transactions = "CS010"
        /// Its newest checkpoint is not that of its state, or not signed, or not what this session signed last.
        case signature = "CS015"
        /// It has another name.
        case origin = "CS016"
        /// The edge of the tree is none of a tree of its size.
        case edge = "CS017"

        /// What ``PostgresLog/advance(after:keys:written:_:)`` throws for it.
        package var failure: StoreFailure { .internalFailure(code: rawValue) }

        /// - Returns: `nil` when the failure is another one.
        package init?(_ failure: StoreFailure) {
            guard let found = Self.allCases.first(where: { $0.failure == failure }) else {
                return nil
            }
            self = found
        }
    }

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
    /// - Returns: Always ``Lead/new`` where no lead is demanded: others may have gone on since the last call.
    /// - Throws: ``StoreFailure``.
    package func lead() async throws(StoreFailure) -> Lead {
        guard demandsLead else {
            try await database.query(.openLog, [.text(origin)])
            return .new
        }
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
    /// another server: what is held outside was not compared with that one. And it fails with an ``Alteration`` when the
    /// newest checkpoint is not that of the stored state, or not signed: whoever has the database but not the key
    /// shall not have the rest of it signed.
    ///
    /// - Parameters:
    ///   - last: The checkpoint that this session signed last, which must be the newest; `nil` for the first time.
    ///   - keys: Of which one must have signed the newest checkpoint.
    ///   - written: Called when all is written and nothing committed.
    ///   - sign: Signs the checkpoint, on the thread of the connection, in at most some seconds; `nil` when it
    ///     cannot: then nothing changes.
    /// - Returns: What was written; `nil` when there was nothing to do.
    /// - Throws: ``StoreFailure``. After ``StoreFailure/outcomeUnknown`` the note may be stored or not: it
    ///   must not leave the process.
    package func advance(
        after last: Checkpoint? = nil, keys: [VerifierKey],
        written: @escaping @Sendable () -> Void = {},
        _ sign: @escaping @Sendable (Checkpoint) -> SignedNote?
    ) async throws(StoreFailure) -> Batch? {
        try await database.run { connection throws(PostgresError) in
            try demandLead(connection)
            return try advance(connection, after: last, keys, written, sign)
        }
    }

    private func advance(
        _ connection: borrowing Connection, after last: Checkpoint?, _ keys: [VerifierKey],
        _ written: () -> Void, _ sign: (Checkpoint) -> SignedNote?
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
            guard try row["origin"] == origin else { throw Alteration.origin.error }
            let edge: TreeEdge
            do throws(PostgresError) { edge = try LogEdge.read(row) } catch {
                throw Alteration.edge.error
            }
            let note: Bytes? = try row["note"]
            let stored = Checkpoint(origin: origin, size: edge.size, root: edge.root)
            guard last == nil || last == stored, try row["root"] == stored.root,
                Self.isSigned(stored, by: note, keys)
            else { throw Alteration.signature.error }
            let rows = try connection.execute(.logBatch)
            guard rows.count > 0 || note == nil else { return nil }
            let batch = try Self.append(rows, to: edge, of: origin, connection, sign)
            written()
            return batch
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

    private func demandLead(_ connection: borrowing Connection) throws(PostgresError) {
        guard demandsLead else { return }
        guard let row = try connection.execute(.leadsLog).single(), try row["leads"] else {
            throw .raised(sqlState: "CS013")
        }
    }

    private static func append(
        _ rows: Rows, to old: TreeEdge, of origin: String, _ connection: borrowing Connection,
        _ sign: (Checkpoint) -> SignedNote?
    ) throws(PostgresError) -> Batch {
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
            try demandLead(connection)
            _ = try connection.execute(.publishNewestLog)
        }
    }

    /// Remembers ``Alteration/transactions``: when the counter has caught up it is still so.
    ///
    /// - Throws: ``StoreFailure``. It does nothing where the counter did not go backwards.
    package func noteRewound() async throws(StoreFailure) {
        try await database.query(.noteRewound)
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

extension PostgresLog.Alteration {
    fileprivate var error: PostgresError { .raised(sqlState: rawValue) }
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
