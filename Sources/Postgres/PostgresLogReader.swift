package import Countersign
package import Evidence

/// The reading half of the log: checkpoints, tiles and entries, as C2SP tlog-tiles lays them out.
package struct PostgresLogReader: LogReader {
    private let database: Database
    private let isWitnessed: Bool

    /// - Parameters:
    ///   - database: As the role `countersign_service` or `countersign_auditor`.
    ///   - isWitnessed: Whether there are witnesses, whose quorum a checkpoint must have to be shown.
    package init(database: Database, isWitnessed: Bool = false) {
        self.database = database
        self.isWitnessed = isWitnessed
    }

    /// The newest checkpoint that may leave the service, with the newest line of each witness.
    ///
    /// - Returns: `nil` before the first.
    /// - Throws: ``StoreFailure``.
    package func published() async throws(StoreFailure) -> (size: Int64, note: Bytes)? {
        try await read(.publishedCheckpoint, [])
    }

    private func read(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> (size: Int64, note: Bytes)? {
        try await database.query(statement, parameters) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            let note: Bytes = try row["note"]
            let cosignatures: String = try row["cosignatures"]
            return (try row["size"], note + Bytes(cosignatures.utf8))
        }
    }

    /// The checkpoint to show, never a smaller one than before: where there are witnesses the newest that has their
    /// quorum, since a monitor takes no other, else the newest.
    package func checkpoint() async throws(StoreFailure) -> Bytes? {
        try await read(.shownCheckpoint, [.bool(isWitnessed)])?.note
    }

    package func resource(_ path: String) async throws(StoreFailure) -> Bytes? {
        guard let path = TilePath(text: path), let published = try await published() else {
            return nil
        }
        let width = Int64(Tile.width)
        switch path {
        case .hashes(let place, let count):
            guard Self.isPublished(place, count, in: published.size) else { return nil }
            guard let tile = try await tiles([place])[place], tile.count >= count else {
                return nil
            }
            return tile[..<count].flatMap(\.bytes)
        case .entries(let index, let count):
            let first = index * width
            guard first + Int64(count) <= published.size else { return nil }
            let leaves = try await leaves(first..<first + Int64(count))
            // Those of a month that was detached are in the mirror.
            return leaves.count == count ? EntryTile(entries: leaves)?.bytes : nil
        }
    }

    /// Whether all leaves below a tile's hashes are before the end of a published tree.
    private static func isPublished(_ place: Tile.Place, _ count: Int, in size: Int64) -> Bool {
        var hashes = size
        for _ in 0..<min(place.level, 8) { hashes /= Int64(Tile.width) }
        return place.level <= 7 && place.index <= hashes / Int64(Tile.width)
            && place.index * Int64(Tile.width) + Int64(count) <= hashes
    }

    /// The hashes of tiles, full or at the right edge; those that do not exist are left out.
    ///
    /// - Throws: ``StoreFailure``.
    package func tiles(
        _ places: Set<Tile.Place>
    ) async throws(StoreFailure) -> [Tile.Place: [Digest]] {
        let places = Array(places)
        return try await database.query(
            .logTiles,
            [.int64Array(places.map { Int64($0.level) }), .int64Array(places.map(\.index))]
        ) { rows throws(PostgresError) in
            var found: [Tile.Place: [Digest]] = [:]
            for row in rows {
                guard let hashes = Tile.hashes(try row["hashes"]) else {
                    throw .malformedColumn("hashes")
                }
                found[Tile.Place(level: try row["level"], index: try row["index"])] = hashes
            }
            return found
        }
    }

    /// The hashes that show that the log of one size is the beginning of the log of another one.
    ///
    /// - Returns: `nil` when the log has not so many tiles.
    /// - Throws: ``StoreFailure``.
    package func consistency(
        from old: Int64, to new: Int64
    ) async throws(StoreFailure) -> [Digest]? {
        let places = TreeProof.tiles(forConsistencyFrom: old, to: new)
        guard !places.isEmpty else { return old <= new ? [] : nil }
        let tiles = try await tiles(places)
        return TreeProof.consistency(from: old, to: new) { tiles[$0] }
    }

    /// Whether records are missing at these positions, and all of months that were detached.
    ///
    /// - Throws: ``StoreFailure``.
    package func isDetached(_ positions: Range<Int64>) async throws(StoreFailure) -> Bool {
        try await database.query(
            .logEntriesDetached, [.int64(positions.lowerBound), .int64(positions.upperBound)]
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("is_detached") }
            return try row["is_detached"]
        }
    }

    /// For how many seconds the oldest record has waited that no batch has; 0 when none waits.
    ///
    /// - Throws: ``StoreFailure``.
    package func waiting() async throws(StoreFailure) -> Int {
        try await database.query(.logWaiting) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("seconds") }
            return try row["seconds"]
        }
    }

    /// Leaves by position, in order; fewer when some are not there.
    ///
    /// - Throws: ``StoreFailure``.
    package func leaves(_ positions: Range<Int64>) async throws(StoreFailure) -> [Bytes] {
        try await database.query(
            .logEntries, [.int64(positions.lowerBound), .int64(positions.upperBound)]
        ) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try row["leaf"] }
        }
    }
}
