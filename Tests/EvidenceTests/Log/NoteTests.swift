import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// A key that signs notes, fixed.
struct NoteSigner {
    let key: VerifierKey
    private let privateKey: Ed25519PrivateKey

    /// - Parameters:
    ///   - name: The name of the key.
    ///   - kind: What its signatures cover.
    ///   - seed: 32 times this byte.
    /// - Throws: Never with a seed of 32 bytes.
    init(_ name: String, _ kind: VerifierKey.Kind = .ed25519, seed: UInt8) throws {
        privateKey = try Ed25519PrivateKey(raw: Fixtures.bytes32(seed))
        key = VerifierKey(name: name, kind: kind, publicKey: privateKey.publicKey)
    }

    func sign(_ text: Bytes, at instant: Instant = Fixtures.at) throws -> NoteSignature {
        try #require(
            try key.kind == .ed25519
                ? key.signature(on: text, by: privateKey.sign)
                : key.cosignature(on: text, at: instant, by: privateKey.sign))
    }

    func note(_ text: String) throws -> SignedNote {
        SignedNote(text: Bytes(text.utf8), signatures: [try sign(Bytes(text.utf8))])
    }
}

extension SignedNote {
    /// The same note with one more signature.
    func adding(_ signature: NoteSignature) -> SignedNote {
        SignedNote(text: text, signatures: signatures + [signature])
    }
}

@Suite struct `A signed note` {
    private let log: NoteSigner
    private let witness: NoteSigner
    let text = "log.bank.example\n3\n" + Base64.encode(Fixtures.bytes32(1)) + "\n"

    init() throws {
        log = try NoteSigner("log.bank.example", seed: 7)
        witness = try NoteSigner("witness.example/w1", .cosignature, seed: 8)
    }

    @Test func `is read as it is written`() throws {
        let note = try log.note(text).adding(witness.sign(Bytes(text.utf8)))
        #expect(SignedNote(decoding: note.encoded) == note)
        let lines = String(decoding: note.encoded, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 7)
        #expect(lines[3] == "" && lines[6] == "")
        #expect(lines[4].hasPrefix("— log.bank.example "))
    }

    @Test func `may have empty lines in its text: the last one ends it`() throws {
        let note = try log.note("a\n\nb\n")
        #expect(SignedNote(decoding: note.encoded)?.text == Bytes("a\n\nb\n".utf8))
    }

