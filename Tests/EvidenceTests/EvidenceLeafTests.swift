import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `Leaves` {
    /// The drafts of `docs/evidence-vectors.json`.
    private var drafts: [EvidenceDraft] {
        [
            EvidenceDraft(
                .actionCreated, action: Fixtures.id(1), outcome: "pending",
                body: ["note": "Zo\u{EB} \"quoted\"", "count": .integer(1)]),
            EvidenceDraft(
                .actionApproved, action: Fixtures.id(1), credential: Fixtures.id(1000),
                policy: Digest(Fixtures.bytes32(9)), outcome: "approved",
                body: ["signed": .bool(true)]),
            EvidenceDraft(.customerLocked, body: ["until": "2026-01-05T10:30:00Z"]),
        ]
    }

    private func published() throws -> [JSON] {
        guard
            case .array(let records)? = try RepositoryFiles.json("docs/evidence-vectors.json")[
                "records"]
        else { throw InvalidValue("records", "The file holds no records.") }
        return records
    }

    /// These bytes are in logs for ever: they may never change under one version.
    @Test func `are exactly the published ones`() throws {
        let log = try TestLog(entropy: EntropySource { Bytes(repeating: 0x11, count: $0) })
        let sealed = try log.seal(drafts)
        let records = try published()
        #expect(records.count == sealed.count)
        for (record, entry) in zip(records, sealed) {
            #expect(record["kind"]?.text == entry.kind.rawValue)
            #expect(record["leaf"]?.text == String(decoding: entry.leaf, as: UTF8.self))
            #expect(record["leaf_hash"]?.text == entry.leafHash.hex)
            #expect(record["salt"]?.text == Hex.encode(entry.salt))
            #expect(record["commitment"]?.text == entry.bodyCommitment.hex)
            let body = Bytes(try #require(record["body"]?.text).utf8)
            #expect(EvidenceSealer.commitment(to: body, salt: entry.salt) == entry.bodyCommitment)
            #expect(
                StoredEvidence(entry, wrappedKey: log.wrappedKey).openBody(with: log.keyEncryption)
                    == body)
        }
    }

    /// Every value of the vectors of RFC 8785 that is no string, in the place of one.
    @Test func `are refused with a value that is no string`() throws {
        guard let file = try Cases.vectors("rfc8785-jcs.json") else { return }
        let leaf = try #require(try published()[0]["leaf"]?.text)
        #expect(EvidenceLeaf(decoding: Bytes(leaf.utf8)) != nil)
        func texts(_ kind: String, _ text: (JSON) -> String?) -> [String] {
            guard case .array(let vectors)? = file[kind] else { return [] }
            return vectors.compactMap(text)
        }
        func number(_ pair: JSON) -> String? {
            guard case .array(let values) = pair else { return nil }
            return values.last?.text
        }
        let values =
            texts("numbers_ieee754_hex", number) + texts("rfc8785_appendix_b", number)
            + texts("objects") { $0["output"]?.text } + ["Infinity", "NaN", "null", "true"]
        #expect(values.count == 168 + 24 + 6 + 4)
        for value in values {
            let other = leaf.replacing(#""outcome":"pending""#, with: #""outcome":\#(value)"#)
            #expect(other != leaf && EvidenceLeaf(decoding: Bytes(other.utf8)) == nil, "\(value)")
            let more = leaf.dropLast() + #","z":\#(value)}"#
            #expect(EvidenceLeaf(decoding: Bytes(more.utf8)) == nil, "\(value)")
        }
    }

    @Test func `are shown in the documentation, byte for byte`() throws {
        let page = try RepositoryFiles.text("docs/evidence-format.md")
        for record in try published() {
            for name in ["leaf", "leaf_hash", "commitment", "body"] {
                let shown = try #require(record[name]?.text)
                #expect(page.utf8.contains(shown.utf8), "\(name)")
            }
        }
    }

    @Test func `are read back, and nothing else is`() throws {
        for record in try published() {
            let text = try #require(record["leaf"]?.text)
            let leaf = try #require(EvidenceLeaf(decoding: Bytes(text.utf8)))
            #expect(leaf.bytes == Bytes(text.utf8))
        }
        let good = try #require(try published()[1]["leaf"]?.text)
        let others = [
            "", "{}", good + " ", good.replacing("leaf/1", with: "leaf/2"),
            good.replacing(#""aseq":"2""#, with: #""aseq":"+2""#),
            good.replacing(#""aseq":"2""#, with: #""aseq":"02""#),
            good.replacing(#""aseq":"2","#, with: ""),
            good.replacing(#""cprev":"","#, with: ""),
            good.replacing(#""policy":"09"#, with: #""policy":"0"#),
            good.replacing(#""policy":"09"#, with: #""policy":"9g"#),
            good.replacing(#""v":"#, with: #""u":"more","v":"#),
            good.replacing("2026-01-05T10:00:00Z", with: "2026-01-05T10:00:00.000Z"),
            good.replacing("019b8d9c", with: "019B8D9C"),
            good.replacing(#""body":"da"#, with: #""body":"DA"#),
            good.replacing(#""subject":"#, with: #""subjec":"#),
        ]
        for other in others {
            #expect(other != good)
            #expect(EvidenceLeaf(decoding: Bytes(other.utf8)) == nil, "\(other)")
        }
    }

    @Test func `hold no personal data`() async throws {
        let log = try TestLog()
        for content in try ActionKind.allCases.map({ try Fixtures.content($0) }) {
            let decided = try await Decided(.approve, content, by: .passkey)
            for entry in try log.seal(decided.drafts) {
                let leaf = String(decoding: entry.leaf, as: UTF8.self)
                for secret in ["Erika", "c-1001", Fixtures.payeeIBAN, "4915187654321", "120.00"] {
                    #expect(!leaf.contains(secret))
                }
            }
        }
    }

    @Test func `of one transaction have IDs in their order`() throws {
        let log = try TestLog()
        let many = (0..<20).map { number in
            EvidenceDraft(.evidenceRead, body: ["n": .integer(number)])
        }
        let ids = try log.seal(many).map(\.id)
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == ids.count)
    }

    @Test func `continue the chains where they stood`() throws {
        let log = try TestLog()
        let head = Digest(Fixtures.bytes32(6))
        let heads = ChainHeads(
            actions: [Fixtures.id(1): ChainHead(length: 4, leafHash: head)],
            credentials: [Fixtures.id(1000): ChainHead(length: 9, leafHash: head)])
        let sealed = try log.seal(drafts + drafts, heads: heads)
        let leaves = try sealed.map { try #require(EvidenceLeaf(decoding: $0.leaf)) }
        #expect(leaves.compactMap(\.action?.sequence) == [5, 6, 7, 8])
        #expect(leaves.compactMap(\.credential?.sequence) == [10, 11])
        #expect(leaves[0].action?.previous == head?.hex)
        #expect(leaves[1].action?.previous == sealed[0].leafHash.hex)
        #expect(leaves[3].action?.previous == sealed[1].leafHash.hex)
        #expect(leaves[1].credential?.previous == head?.hex)
        #expect(leaves[4].credential?.previous == sealed[1].leafHash.hex)
        #expect(leaves[2].action == nil)
    }
}
