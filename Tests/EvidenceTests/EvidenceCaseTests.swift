import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

/// What others have reported of evidence that changed, was lost or could not be verified later.
@Suite struct `Cases of evidence` {
    @Test func `are as expected`() async throws {
        guard let cases = try Cases.domain("evidence") else { return }
        let later = try await BundleWorld()
        let refused = try await BundleWorld(Fixtures.transfer("500.01")) { $0.following = [] }
        let cancelled = try await BundleWorld {
            $0.isHeld = true
            $0.following = [.cancelled]
        }
        let rows = try TamperedRows()
        var deviating: [String] = []
        for kind in Set(cases.map(\.faultKind)).sorted() {
            let ofKind = cases.filter { $0.faultKind == kind }
            deviating += ofKind.run("domain.jsonl evidence \(kind)") { one in
                switch kind {
                case "base64_length": base64(one)
                case "jsonb_round_trip": try document(one)
                case "timestamp_precision": try time(one)
                case "same_instant_order": try sameInstant(one)
                case "concurrent_append": try appended(one)
                case "later_verification": try verifies(later)
                case "negative_events":
                    try verifies(one.input("event")?.text == "limit refusal" ? refused : cancelled)
                case "tamper_field", "tamper_delete", "tamper_reorder": try rows.judge(one)
                default: .deviating("a kind that nobody knows")
                }
            }
        }
        #expect(deviating == [])
    }

    private func judge(_ isAsExpected: Bool, _ what: String) -> Judgement {
        isAsExpected ? .asExpected : .deviating(what)
    }

    private func base64(_ one: Case) -> Judgement {
        guard case .integer(let count)? = one.input("bytes"),
            case .integer(let length)? = one.expect("base64Length")
        else { return .deviating("unread") }
        let bytes = (0..<Int(count)).map { UInt8(truncatingIfNeeded: $0) }
        let text = Base64.encode(bytes)
        return judge(
            text.utf8.count == length && !text.utf8.contains(0) && Base64.decode(text) == bytes,
            "the text has another length or other bytes")
    }

    /// The bytes that were written are those that are hashed, in the database and in a bundle.
    private func document(_ one: Case) throws -> Judgement {
        let document = Bytes(try #require(one.input("document")?.text).utf8)
        let record = EvidenceBundle.Record(
            role: .created, position: 0, leaf: document,
            body: .init(salt: Fixtures.bytes32(1), bytes: document))
        let text = Checkpoint(
            origin: TestLog.origin, size: 1, root: EvidenceSealer.leafHash(document)
        ).text
        let bundle = EvidenceBundle(
            [record], timestamps: [],
            checkpoint: SignedNote(
                text: text, signatures: [try NoteSigner(TestLog.origin, seed: 7).sign(text)])
        ) { _ in [] }
        let read = bundle.flatMap { EvidenceBundle(decoding: $0.encoded) }?.entries[.created]
        return judge(
            read?.leaf == document && read?.body?.bytes == document, "the document has changed")
    }

    private func time(_ one: Case) throws -> Judgement {
        let clock = try #require(one.input("clock")?.text)
        let at = try Instant(text: clock) ?? utc(clock)
        let leaf = try leaf(at: at)
        return judge(
            EvidenceLeaf(decoding: leaf.bytes)?.at == at && leaf.at == at, "another time is read")
    }

    /// The instant that a clock with an offset shows: a database whose time zone is another one says the same
    /// time in other words, and the leaf says it in UTC.
    private func utc(_ clock: String) throws -> Instant {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: clock.contains("."))
        let seconds = try style.parse(clock).timeIntervalSince1970
        return Instant(milliseconds: Int64((seconds * 1000).rounded()))
    }

    private func leaf(at: Instant) throws -> EvidenceLeaf {
        EvidenceLeaf(
            log: TestLog.origin, id: ID(at: at, random: Fixtures.bytes32(1)),
            kind: "action.created", subject: TestLog.subject, at: at,
            bodyCommitment: sha256([]), action: nil, credential: nil, policy: nil, outcome: nil)
    }