    @Test func `is verified by the keys that signed it, and is nothing to others`() throws {
        let note = try log.note(text).adding(
            witness.sign(Bytes(text.utf8), at: Instant(milliseconds: 1_700_000_000_000)))
        #expect(log.key.verdict(on: note) == .signed(at: nil))
        #expect(
            witness.key.verdict(on: note)
                == .signed(at: Instant(milliseconds: 1_700_000_000_000)))
        // Same name and another key, same key under another name, same key as another kind.
        let others = [
            try NoteSigner("log.bank.example", seed: 9), try NoteSigner("log.bank.test", seed: 7),
            try NoteSigner("log.bank.example", .cosignature, seed: 7),
        ]
        for other in others {
            #expect(other.key.verdict(on: note) == .unsigned)
            #expect(!other.key.verifies(note))
        }
    }

    @Test func `is refused as a whole by a key whose signature is wrong`() throws {
        let note = try log.note(text)
        let wrong = NoteSignature(
            name: log.key.name, keyID: log.key.keyID, signature: Bytes(repeating: 1, count: 64))
        #expect(log.key.verdict(on: note.adding(wrong)) == .invalid)
        #expect(!log.key.verifies(note.adding(wrong)))
        let short = NoteSignature(name: log.key.name, keyID: log.key.keyID, signature: [1])
        #expect(log.key.verdict(on: note.adding(short)) == .invalid)
    }

    @Test func `is not cosigned at another time, or over another text`() throws {
        let line = try witness.sign(Bytes(text.utf8))
        let note = try log.note(text)
        for index in line.signature.indices {
            var signature = line.signature
            signature[index] ^= 1
            let altered = NoteSignature(
                name: line.name, keyID: line.keyID, signature: signature)
            #expect(witness.key.verdict(on: note.adding(altered)) == .invalid)
        }
        #expect(witness.key.verdict(on: try log.note("x\n").adding(line)) == .invalid)
        // A log's own signature by the same key is no cosignature.
        let plain = try NoteSigner("witness.example/w1", seed: 8).sign(Bytes(text.utf8))
        let posing = NoteSignature(
            name: line.name, keyID: line.keyID, signature: plain.signature)
        #expect(witness.key.verdict(on: note.adding(posing)) == .invalid)
    }

    @Test func `is cosigned at the earliest of several times`() throws {
        let first = Instant(milliseconds: 1_700_000_000_000)
        let note = try log.note(text)
            .adding(witness.sign(Bytes(text.utf8), at: first + Seconds(9)))
            .adding(witness.sign(Bytes(text.utf8), at: first))
        #expect(witness.key.verdict(on: note) == .signed(at: first))
    }

    @Test func `has at most 64 signatures`() throws {
        let note = try log.note(text)
        let line = note.signatures[0].line
        let bytes = note.encoded
        #expect(SignedNote(decoding: bytes + (1..<64).flatMap { _ in line }) != nil)
        #expect(SignedNote(decoding: bytes + (0..<64).flatMap { _ in line }) == nil)
    }

    @Test(arguments: [
        "", "\n", "\n\n", "a", "a\n", "a\n\n", "a\n\nb\n", "a\n\n— n AAAAAAE=", "\n— n AAAAAAE=\n",
        "a\n— n AAAAAAE=\n", "a\n\n— n AAAAAAE=\n\n", "a\n\n- n AAAAAAE=\n", "a\n\n—n AAAAAAE=\n",
        "a\n\n—  n AAAAAAE=\n", "a\n\n— n  AAAAAAE=\n", "a\n\n— n AAAAAAE= \n",
        "a\n\n— n+m AAAAAAE=\n",
        "a\n\n—  AAAAAAE=\n", "a\n\n— n\u{A0}m AAAAAAE=\n", "a\n\n— n AAAAAA==\n",
        "a\n\n— n AAAAAAE\n",
        "a\n\n— n AAAAAAF=\n", "a\n\n— n AAAA_AE=\n", "a\n\n— n \n", "a\r\n\n— n AAAAAAE=\n",
        "a\u{0}\n\n— n AAAAAAE=\n", "a\t\n\n— n AAAAAAE=\n", "a\n\n— n AAAAAAE=\nb\n",
    ])
    func `has no other spelling`(note: String) {
        #expect(SignedNote(decoding: Bytes("a\n\n— n AAAAAAE=\n".utf8)) != nil)
        #expect(SignedNote(decoding: Bytes(note.utf8)) == nil)
    }

    @Test func `is UTF-8`() {
        let bytes = Bytes("a\n\n— n AAAAAAE=\n".utf8)
        #expect(SignedNote(decoding: [0xFF] + bytes) == nil)
    }
}

@Suite struct `A verifier key` {
    @Test func `is read as it is written`() throws {
        for kind in [VerifierKey.Kind.ed25519, .cosignature] {
            let key = try NoteSigner("log.bank.example", kind, seed: 7).key
            #expect(VerifierKey(text: key.text) == key)
        }
    }

    @Test func `has no other spelling, and the ID that it says`() throws {
        let text = try NoteSigner("log.bank.example", seed: 7).key.text
        let parts = text.split(separator: "+", maxSplits: 2).map(String.init)
        let other = try NoteSigner("log.bank.example", seed: 8).key
        let unknown = Base64.encode([0x06] + other.publicKey.raw)
        for wrong in [
            "", "+", "++", text + "+", text + "=", " " + text, text + "\n",
            parts[0] + "+" + parts[1],
            "\(parts[0])+\(Hex.encode(other.keyID))+\(parts[2])", "+\(parts[1])+\(parts[2])",
            "\(parts[0])+\(parts[1].uppercased())+\(parts[2])",
            "a\(parts[0])+\(parts[1])+\(parts[2])", "\(parts[0])+\(parts[1])+\(unknown)",
            "\(parts[0])+\(parts[1])+\(Base64.encode([0x01] + other.publicKey.raw.dropLast()))",
        ] {
            #expect(VerifierKey(text: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `does not let a signature out that it does not verify`() throws {
        let key = try NoteSigner("log.bank.example", seed: 7).key
        let other = try Ed25519PrivateKey(raw: Fixtures.bytes32(8))
        let note = try SignedNote.note(signing: Bytes("a\n".utf8), as: key, by: other.sign)
        #expect(note == nil)
        let empty = SignedNote.note(signing: Bytes("a\n".utf8), as: key) { _ in [] }
        #expect(empty == nil)
    }
}

@Suite struct `A checkpoint` {
    private let root = Base64.encode(Fixtures.bytes32(1))

