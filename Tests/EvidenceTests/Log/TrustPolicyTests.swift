import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `A trust policy` {
    private let log: NoteSigner
    private let witnesses: [NoteSigner]

    init() throws {
        log = try NoteSigner("log.bank.example", seed: 7)
        witnesses = try (1...4).map {
            try NoteSigner("witness.example/w\($0)", .cosignature, seed: 10 + $0)
        }
    }

    /// Replaces `LOG`, `OTHER`, `W1` … `W4` by the keys.
    private func bytes(_ text: String) throws -> Bytes {
        var text = text.replacing("LOG", with: log.key.text)
            .replacing("OTHER", with: try NoteSigner("other.example", seed: 20).key.text)
        for (index, witness) in witnesses.enumerated() {
            text = text.replacing("W\(index + 1)", with: witness.key.text)
        }
        return Bytes(text.utf8)
    }

    private func policy(_ text: String) throws -> TrustPolicy {
        try TrustPolicy(text: bytes(text))
    }

    private func fault(_ text: String) throws -> TrustPolicyFault? {
        let bytes = try bytes(text)
        do throws(TrustPolicyFault) {
            _ = try TrustPolicy(text: bytes)
            return nil
        } catch { return error }
    }

    private func note(by signers: [NoteSigner]) throws -> SignedNote {
        let root = try #require(Digest(Fixtures.bytes32(1)))
        let text = Checkpoint(origin: log.key.name, size: 9, root: root).text
        return SignedNote(text: text, signatures: try signers.map { try $0.sign(text) })
    }

    @Test func `is read with comments, tabs and addresses`() throws {
        let policy = try policy(
            """
            # whom we believe

            log LOG https://log.bank.example/log
            \t log\tOTHER
            witness one W1 https://witness.example/w1
            witness zwei-é W2
            group both all one zwei-é
            quorum both

            """)
        #expect(policy.logs.map(\.key.name) == ["log.bank.example", "other.example"])
        #expect(policy.logs.map(\.url) == ["https://log.bank.example/log", nil])
        #expect(policy.witnesses.map(\.name) == ["one", "zwei-é"])
        let group = try #require(policy.groups.first)
        #expect(policy.groups.count == 1 && group.name == "both" && group.threshold == 2)
        #expect(group.members == ["one", "zwei-é"])
        #expect(policy.quorum == "both")
    }

    @Test(
        arguments: [
            ("quorum none", [[]], []), ("quorum a", [["a"], ["a", "b"]], [[], ["b"]]),
            ("group g any a b\nquorum g", [["a"], ["b"]], [[], ["c"]]),
            ("group g all a b\nquorum g", [["a", "b"]], [[], ["a"], ["b", "c"]]),
            ("group g 2 a b c\nquorum g", [["a", "c"], ["a", "b", "c"]], [["a"], ["c", "d"]]),
            (
                "group g any a b\ngroup h all g c\nquorum h", [["a", "c"], ["b", "c"]],
                [["a", "b"], ["c"]]
            ),
        ] as [(String, [Set<String>], [Set<String>])])
    func `counts who has cosigned`(
        lines: String, enough: [Set<String>], tooFew: [Set<String>]
    ) throws {
        let policy = try policy(
            "log LOG\nwitness a W1\nwitness b W2\nwitness c W3\nwitness d W4\n\(lines)\n")
        for cosigned in enough { #expect(policy.isQuorum(cosigned)) }
        for cosigned in tooFew { #expect(!policy.isQuorum(cosigned)) }
    }

    @Test(
        arguments: [
            ("", 1, .noQuorum), ("log LOG\n", 2, .noQuorum), ("quorum none", 1, .unended),
            ("quorum none\nquorum none\n", 2, .quorumTwice), ("quorum\n", 1, .form),
            ("quorum none none\n", 1, .form), ("quorum a\n", 1, .unknownName),
            ("quorum a\nwitness a W1\n", 1, .unknownName), ("Log LOG\n", 1, .keyword),
            ("logs LOG\n", 1, .keyword), ("log\n", 1, .form), ("log LOG a b\n", 1, .form),
            ("log x\n", 1, .key), ("log W1\n", 1, .logKey), ("witness a LOG\n", 1, .witnessKey),
            ("log LOG\nlog LOG\n", 2, .keyTwice), ("witness a W1\nwitness b W1\n", 2, .keyTwice),
            ("witness a W1\nwitness a W2\n", 2, .nameTwice), ("witness none W1\n", 1, .nameTwice),
            ("witness a\n", 1, .form), ("witness a W1 b c\n", 1, .form),
            ("group g any\n", 1, .form),
            ("group g any a\n", 1, .unknownName), ("group g any none\n", 1, .unknownName),
            ("witness a W1\ngroup a any a\n", 2, .nameTwice),
            ("witness a W1\ngroup g 0 a\n", 2, .threshold),
            ("witness a W1\ngroup g 2 a\n", 2, .threshold),
            ("witness a W1\ngroup g 01 a\n", 2, .threshold),
            ("witness a W1\ngroup g most a\n", 2, .threshold),
            ("witness a W1\ngroup g any a a\n", 2, .memberTwice),
            ("witness a W1\ngroup g any a\ngroup h any a\n", 3, .memberTwice),
            ("group g any g\n", 1, .unknownName), ("log LOG\r\n", 1, .characters),
            ("# \u{7}\n", 1, .characters), ("log LOG\nquorum none\u{7F}\n", 2, .characters),
        ] as [(String, Int, TrustPolicyFault.Reason)])
    func `is refused with the line that is wrong`(
        text: String, line: Int, reason: TrustPolicyFault.Reason
    ) throws {
        let fault = try fault(text)
        #expect(fault?.line == line)
        #expect(fault?.reason == reason)
    }

    @Test func `is no longer than 65,536 bytes, and UTF-8`() throws {
        let end = "quorum none\n"
        let filler = String(repeating: "#", count: TrustPolicy.bytesMax - end.utf8.count - 1)
        #expect(try fault(filler + "\n" + end) == nil)
        #expect(try fault(filler + "#\n" + end)?.reason == .tooLong)
        #expect(throws: TrustPolicyFault.self) { try TrustPolicy(text: [0x23, 0xFF, 0x0A]) }
    }

    @Test func `believes what its log and enough witnesses have signed`() throws {
        let policy = try policy("log LOG\nwitness a W1\nwitness b W2\nquorum a\n")
        let trusted = try policy.believe(note(by: [log, witnesses[0], witnesses[2]]))
        #expect(trusted.checkpoint.size == 9)
        #expect(trusted.cosignatures.map(\.witness) == ["a"])
        #expect(trusted.cosignatures.map(\.at) == [Fixtures.at])
        for (signers, fault) in [
            ([log], .quorum), ([log, witnesses[1]], .quorum), ([witnesses[0]], .logSignature),
            ([try NoteSigner("log.bank.example", seed: 8), witnesses[0]], .logSignature),
        ] as [([NoteSigner], CheckpointFault)] {
            #expect(throws: fault) { try policy.believe(note(by: signers)) }
        }
    }

    /// Also one that the quorum does not need: somebody has altered the note.
    @Test func `believes nothing with a signature that is wrong`() throws {
        let policy = try policy("log LOG\nlog OTHER\nwitness a W1\nwitness b W2\nquorum a\n")
        let good = try note(by: [log, witnesses[0]])
        let key = witnesses[1].key
        let wrong = NoteSignature(
            name: key.name, keyID: key.keyID, signature: Bytes(repeating: 0, count: 72))
        #expect(throws: CheckpointFault.witness("b")) { try policy.believe(good.adding(wrong)) }
        let own = NoteSignature(
            name: log.key.name, keyID: log.key.keyID, signature: Bytes(repeating: 0, count: 64))
        #expect(throws: CheckpointFault.logSignature) { try policy.believe(good.adding(own)) }
        #expect(throws: CheckpointFault.form) { try policy.believe(log.note("a\n")) }
        let stranger = try NoteSigner("log.bank.test", seed: 7)
        let root = Base64.encode(Fixtures.bytes32(1))
        #expect(throws: CheckpointFault.unknownLog) {
            try policy.believe(stranger.note("log.bank.test\n9\n\(root)\n"))
        }
    }

    /// While keys are replaced, both sign; whoever knows one of them believes.
    @Test func `takes one of two keys of a log`() throws {
        let next = try NoteSigner("log.bank.example", seed: 30)
        let note = try note(by: [log, next])
        for key in [log.key, next.key] {
            let policy = try TrustPolicy(text: Bytes("log \(key.text)\nquorum none\n".utf8))
            #expect(try policy.believe(note).checkpoint.size == 9)
        }
        #expect(note.adding(try witnesses[0].sign(note.text)).byLogAlone == note)
    }
}