    /// The order is that of positions, which a time does not tell.
    private func sameInstant(_ one: Case) throws -> Judgement {
        guard case .integer(let count)? = one.input("rowsWithTheSameTimestamp") else {
            return .deviating("unread")
        }
        let log = try TestLog()
        let drafts = (0..<Int(count)).map { number in
            EvidenceDraft(.customerLocked, body: ["number": .integer(Int64(number))])
        }
        let hashes = try log.seal(drafts).map(\.leafHash)
        let tree = TiledTree(hashes)
        let isInPlace = hashes.indices.allSatisfy { index in
            TreeProof.inclusion(of: Int64(index), in: tree.edge.size, from: tree.hashes)
                .flatMap {
                    TreeProof.root(
                        of: hashes[index], at: Int64(index), in: tree.edge.size, by: $0)
                } == tree.edge.root
        }
        return judge(isInPlace && tree.edge.size == count, "a record is in another place")
    }

    /// However the commits of several customers arrive, each has one place and none is lost.
    private func appended(_ one: Case) throws -> Judgement {
        guard case .integer(let count)? = one.input("parallelApprovals") else {
            return .deviating("unread")
        }
        var generator = try SeededGenerator()
        let hashes = NaiveTree(size: Int(count)).leafHashes.shuffled(using: &generator)
        let tree = TiledTree(hashes)
        let placed = (0..<count).compactMap { position in
            TreeProof.inclusion(of: position, in: count, from: tree.hashes).flatMap {
                TreeProof.root(of: hashes[Int(position)], at: position, in: count, by: $0)
            }
        }
        return judge(
            tree.edge.size == count && placed == Array(repeating: tree.edge.root, count: Int(count))
                && Set(hashes).count == count, "a record is lost or there twice")
    }

    private func verifies(_ world: BundleWorld) throws -> Judgement {
        let fault = try world.fault(world.bundle().encoded)
        return judge(fault == nil, fault?.sentence ?? "")
    }
}

/// A hundred records and the log over them, in which somebody with all rights changes something.
private struct TamperedRows {
    private let log: TestLog
    private let records: [StoredEvidence]
    private let root: Digest

    init() throws {
        let log = try TestLog()
        records = try (0..<100).map { row in
            try log.record([
                EvidenceDraft(
                    .actionCreated, action: Fixtures.id(row), body: ["row": .integer(Int64(row))])
            ])[0]
        }
        self.log = log
        root = TiledTree(records.compactMap { Digest($0.leafHash) }).edge.root
    }

    func judge(_ one: Case) throws -> Judgement {
        let op = one.input("op")?.text ?? ""
        guard let changed = try changed(op) else { return .deviating("unread") }
        guard let row = firstBadRow(in: changed) else { return .deviating("not found") }
        guard one.expect("firstBadRow") != nil else { return .asExpected }
        return row == 50 ? .asExpected : .deviating("found at \(row)")
    }

    private func changed(_ op: String) throws -> [StoredEvidence]? {
        var rows = records
        switch op {
        case "DELETE all rows of action 7": rows.remove(at: 7)
        case "DELETE row 50": rows.remove(at: 50)
        case "INSERT a second row with seq 50", "INSERT a copy of row 50 between 60 and 61":
            rows.insert(rows[50], at: op.hasSuffix("61") ? 61 : 51)
        case let op where op.hasPrefix("UPDATE row 50 SET "):
            let column = op.dropFirst("UPDATE row 50 SET ".count).prefix { $0 != " " }
            rows[50] = try rows[50].changing(String(column), to: rows[51].body)
        default: return nil
        }
        return rows
    }

    /// Each record by itself, then its hash against the tile, then all against the signed root.
    private func firstBadRow(in rows: [StoredEvidence]) -> Int? {
        let tile = records.map(\.leafHash)
        for (index, row) in rows.enumerated() {
            if log.verifier.fault(of: row) != nil || index >= tile.count
                || row.leafHash != tile[index]
            {
                return index
            }
        }
        return TiledTree(rows.compactMap { Digest($0.leafHash) }).edge.root == root
            ? nil : rows.count
    }
}

extension StoredEvidence {
    /// The row after an update. What a customer signed is in the body, and the links are in the leaf, whose
    /// hash the database computes again.
    fileprivate func changing(
        _ column: String, to other: EncryptedBody?
    ) throws -> StoredEvidence {
        let text = String(decoding: leaf, as: UTF8.self)
        switch column {
        case "prev_hash":
            return with(leaf: Bytes(text.replacing(#""aprev":"""#, with: #""aprev":"00""#).utf8))
        case "seq":
            return with(leaf: Bytes(text.replacing(#""aseq":"1""#, with: #""aseq":"2""#).utf8))
        case "user_id": return with(subject: Fixtures.id(11))
        default: return with(body: .some(other))
        }
    }
}
