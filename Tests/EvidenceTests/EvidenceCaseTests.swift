import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

/// What others have reported of evidence that changed or was lost: the kinds that need no database. The others are
/// in `EndToEndTests`, played on one.
@Suite struct `Cases of evidence` {
    @Test func `are as expected`() async throws {
        guard let cases = try Cases.domain("evidence") else { return }
        let refused = try await BundleWorld(Fixtures.transfer("500.01")) { $0.following = [] }
        let cancelled = try await BundleWorld {
            $0.isHeld = true
            $0.following = [.cancelled]
        }
        let elsewhere: Set = [
            "concurrent_append", "later_verification", "tamper_field", "tamper_delete",
            "tamper_reorder",
        ]
        var deviating: [String] = []
        for kind in Set(cases.map(\.faultKind)).subtracting(elsewhere).sorted() {
            let ofKind = cases.filter { $0.faultKind == kind }
            deviating += ofKind.run("domain.jsonl evidence \(kind)") { one in
                switch kind {
                case "base64_length": base64(one)
                case "jsonb_round_trip": try document(one)
                case "timestamp_precision": try time(one)
                case "same_instant_order": try sameInstant(one)
                case "negative_events":
                    try verifies(one.input("event")?.text == "limit refusal" ? refused : cancelled)
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

    private func verifies(_ world: BundleWorld) throws -> Judgement {
        let fault = try world.fault(world.bundle().encoded)
        return judge(fault == nil, fault?.sentence ?? "")
    }
}
