package import Countersign

/// One position of the log as the database has it, with the record that it names.
package struct LoggedEvidence: Sendable {
    package let position: Int64
    package let evidence: ID<Countersign.Evidence>
    /// What the table of positions says.
    package let leafHash: Digest
    /// `nil` when there is no such record.
    package let record: Record?

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
        position: Int64, evidence: ID<Countersign.Evidence>, leafHash: Digest, record: Record?
    ) {
        self.position = position
        self.evidence = evidence
        self.leafHash = leafHash
        self.record = record
    }
}

/// A checkpoint as the database has it.
package struct LoggedCheckpoint: Sendable {
    package let size: Int64
    package let root: Digest
    /// As Postgres writes it.
    package let snapshotText: String
    package let snapshot: TransactionSnapshot
    /// The signed note, byte for byte.
    package let note: Bytes
    package let link: LogLink

    /// - Returns: `nil` when the snapshot is none.
    package init?(size: Int64, root: Digest, snapshot text: String, note: Bytes, link: LogLink) {
        guard let snapshot = TransactionSnapshot(text: text) else { return nil }
        self.size = size
        self.root = root
        self.snapshotText = text
        self.snapshot = snapshot
        self.note = note
        self.link = link
    }

    /// The columns that ``link`` covers.
    var columns: [String] { ["\(size)", root.hex, snapshotText, Hex.encode(note)] }
}
