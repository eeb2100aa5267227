import Countersign
import Crypto
import Evidence
import Testing

@Suite struct `A promise of a record` {
    private let signer: PromiseSigner
    private let evidence = ID<Countersign.Evidence>(
        rawValue: UInt128(1_790_000_000_123) << 80 | 7 << 76 | 0b10 << 62)
    private let leafHash = sha256([1])

    init() throws {
        signer = PromiseSigner(
            key: try Ed25519PrivateKey.generate(), origin: "bank.example/log", within: Seconds(3600)
        )
    }

    private func note() throws -> SignedNote {
        let text = try #require(signer.promise(of: evidence, leafHash))
        return try #require(SignedNote(decoding: Bytes(text.utf8)))
    }

    @Test func `names the log, the record, its leaf and by when, counted from the record's ID`()
        throws
    {
        let promise = try #require(RecordPromise.read(try note(), signedBy: signer.verifierKey))
        #expect(promise.origin == "bank.example/log" && promise.evidence == evidence)
        #expect(promise.leafHash == leafHash)
        #expect(promise.dueAt == Instant(milliseconds: 1_790_003_600_123))
        #expect(
            String(decoding: promise.text, as: UTF8.self) == """
                countersign/promise/1
                bank.example/log
                \(evidence.text)
                \(Base64.encode(leafHash.bytes))
                2026-09-21T15:13:20.123Z

                """)
    }

    @Test func `is the same, byte for byte, whenever it is given`() {
        #expect(signer.promise(of: evidence, leafHash) == signer.promise(of: evidence, leafHash))
    }

    @Test func `is nobody's that another key has signed, or one of another log`() throws {
        let note = try note()
        let key = signer.verifierKey
        let other = try Ed25519PrivateKey.generate().publicKey
        for wrong in [
            VerifierKey(name: key.name, kind: .ed25519, publicKey: other),
            VerifierKey(name: "other.example/promise", kind: .ed25519, publicKey: key.publicKey),
        ] {
            #expect(RecordPromise.read(note, signedBy: wrong) == nil)
        }
        // The key of a log is none of its promises, whatever it signs.
        let log = try Ed25519PrivateKey.generate()
        let logKey = VerifierKey(name: "bank.example/log", kind: .ed25519, publicKey: log.publicKey)
        let line = try #require(try logKey.signature(on: note.text) { try log.sign($0) })
        let signed = SignedNote(text: note.text, signatures: [line])
        #expect(logKey.verifies(signed) && RecordPromise.read(signed, signedBy: logKey) == nil)
    }

    @Test func `with any byte changed is none`() throws {
        let bytes = try note().encoded
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            let read = SignedNote(decoding: changed).flatMap {
                RecordPromise.read($0, signedBy: signer.verifierKey)
            }
            #expect(read == nil, "byte \(index)")
        }
    }

    @Test func `is read only as it is written`() throws {
        let text = try note().text
        #expect(RecordPromise(text: text) != nil)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        for wrong in [
            Bytes(text.dropLast()), text + [0x0A],
            Bytes(
                String(decoding: text, as: UTF8.self).replacing("promise/1", with: "promise/2").utf8
            ),
            Bytes(String(decoding: text, as: UTF8.self).replacing(".123Z", with: ".1230Z").utf8),
            Bytes((lines.dropLast().joined(separator: "\n") + "\n").utf8), [],
        ] {
            #expect(RecordPromise(text: wrong) == nil)
        }
    }
}
