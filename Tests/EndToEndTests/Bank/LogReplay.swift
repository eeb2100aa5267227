import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport

@testable import CountersignMain

/// Something recorded, from before it was asked for until it was acknowledged.
struct Span: Sendable {
    let begin: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    /// Its evidence.
    let id: String
}

/// Makes the log again from what is stored and compares it with what was seen of it outside: invariants I4 to I7
/// and I13 of the log. It shares no code with `evidence fsck`, which the audit asks as well.
struct LogReplay {
    private struct Entry {
        let evidence: String
        let hash: Digest
        /// `nil` where its month was detached.
        let leaf: Bytes?
    }

    private struct Stored {
        let size: Int64
        let root: Digest
        let note: Bytes
    }

    private let bank: TestBank
    private let entries: [Entry]
    private let checkpoints: [Stored]
    private let keys: [VerifierKey]
    private(set) var faults: [String] = []

    /// Reads the log of a bank in which nothing waits for its position.
    ///
    /// - Parameter bank: Where it is; instances may go on.
    /// - Throws: ``StoreFailure``.
    init(_ bank: TestBank) async throws {
        self.bank = bank
        // First: what is before the newest of these stays as it is, also while an instance goes on.
        checkpoints = try await bank.sql(
            "SELECT size, root, note FROM countersign.log_checkpoint ORDER BY size"
        ).map { row in
            Stored(size: try row["size"], root: try row["root"], note: try row["note"])
        }
        let size = checkpoints.last?.size ?? 0
        let rows = try await bank.sql(
            """
            SELECT l.position, l.evidence_id::text AS evidence, l.leaf_hash,
                   (SELECT e.leaf FROM countersign.evidence_known e WHERE e.id = l.evidence_id LIMIT 1) AS leaf
              FROM countersign.log_leaf l WHERE l.position < \(size) ORDER BY l.position
            """)
        var entries: [Entry] = []
        for (index, row) in rows.enumerated() {
            let position: Int64 = try row["position"]
            if position != Int64(index) { faults.append("I4: position \(index) is \(position)") }
            entries.append(
                Entry(
                    evidence: try row["evidence"], hash: try row["leaf_hash"],
                    leaf: try row["leaf"]))
        }
        if entries.count != Int(size) {
            faults.append("I4: positions end at \(entries.count), and not at \(size)")
        }
        self.entries = entries
        keys = try await bank.sql("SELECT verifier_key FROM countersign.log_key").compactMap {
            VerifierKey(text: try $0["verifier_key"])
        }
    }

    /// Checks everything.
    ///
    /// - Parameters:
    ///   - notes: Signed notes that left the service, in any order.
    ///   - spans: What callers were told of.
    /// - Throws: ``StoreFailure``; what is not so is in ``faults``.
    mutating func check(notes: Set<Bytes>, spans: [Span]) async throws {
        try await checkBijection()
        checkRoots()
        try await checkCompleteness()
        try await checkPublished(notes)
        checkOrder(spans)
        checkChains()
    }

    /// I4: each record that is here has one position, and each position has its record, or its month was detached.
    private mutating func checkBijection() async throws {
        let ids = Set(entries.map(\.evidence))
        if ids.count != entries.count { faults.append("I4: a record stands twice") }
        let broken = try await bank.count(
            """
            SELECT (SELECT count(*) FROM countersign.audit_unsequenced u WHERE NOT u.is_due)
                 + (SELECT count(*) FROM countersign.log_leaf l
                     WHERE l.evidence_id >= coalesce(countersign.detached_until(),
                               '00000000-0000-0000-0000-000000000000')
                       AND NOT EXISTS (SELECT FROM countersign.evidence e WHERE e.id = l.evidence_id))
                 + (SELECT count(*) FROM countersign.log_state s
                     WHERE s.size <> (SELECT count(*) FROM countersign.log_leaf))
            """)
        if broken != 0 { faults.append("I4: \(broken) records or positions have no other half") }
    }

    /// I5: each stored root is that of the leaves before it.
    private mutating func checkRoots() {
        var edge = TreeEdge()
        var left = checkpoints[...]
        func roots(_ faults: inout [String]) {
            while let next = left.first, next.size == edge.size {
                if next.root != edge.root { faults.append("I5: another root at \(next.size)") }
                left.removeFirst()
            }
        }
        roots(&faults)
        for (position, entry) in entries.enumerated() {
            if let leaf = entry.leaf, sha256([0] + leaf) != entry.hash {
                faults.append("I4: another leaf at \(position)")
            }
            _ = edge.append(CollectionOfOne(entry.hash))
            roots(&faults)
        }
        if let rest = left.first { faults.append("I5: a checkpoint of \(rest.size), too large") }
    }

