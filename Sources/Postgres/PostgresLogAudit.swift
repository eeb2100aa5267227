package import Countersign
package import Evidence

/// Reads everything that is stored of the log, to be made again and compared.
package struct PostgresLogAudit: Sendable {
    let database: Database
    private let reader: PostgresLogReader

    /// Rows that are read together.
    static let page = 2000

    /// - Parameter database: As the role `countersign_auditor` or `countersign_service`.
    package init(database: Database) {
        self.database = database
        reader = PostgresLogReader(database: database)
    }

    /// What is stored beside positions, tiles and checkpoints.
    package struct State: Sendable {
        package let origin: String
        package let size: Int64
        package let root: Digest
        /// `nil` when it is no edge of a tree of that size.
        package let edge: TreeEdge?
        package let snapshot: TransactionSnapshot?
        /// Whether the published size is that of the newest checkpoint or the one before it; nothing may be
        /// published before there are two.
        package let isPublishedThere: Bool
        /// How many full tiles are stored.
        package let tiles: Int64
        /// Whether there are positions or checkpoints after its end.
        package let hasMore: Bool
        package let checkpoints: Chain
        package let cosignatures: Chain
        package let timestamps: Chain

        /// Where a chain of links ends.
        package struct Chain: Sendable {
            /// The last one.
            package let end: LogLink
            /// How many rows there are: as many as its number says.
            package let rows: Int64
        }
    }

    /// What one checkpoint claims and is not so; all 0 when all is.
    package struct Completeness: Hashable, Sendable {
        /// Records that it should hold and does not.
        package let unsequenced: Int64
        /// Records that it holds and that are gone.
        package let missing: Int64
        /// Records that have another leaf.
        package let altered: Int64

        package init(unsequenced: Int64, missing: Int64, altered: Int64) {
            self.unsequenced = unsequenced
            self.missing = missing
            self.altered = altered
        }
    }

    /// - Returns: `nil` before the log was opened.
    /// - Throws: ``StoreFailure``.
    package func state() async throws(StoreFailure) -> State? {
        try await database.query(.logState) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            let snapshot: String? = try row["snapshot"]
            let edge: TreeEdge?
            do throws(PostgresError) { edge = try LogEdge.read(row) } catch { edge = nil }
            return State(
                origin: try row["origin"], size: try row["size"], root: try row["root"],
                edge: edge, snapshot: snapshot.flatMap(TransactionSnapshot.init(text:)),
                isPublishedThere: try row["is_published"],
                tiles: try row["tiles"], hasMore: try row["has_more"],
                checkpoints: try Self.chain("checkpoint", row),
                cosignatures: try Self.chain("cosignature", row),
                timestamps: try Self.chain("timestamp", row))
        }
    }

    private static func chain(_ name: String, _ row: Row) throws(PostgresError) -> State.Chain {
        State.Chain(
            end: LogLink(number: try row["\(name)_number"], link: try row["\(name)_link"]),
            rows: try row["\(name)s"])
    }

    /// - Throws: ``StoreFailure``, also when there is no checkpoint of that size.
    package func completeness(of size: Int64) async throws(StoreFailure) -> Completeness {
        try await database.query(.auditCompleteness, [.int64(size)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("unsequenced") }
            return Completeness(
                unsequenced: try row["unsequenced"], missing: try row["missing"],
                altered: try row["altered"])
        }
    }

    /// Records that have no position and that no batch will take: somebody put them in without the service. A record
    /// that is just being written or sequenced is none, whenever this is asked.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: Their IDs, the lowest first.
    /// - Throws: ``StoreFailure``.
    package func strays(
        limit: Int
    ) async throws(StoreFailure) -> [ID<Countersign.Evidence>] {
        try await database.query(.logStrays, [.int(limit)]) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try row["id"] }
        }
    }

    /// Checks the log from the first checkpoint at or before one position to the first at or after another.
    ///
    /// - Parameters:
    ///   - range: Positions; `nil` for all, and for whatever is stored beside them.
    ///   - keys: Of which one must have signed the newest checkpoint. That vouches for the keys that records
    ///     before it tell, so that older checkpoints may be signed by those.
    /// - Returns: The size up to which it was checked.
    /// - Throws: ``LogFault``, the first; or ``StoreFailure``.
    package func check(_ range: Range<Int64>?, keys: [VerifierKey]) async throws -> Int64 {
        guard let state = try await state() else { return 0 }
        var check = try await start(at: range?.lowerBound ?? 0, of: state, keys)
        var tiles: Int64 = 0
        var after = check.size
        while true {
            let checkpoints = try await checkpoints(after)
            // What was written since the state was read is for the next check.
            for checkpoint in checkpoints
            where checkpoint.size >= check.size && checkpoint.size <= state.size {
                tiles += try await take(checkpoint, &check)
                if let range, check.size >= range.upperBound { return check.size }
            }
            guard checkpoints.count == Self.page, let last = checkpoints.last,
                last.size < state.size
            else { break }
            after = last.size + 1
        }
        guard !state.hasMore else { throw LogFault(.beyond, at: state.size) }
        if check.size < state.size, try await !positions(check.size, limit: 1).isEmpty {
            throw LogFault(.checkpoint, at: check.size)
        }
        guard state.checkpoints.rows == state.checkpoints.end.number else {
            throw LogFault(.beyond, at: state.size)
        }
        try check.finish(
            size: state.size, root: state.root, edge: state.edge, snapshot: state.snapshot,
            chain: state.checkpoints.end)
        guard state.isPublishedThere else { throw LogFault(.edge, at: max(0, state.size - 1)) }
        if range == nil {
            guard tiles == state.tiles else { throw LogFault(.beyond, at: state.size) }
            try await compareKeys(with: check)
        }
        return check.size
    }

    /// Takes all positions before a checkpoint, and it; returns how many tiles they filled.
    private func take(
        _ checkpoint: LoggedCheckpoint, _ check: inout LogCheck
    ) async throws -> Int64 {
        // The first of a range is where it starts.
        if checkpoint.link == check.link { return 0 }
        try check.demandNext(checkpoint)
        var tiles: Int64 = 0
        while check.size < checkpoint.size {
            let left = checkpoint.size - check.size
            let entries = try await positions(
                check.size, limit: Int(min(left, Int64(Self.page))))
            guard !entries.isEmpty else { throw LogFault(.gap, at: check.size) }
            var full: [Tile] = []
            for entry in entries { full += try check.take(entry, in: checkpoint.snapshot) }
            let stored = full.isEmpty ? [:] : try await reader.tiles(Set(full.map(\.place)))
            for tile in full { try LogCheck.compare(tile, with: stored[tile.place]) }
            tiles += Int64(full.count)
        }
        do throws(LogFault) { try check.take(checkpoint) } catch {
            if error.what == .root { try await compareLastTile(of: check) }
            throw error
        }
        return tiles
    }

    /// Which leaf before a wrong root is another one, when what is stored of the tree still knows.
    ///
    /// - Throws: ``LogFault`` at its position; or ``StoreFailure``.
    private func compareLastTile(of check: LogCheck) async throws {
        guard let tile = check.lastTile,
            let stored = try await reader.tiles([tile.place])[tile.place]
        else { return }
        do throws(LogFault) {
            try LogCheck.compare(tile, with: Array(stored.prefix(tile.hashes.count)))
        } catch {
            throw LogFault(.leafHash, at: error.position)
        }
    }

    /// A check that begins with the largest checkpoint at or before a position.
    private func start(
        at position: Int64, of state: State, _ keys: [VerifierKey]
    ) async throws -> LogCheck {
        let newest = try await checkpoint(before: state.size)
        if let newest {
            guard let note = SignedNote(decoding: newest.note),
                keys.contains(where: { $0.verifies(note) })
            else { throw LogFault(.signature, at: max(0, newest.size - 1)) }
        }
        let detached = try await detached()
        guard position > 0, let checkpoint = try await checkpoint(before: position),
            checkpoint.size > 0
        else { return LogCheck(origin: state.origin, keys: keys, detached: detached) }
        let levels = TreeEdge.places(in: checkpoint.size)
        let stored = try await reader.tiles(Set(levels.map(\.place)))
        let edge = TreeEdge(
            size: checkpoint.size,
            levels: levels.map { Array((stored[$0.place] ?? []).prefix($0.width)) })
        guard let edge, edge.root == checkpoint.root else {
            throw LogFault(.root, at: checkpoint.size - 1)
        }
        var check = LogCheck(
            origin: state.origin, keys: keys, detached: detached, from: edge, after: checkpoint)
        for row in try await logKeys() where row.position.map({ $0 < checkpoint.size }) == true {
            if row.isTold { check.believe(row.key) }
        }
        try check.demandTrue(checkpoint)
        return check
    }

    private func checkpoint(before position: Int64) async throws(StoreFailure) -> LoggedCheckpoint?
    {
        try await database.query(.checkpointBefore, [.int64(position)]) {
            rows throws(PostgresError) in
            try rows.single().map { row throws(PostgresError) in try LoggedCheckpoint.read(row) }
        }
    }

    private func checkpoints(_ size: Int64) async throws(StoreFailure) -> [LoggedCheckpoint] {
        try await database.query(.logCheckpoints, [.int64(size), .int(Self.page)]) {
            rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try LoggedCheckpoint.read(row) }
        }
    }

    private func positions(
        _ first: Int64, limit: Int
    ) async throws(StoreFailure) -> [LoggedEvidence] {
        try await database.query(.logPositions, [.int64(first), .int(limit)]) {
            rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try LoggedEvidence(row) }
        }
    }
}

extension LoggedCheckpoint {
    fileprivate static func read(_ row: Row) throws(PostgresError) -> LoggedCheckpoint {
        let checkpoint = LoggedCheckpoint(
            size: try row["size"], root: try row["root"], snapshot: try row["snapshot"],
            note: try row["note"], link: LogLink(number: try row["number"], link: try row["link"]))
        guard let checkpoint else { throw .malformedColumn("snapshot") }
        return checkpoint
    }
}

extension LoggedEvidence {
    fileprivate init(_ row: Row) throws(PostgresError) {
        var record: Record?
        if let _: ID<Countersign.Evidence> = try row["id"] {
            record = Record(
                transaction: try word("xid", row) { UInt64($0) },
                stored: try StoredEvidence(columns: row))
        }
        self.init(
            position: try row["position"], evidence: try row["evidence_id"],
            leafHash: try row["logged_hash"], record: record)
    }
}
