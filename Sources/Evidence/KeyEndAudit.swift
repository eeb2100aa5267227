import Countersign

/// What an audit has seen of customers' keys that ended: nothing is signed with one after that.
///
/// Which of two records came first, the chain of the credential says and nothing else: the database adds to it
/// under the credential's lock, and refuses what was made of an older state. IDs say when a record was begun.
/// The leaves alone are looked at, so that an erasure hides nothing.
struct KeyEndAudit {
    private struct Key {
        /// Its place in the chain at which it ended.
        var end = Int.max
        /// The last place at which it signed.
        var lastSigned = 0
    }

    private var keys: [ID<Credential>: Key] = [:]

    /// Checks the next record.
    ///
    /// - Throws: ``EvidenceFault/keyEnded``, of a signature or, when the signature was seen first, of the end.
    mutating func check(_ record: StoredEvidence) throws(EvidenceFault) {
        guard let credential = record.credential,
            let place = EvidenceLeaf(decoding: record.leaf)?.credential?.sequence
        else { return }
        switch EvidenceKind(rawValue: record.kind) {
        case .credentialRevoked, .credentialSuspended:
            keys[credential, default: Key()].end = min(place, keys[credential]?.end ?? place)
            guard keys[credential]?.lastSigned ?? 0 < place else { throw .keyEnded }
        // A rejection that nobody signed names no credential.
        case .actionApproved, .actionRejected, .actionRefused, .credentialAuthorized,
            .requestReplayed:
            keys[credential, default: Key()].lastSigned = max(
                place, keys[credential]?.lastSigned ?? 0)
            guard place < keys[credential]?.end ?? .max else { throw .keyEnded }
        default: break
        }
    }
}
