package import Countersign

/// The chains of some records: each record names the one before it of its action and of its credential, so that
/// none of them can be missing, and none be there twice.
package struct EvidenceChains: Sendable {
    private struct Place {
        let record: ID<Countersign.Evidence>
        let link: EvidenceLeaf.Link
        let hash: Digest
    }

    /// A place whose predecessor is not the record before it here.
    private struct Break {
        let record: ID<Countersign.Evidence>
        /// The predecessor when it may only be missing; `nil` when another record stands in its place.
        let missing: String?
    }

    private var breaks: [Break] = []

    /// - Parameter records: All that there are of some actions and credentials, in any order.
    package init(_ records: [StoredEvidence]) {
        var chains: [String: [Place]] = [:]
        for record in records {
            guard let leaf = EvidenceLeaf(decoding: record.leaf) else {
                breaks.append(Break(record: record.id, missing: nil))
                continue
            }
            let hash = EvidenceSealer.leafHash(record.leaf)
            for link in [leaf.action, leaf.credential].compactMap(\.self) {
                chains[link.of, default: []].append(
                    Place(record: record.id, link: link, hash: hash))
            }
        }
        for chain in chains.values {
            follow(chain.sorted { $0.link.sequence < $1.link.sequence })
        }
    }

    private mutating func follow(_ chain: [Place]) {
        var head = ChainHead.empty
        for place in chain {
            if place.link.sequence > head.length + 1 {
                breaks.append(Break(record: place.record, missing: place.link.previous))
            } else if place.link.sequence != head.length + 1
                || place.link.previous != head.leafHash?.hex ?? ""
            {
                breaks.append(Break(record: place.record, missing: nil))
            }
            head = ChainHead(length: place.link.sequence, leafHash: place.hash)
        }
    }

    /// The leaf hashes, in hexadecimal, of records that others name and that are not here.
    package var missing: Set<String> { Set(breaks.compactMap(\.missing)) }

    /// The records that do not continue their chain.
    ///
    /// - Parameter detached: Leaf hashes of records that are kept elsewhere: a chain may go on after one.
    /// - Returns: Their IDs.
    package func broken(detached: Set<String>) -> [ID<Countersign.Evidence>] {
        breaks.filter { $0.missing.map { !detached.contains($0) } ?? true }.map(\.record)
    }
}
