package import Countersign
package import Crypto

/// Verifies a bundle without asking anybody: no database, no network, no service.
package struct BundleVerifier: Sendable {
    /// Checks a timestamp response (RFC 3161) over a note.
    ///
    /// It takes the response and the note's bytes and gives what the authority proves; it throws when it does
    /// not believe it.
    package typealias TimestampCheck =
        @Sendable (_ response: Bytes, _ note: Bytes) throws(TimestampFault) -> ProvenTimestamp

    private let trust: TrustPolicy
    private let verifyTimestamp: TimestampCheck?

    /// - Parameters:
    ///   - trust: Whom to believe.
    ///   - verifyTimestamp: `nil` when no authority is known: then timestamps are counted and not checked.
    package init(trust: TrustPolicy, verifyTimestamp: TimestampCheck?) {
        self.trust = trust
        self.verifyTimestamp = verifyTimestamp
    }

    /// Verifies the bytes of a file.
    ///
    /// - Returns: What is proved.
    /// - Throws: ``BundleFault``, the first that applies.
    package func verify(_ bytes: Bytes) throws(BundleFault) -> VerifiedBundle {
        guard let bundle = EvidenceBundle(decoding: bytes) else { throw .form }
        let trusted: TrustedCheckpoint
        do throws(CheckpointFault) {
            trusted = try trust.believe(bundle.checkpoint)
        } catch { throw .checkpoint(error) }
        let stamps = try stamps(of: bundle)
        var records: [BundleRole: VerifiedRecord] = [:]
        for role in BundleRole.allCases {
            guard let entry = bundle.entries[role] else { continue }
            records[role] = try VerifiedRecord(role, entry, in: trusted.checkpoint)
        }
        let check = try BundleCheck(records)
        try check.run()
        return VerifiedBundle(
            checkpoint: trusted, stamps: stamps,
            uncheckedTimestamps: verifyTimestamp == nil ? bundle.timestamps.count : 0,
            records: records, decision: check.decision)
    }

    private func stamps(of bundle: EvidenceBundle) throws(BundleFault) -> [ProvenTimestamp] {
        guard let verifyTimestamp else { return [] }
        guard let note = bundle.checkpoint.byLogAlone else { throw .checkpoint(.logSignature) }
        var stamps: [ProvenTimestamp] = []
        for (index, token) in bundle.timestamps.enumerated() {
            do throws(TimestampFault) {
                stamps.append(try verifyTimestamp(token, note.encoded))
            } catch { throw .timestamp(index + 1, error) }
        }
        return stamps
    }
}

/// A record of a bundle that is in the log, with a body that is the one its leaf commits to.
struct VerifiedRecord: Sendable {
    let role: BundleRole
    let position: Int64
    let bytes: Bytes
    let leaf: EvidenceLeaf
    /// `nil` once the customer was erased.
    let body: JSON?

    init(
        _ role: BundleRole, _ entry: EvidenceBundle.Entry, in checkpoint: Checkpoint
    ) throws(BundleFault) {
        let root = TreeProof.root(
            of: EvidenceSealer.leafHash(entry.leaf), at: entry.position, in: checkpoint.size,
            by: entry.hashes)
        guard root == checkpoint.root else { throw .notInLog(role) }
        guard let leaf = EvidenceLeaf(decoding: entry.leaf) else { throw .record(role, .leafForm) }
        guard leaf.log.utf8.elementsEqual(checkpoint.origin.utf8) else { throw .otherLog(role) }
        guard leaf.kind == role.kind.rawValue else { throw .otherKind(role) }
        body = try entry.body.map { (opened) throws(BundleFault) in
            let commitment = EvidenceSealer.commitment(to: opened.bytes, salt: opened.salt)
            guard opened.salt.count == 32, commitment == leaf.bodyCommitment,
                let body = JSON(recorded: opened.bytes)
            else { throw .record(role, .body) }
            return body
        }
        self.role = role
        self.leaf = leaf
        position = entry.position
        bytes = entry.leaf
    }

    var hash: Digest { EvidenceSealer.leafHash(bytes) }
}
