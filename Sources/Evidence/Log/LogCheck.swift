package import Countersign
import Crypto

/// Makes a log again from its records, one position after another, and compares all that is stored with it:
/// record → leaf → position → tile → root → signature.
package struct LogCheck: Sendable {
    private let origin: String
    private let detached: Detached?
    private var edge: TreeEdge
    private var keys: Set<VerifierKey>
    /// The checkpoint before: what it saw, and its link.
    private var before: TransactionSnapshot?
    package private(set) var link: LogLink
    /// The place in the order within this batch.
    private var last: (transaction: UInt64, evidence: ID<Countersign.Evidence>)?
    /// The time of the newest record so far that is there.
    private var newest: Instant?
    /// The keys that records tell, each with its record and position.
    package private(set) var told: [ToldKey] = []

    /// Of which records may be missing.
    package struct Detached: Hashable, Sendable {
        /// The newest month, as `2026-01`, of which a record tells that it was detached. Months are detached from the
        /// oldest on, so records of no later one may be gone.
        package let newest: String
        /// The smallest ID of the oldest month that is here: none of its records may be gone, whatever anybody tells.
        package let oldestHere: ID<Countersign.Evidence>?

        /// - Returns: `nil` when `newest` is no month.
        package init?(newest: String, oldestHere: ID<Countersign.Evidence>?) {
            guard DetachedMonths.isMonth(newest) else { return nil }
            self.newest = newest
            self.oldestHere = oldestHere
        }

        func has(_ evidence: ID<Countersign.Evidence>) -> Bool {
            evidence.instant.text.prefix(7) <= newest[...]
                && oldestHere.map { evidence.rawValue < $0.rawValue } ?? true
        }
    }

    /// A key of the log, as a record of the log tells it.
    package struct ToldKey: Hashable, Sendable {
        package let key: String
        package let evidence: ID<Countersign.Evidence>
        package let position: Int64
    }

    /// How far apart in time neighbours in the log may be, in milliseconds: IDs are fresh within five minutes.
    private static let slack: Int64 = 600_000

    /// - Parameters:
    ///   - origin: The name of the log.
    ///   - keys: Verifier keys of which one must have signed each checkpoint; those that records tell are believed
    ///     from there on.
    ///   - detached: Of which records may be missing; `nil` when all must be there.
    ///   - edge: The tree before the first position; an empty one checks everything.
    ///   - before: The checkpoint of that size; `nil` for an empty one.
    package init(
        origin: String, keys: [VerifierKey], detached: Detached? = nil,
        from edge: TreeEdge = TreeEdge(),
        after before: LoggedCheckpoint? = nil
    ) {
        self.origin = origin
        self.keys = Set(keys)
        self.detached = detached
        self.edge = edge
        self.before = before?.snapshot
        link = before?.link ?? .none
    }

    /// The next position.
    package var size: Int64 { edge.size }

    /// The tile of leaves that is not full yet.
    package var lastTile: Tile? { edge.partialTiles.first { $0.place.level == 0 } }

    /// Takes the next position.
    ///
    /// - Parameters:
    ///   - entry: The row with the lowest position that is left.
    ///   - batch: The snapshot of the checkpoint that ends its batch.
    /// - Returns: The tiles that are full with it, to be compared by ``compare(_:with:)``.
    /// - Throws: ``LogFault``.
    package mutating func take(
        _ entry: LoggedEvidence, in batch: TransactionSnapshot
    ) throws(LogFault) -> [Tile] {
        let position = edge.size
        guard entry.position == position else { throw LogFault(.gap, at: position) }
        if let record = entry.record {
            guard EvidenceVerifier.columnsAgree(record.stored),
                record.stored.id == entry.evidence
            else { throw LogFault(.record, at: position) }
            guard record.stored.leafHash == entry.leafHash.bytes else {
                throw LogFault(.leafHash, at: position)
            }
            try demandOrder(record, batch, position)
            newest = max(newest ?? record.stored.id.instant, record.stored.id.instant)
            hearKey(record.stored, at: position)
        } else if !isDetached(entry.evidence) {
            throw LogFault(.recordMissing, at: position)
        }
        return edge.append(CollectionOfOne(entry.leafHash))
    }

    /// Whether its month was detached. Not when records of later months, which are there, stand before it: then
    /// somebody gave the position an older name.
    private func isDetached(_ evidence: ID<Countersign.Evidence>) -> Bool {
        guard mayMiss(evidence) else { return false }
        return newest.map { $0.milliseconds <= evidence.instant.milliseconds + Self.slack } ?? true
    }

    /// Whether a record may be missing.
    package func mayMiss(_ evidence: ID<Countersign.Evidence>) -> Bool {
        detached?.has(evidence) == true
    }

    private mutating func hearKey(_ record: StoredEvidence, at position: Int64) {
        guard let key = Self.key(toldBy: record) else { return }
        told.append(ToldKey(key: key, evidence: record.id, position: position))
        believe(key)
    }

    /// The key that a record tells; `nil` when it tells none.
    package static func key(toldBy record: StoredEvidence) -> String? {
        guard record.kind == EvidenceKind.logKey.rawValue,
            EvidenceVerifier.columnsAgree(record)
        else { return nil }
        return EvidenceLeaf(decoding: record.leaf)?.outcome
    }

    /// Believes a key that a record before the first position tells.
    package mutating func believe(_ key: String) {
        guard let key = VerifierKey(text: key), key.kind == .ed25519,
            key.name.utf8.elementsEqual(origin.utf8)
        else { return }
        keys.insert(key)
    }

    private mutating func demandOrder(
        _ record: LoggedEvidence.Record, _ batch: TransactionSnapshot, _ position: Int64
    ) throws(LogFault) {
        let transaction = record.transaction
        let isAfter =
            last.map { ($0.transaction, $0.evidence.text) < (transaction, record.stored.id.text) }
            ?? true
        guard isAfter, batch.sees(transaction), before?.sees(transaction) != true else {
            throw LogFault(.order, at: position)
        }
        last = (transaction, record.stored.id)
    }

    /// Compares a tile with the stored one.
    ///
    /// - Throws: ``LogFault`` with the first position below the first hash that differs.
    package static func compare(
        _ tile: Tile, with stored: [Digest]?
    ) throws(LogFault) {
        let width = Int64(Tile.width)
        var below: Int64 = 1
        for _ in 0..<tile.place.level { below *= width }
        let first = tile.place.index * width
        let difference = tile.hashes.indices.first { index in
            stored.map { index >= $0.count || $0[index] != tile.hashes[index] } ?? true
        }
        if let difference { throw LogFault(.tile, at: (first + Int64(difference)) * below) }
        guard stored?.count == tile.hashes.count else {
            throw LogFault(.tile, at: (first + Int64(tile.hashes.count)) * below)
        }
    }

    /// Whether a checkpoint is the next one, before the positions up to it are taken.
    ///
    /// - Throws: ``LogFault``: one between this and the last is gone, or this one was put in or changed.
    package func demandNext(_ checkpoint: LoggedCheckpoint) throws(LogFault) {
        guard checkpoint.link.number == link.number + 1 else {
            throw LogFault(.checkpoint, at: edge.size)
        }
    }

    /// Whether a checkpoint of exactly this size says what the leaves before it say, and is signed.
    ///
    /// - Throws: ``LogFault``.
    package func demandTrue(_ checkpoint: LoggedCheckpoint) throws(LogFault) {
        let position = max(0, edge.size - 1)
        guard checkpoint.size == edge.size else { throw LogFault(.checkpoint, at: position) }
        let expected = Checkpoint(origin: origin, size: edge.size, root: edge.root)
        guard checkpoint.root == expected.root else { throw LogFault(.root, at: position) }
        guard let note = SignedNote(decoding: checkpoint.note), note.text == expected.text else {
            throw LogFault(.note, at: position)
        }
        guard keys.contains(where: { $0.verifies(note) }) else {
            throw LogFault(.signature, at: position)
        }
    }

    /// Takes a checkpoint of exactly this size; what follows is of the next batch.
    ///
    /// - Throws: ``LogFault``.
    package mutating func take(_ checkpoint: LoggedCheckpoint) throws(LogFault) {
        let position = max(0, edge.size - 1)
        try demandTrue(checkpoint)
        guard before.map({ checkpoint.snapshot.isAfter($0) }) ?? true else {
            throw LogFault(.order, at: position)
        }
        guard checkpoint.link == link.next(checkpoint.columns) else {
            throw LogFault(.link, at: position)
        }
        before = checkpoint.snapshot
        link = checkpoint.link
        last = nil
    }

    /// Compares the state of the log, once every position was taken.
    ///
    /// - Throws: ``LogFault``.
    package func finish(
        size: Int64, root: Digest, edge stored: TreeEdge?, snapshot: TransactionSnapshot?,
        chain: LogLink
    ) throws(LogFault) {
        guard size <= edge.size else { throw LogFault(.gap, at: edge.size) }
        guard size == edge.size else { throw LogFault(.beyond, at: size) }
        for (partial, hashes) in zip(edge.partialTiles, stored?.partialTiles ?? []) {
            try Self.compare(partial, with: hashes.hashes)
        }
        guard root == edge.root, stored == edge, snapshot == before, chain == link else {
            throw LogFault(.edge, at: max(0, size - 1))
        }
    }
}