    /// I6: every checkpoint holds all that its snapshot saw, not the newest alone.
    private mutating func checkCompleteness() async throws {
        // In parts: a long run has thousands, each of which looks at all records.
        for first in stride(from: 0, to: checkpoints.count, by: 100) {
            let sizes = checkpoints[first..<min(first + 100, checkpoints.count)].map(\.size)
            let broken = try await bank.sql(
                """
                SELECT c.size FROM countersign.log_checkpoint c
                 CROSS JOIN LATERAL countersign.audit_completeness(c.size) a
                 WHERE c.size BETWEEN \(sizes[0]) AND \(sizes[sizes.count - 1])
                   AND (a.unsequenced, a.missing, a.altered) <> (0, 0, 0) ORDER BY c.size
                """)
            for row in broken {
                let size: Int64 = try row["size"]
                faults.append("I6: the checkpoint of \(size) is not complete")
            }
        }
    }

    /// I5: what was published is stored, and one beginning of the other, as are all that are stored.
    private mutating func checkPublished(_ notes: Set<Bytes>) async throws {
        var published: [Checkpoint] = []
        for bytes in notes {
            guard let note = SignedNote(decoding: bytes), let seen = Checkpoint(text: note.text),
                keys.contains(where: { $0.verifies(note) })
            else {
                faults.append("I5: a note that is not signed was published")
                continue
            }
            published.append(seen)
            let stored = checkpoints.first { $0.size == seen.size }
            let text = stored.flatMap { SignedNote(decoding: $0.note)?.text }
            if stored?.root != seen.root || text != note.text {
                faults.append("I5: the published checkpoint of \(seen.size) is not stored")
            }
        }
        try await checkConsistency(published.map { ($0.size, $0.root) }.sorted { $0.0 < $1.0 })
        try await checkConsistency(checkpoints.map { ($0.size, $0.root) })
    }

    private mutating func checkConsistency(_ trees: [(size: Int64, root: Digest)]) async throws {
        let database = Database(DatabaseOptions(connection: bank.superuser, size: 1))
        let reader = PostgresLogReader(database: database)
        for (old, new) in zip(trees, trees.dropFirst()) where old.size > 0 {
            let proof = try await reader.consistency(from: old.size, to: new.size)
            let isConsistent =
                proof.map {
                    TreeProof.isConsistent(
                        from: old.size, root: old.root, to: new.size, root: new.root, by: $0)
                } ?? false
            if !isConsistent { faults.append("I5: a fork from \(old.size) to \(new.size)") }
        }
        await database.close()
    }

    /// I7: what was acknowledged before another one was begun comes before it.
    private mutating func checkOrder(_ spans: [Span]) {
        var positions: [String: Int] = [:]
        for (position, entry) in entries.enumerated() { positions[entry.evidence] = position }
        for span in spans where positions[span.id] == nil {
            faults.append("I7: \(span.id) was acknowledged and has no position")
        }
        for first in spans {
            for second in spans where first.end < second.begin {
                if let a = positions[first.id], let b = positions[second.id], a >= b {
                    faults.append("I7: \(first.id) stands after \(second.id)")
                }
            }
        }
    }

    /// I13: the chain of each action and of each credential has every number once, and each link is the hash of the
    /// record before. A record of a detached month may be what is missing.
    private mutating func checkChains() {
        let isDetached = entries.contains { $0.leaf == nil }
        var chains: [String: [Int: (hash: String, previous: String)]] = [:]
        for (position, entry) in entries.enumerated() {
            guard let bytes = entry.leaf else { continue }
            guard let leaf = EvidenceLeaf(decoding: bytes) else {
                faults.append("I13: the leaf at \(position) cannot be read")
                continue
            }
            let links = [("action", leaf.action), ("credential", leaf.credential)]
            for case (let kind, let link?) in links {
                let name = "\(kind) \(link.of)"
                if chains[name]?[link.sequence] != nil {
                    faults.append("I13: \(name) has \(link.sequence) twice")
                }
                chains[name, default: [:]][link.sequence] = (entry.hash.hex, link.previous)
            }
        }
        for (name, chain) in chains {
            for (number, link) in chain where number > 1 {
                let before = chain[number - 1]
                if before.map({ $0.hash == link.previous }) ?? isDetached { continue }
                faults.append("I13: \(name) is broken before \(number)")
            }
            if chain[1].map({ !$0.previous.isEmpty }) ?? !isDetached {
                faults.append("I13: \(name) has no beginning")
            }
        }
    }
}
