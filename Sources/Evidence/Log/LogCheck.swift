package import Countersign
import Crypto

/// One position of the log as the database has it, with the record that it names.
package struct LoggedEvidence: Sendable {
    package let position: Int64
    package let evidence: ID<Countersign.Evidence>
    /// What the table of positions says.
    package let leafHash: Digest
    /// `nil` when there is no such record.
    package let record: Record?
    /// Whether its month was detached: then it need not be here.
    package let isDetached: Bool

    /// The columns of a record.
    package struct Record: Sendable {
        /// The transaction that wrote it.
        package let transaction: UInt64
        package let stored: StoredEvidence

        package init(transaction: UInt64, stored: StoredEvidence) {
            self.transaction = transaction
            self.stored = stored
        }
    }

    package init(
        position: Int64, evidence: ID<Countersign.Evidence>, leafHash: Digest, record: Record?,
        isDetached: Bool
    ) {
        self.position = position
        self.evidence = evidence
        self.leafHash = leafHash
        self.record = record
        self.isDetached = isDetached
    }
}

/// A checkpoint as the database has it.
package struct LoggedCheckpoint: Sendable {
    package let size: Int64
    package let root: Digest
    package let snapshot: TransactionSnapshot
    package let note: Bytes

    package init(size: Int64, root: Digest, snapshot: TransactionSnapshot, note: Bytes) {
        self.size = size
        self.root = root
        self.snapshot = snapshot
        self.note = note
    }
}

/// What is wrong with a log, and from which position on.
package struct LogFault: Error, Hashable, Sendable {
    /// The first position that is another than it was, as far as that can be told.
    package let position: Int64
    package let what: What

    /// The raw value is what `evidence fsck` prints.
    package enum What: String, Sendable {
        case gap = "there is no row for this position"
        case recordMissing = "its record is gone"
        case record = "its record is not what its leaf says"
        case leafHash = "its record has another leaf than was given this position"
        case order = "its record was not written where it stands"
        case tile = "a stored tile has other hashes than the leaves"
        case root = "the root of a checkpoint is not that of the leaves before it"
        case note = "a checkpoint does not say what its columns say"
        case signature = "a checkpoint is not signed by a key of the log"
        case checkpoint = "a checkpoint is gone, or ends where no batch ended"
        case edge = "the state of the log is not that of its leaves"
        case beyond = "there are rows after the end of the log"
    }

    package init(_ what: What, at position: Int64) {
        self.what = what
        self.position = position
    }
}

/// Makes a log again from its records, one position after another, and compares all that is stored with it:
/// record → leaf → position → tile → root → signature.
package struct LogCheck: Sendable {
    private let origin: String
    private let keys: [VerifierKey]
    private var edge: TreeEdge
    /// The snapshot of the batch before, and the place in the order within this one.
    private var before: TransactionSnapshot?
    private var last: (transaction: UInt64, evidence: ID<Countersign.Evidence>)?
    /// The time of the newest record so far that is there.
    private var newest: Instant?

    /// How far apart in time neighbours in the log may be, in milliseconds: IDs are fresh within five minutes.
    private static let slack: Int64 = 600_000

    /// - Parameters:
    ///   - origin: The name of the log.
    ///   - keys: Verifier keys of which one must have signed each checkpoint.
    ///   - edge: The tree before the first position; an empty one checks everything.
    ///   - before: The snapshot of the checkpoint of that size; `nil` for an empty one.
    package init(
        origin: String, keys: [VerifierKey], from edge: TreeEdge = TreeEdge(),
        after before: TransactionSnapshot? = nil
    ) {
        self.origin = origin
        self.keys = keys
        self.edge = edge
        self.before = before
    }

    /// The next position.
    package var size: Int64 { edge.size }

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
        } else if !entry.isDetached || isAfterOthers(entry.evidence) {
            throw LogFault(.recordMissing, at: position)
        }
        return edge.append(CollectionOfOne(entry.leafHash))
    }

    /// Whether records of later months, which are there, stand before it: then its month was not detached, but
    /// somebody gave the position an older name.
    private func isAfterOthers(_ evidence: ID<Countersign.Evidence>) -> Bool {
        newest.map { $0.milliseconds > evidence.instant.milliseconds + Self.slack } ?? false
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

    /// Compares a tile of the leaves with the stored one.
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

    /// Compares a checkpoint of exactly this size; what follows is of the next batch.
    ///
    /// - Throws: ``LogFault``.
    package mutating func take(_ checkpoint: LoggedCheckpoint) throws(LogFault) {
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
        guard before.map({ checkpoint.snapshot.isAfter($0) }) ?? true else {
            throw LogFault(.order, at: position)
        }
        before = checkpoint.snapshot
        last = nil
    }

    /// Compares the state of the log, once every position was taken.
    ///
    /// - Throws: ``LogFault``.
    package func finish(
        size: Int64, root: Digest, edge stored: TreeEdge?, snapshot: TransactionSnapshot?
    ) throws(LogFault) {
        guard size <= edge.size else { throw LogFault(.gap, at: edge.size) }
        guard size == edge.size else { throw LogFault(.beyond, at: size) }
        for (partial, hashes) in zip(edge.partialTiles, stored?.partialTiles ?? []) {
            try Self.compare(partial, with: hashes.hashes)
        }
        guard root == edge.root, stored == edge, snapshot == before else {
            throw LogFault(.edge, at: max(0, size - 1))
        }
    }
}