    @Test func `is three lines`() throws {
        let digest = try #require(Digest(Fixtures.bytes32(1)))
        let checkpoint = Checkpoint(origin: "log.bank.example", size: 0, root: digest)
        #expect(checkpoint.text == Bytes("log.bank.example\n0\n\(root)\n".utf8))
        #expect(Checkpoint(text: checkpoint.text) == checkpoint)
        let large = Checkpoint(origin: "é", size: .max, root: digest)
        #expect(Checkpoint(text: large.text) == large)
    }

    @Test func `has no other spelling, and no extension`() {
        for wrong in [
            "", "\n", "a\n1\n", "a\n1\n\(root)", "\n1\n\(root)\n", "a\n\n\(root)\n",
            "a\n01\n\(root)\n", "a\n+1\n\(root)\n", "a\n-1\n\(root)\n", "a\n 1\n\(root)\n",
            "a\n1 \n\(root)\n", "a\n9223372036854775808\n\(root)\n", "a\n0x1\n\(root)\n",
            "a\n١\n\(root)\n", "a b\n1\n\(root)\n", "a+b\n1\n\(root)\n", "a\n1\n\(root)=\n",
            "a\n1\n\(root.dropLast())\n", "a\n1\n\(root.dropLast(4))\n", "a\n1\n\n",
            "a\n1\n\(root)\n\n", "a\n1\n\(root)\nextension\n", "a\n1\n\(root) \n",
            "\na\n1\n\(root)\n", "a\r\n1\n\(root)\n",
        ] {
            #expect(Checkpoint(text: Bytes(wrong.utf8)) == nil, "\(wrong)")
        }
    }
}

@Suite struct `A file with a proof of inclusion` {
    private func proof(extra: Bytes? = nil, hashes: Int = 2) throws -> InclusionProofFile {
        InclusionProofFile(
            extra: extra, index: 3, hashes: (0..<hashes).map { sha256([UInt8($0)]) },
            checkpoint: try NoteSigner("log.bank.example", seed: 7).note(
                "a\n9\n\(Base64.encode(Fixtures.bytes32(1)))\n"))
    }

    @Test func `is read as it is written`() throws {
        for file in [
            try proof(), try proof(extra: [1, 2]), try proof(hashes: 0), try proof(hashes: 63),
        ] {
            #expect(InclusionProofFile(decoding: file.encoded) == file)
        }
        let lines = String(decoding: try proof(extra: [1]).encoded, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "c2sp.org/tlog-proof@v1")
        #expect(lines[1] == "extra AQ==")
        #expect(lines[2] == "index 3")
        #expect(lines[5] == "" && lines[6] == "a")
    }

    @Test func `has no other spelling`() throws {
        let text = String(decoding: try proof(extra: [1]).encoded, as: UTF8.self)
        let hash = Base64.encode(sha256([0]).bytes)
        let replacements = [
            ("@v1", "@v2"), ("@v1\n", "@v1 \n"), ("extra AQ==\n", "extra \n"),
            ("extra AQ==", "extra AQ"), ("extra AQ==", "extra AR=="), ("extra", "extras"),
            ("index 3", "index 03"), ("index 3", "index +3"), ("index 3", "index  3"),
            ("index 3", "index"), ("index 3\n", ""), ("index 3\n", "index 3\nindex 3\n"),
            (hash, hash + "="), (hash, String(hash.dropLast(4))), (hash, " " + hash),
            (hash + "\n", hash + "\n\n"), ("\n\na", "\na"), ("c2sp", "\nc2sp"), ("AQ==", "AQ==\r"),
        ]
        for (from, to) in replacements {
            let wrong = text.replacing(from, with: to)
            #expect(wrong != text)
            #expect(InclusionProofFile(decoding: Bytes(wrong.utf8)) == nil, "\(from) → \(to)")
        }
        #expect(InclusionProofFile(decoding: Bytes((text + "\n").utf8)) == nil)
        #expect(InclusionProofFile(decoding: []) == nil)
    }

    @Test func `has at most 63 hashes`() throws {
        let text = String(decoding: try proof(hashes: 63).encoded, as: UTF8.self)
        let line = Base64.encode(sha256([9]).bytes) + "\n"
        let wrong = text.replacing("index 3\n", with: "index 3\n" + line)
        #expect(InclusionProofFile(decoding: Bytes(wrong.utf8)) == nil)
    }
}
