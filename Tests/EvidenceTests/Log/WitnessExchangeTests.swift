import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `The exchange with a witness` {
    private static let text = Bytes(
        "bank.example/log\n7\n\(Base64.encode(Fixtures.bytes32(1)))\n".utf8)

    private static func note() -> SignedNote {
        SignedNote(
            text: text,
            signatures: [
                NoteSignature(name: "bank.example/log", keyID: [1, 2, 3, 4], signature: [5, 6])
            ])
    }

    @Test func `sends the old size, the proof, an empty line and the note`() throws {
        let hash = try #require(Digest(Fixtures.bytes32(2)))
        let request = WitnessRequest(old: 5, proof: [hash, hash], note: Self.note())
        let line = Base64.encode(Fixtures.bytes32(2))
        #expect(
            String(decoding: request.body, as: UTF8.self) == """
                old 5
                \(line)
                \(line)

                bank.example/log
                7
                \(Base64.encode(Fixtures.bytes32(1)))

                \u{2014} bank.example/log AQIDBAUG

                """)
        let first = WitnessRequest(old: 0, proof: [], note: Self.note()).body
        #expect(first == Bytes("old 0\n\n".utf8) + Self.note().encoded)
    }

    /// A witness with a key of its own.
    private struct Witness {
        let secret: Ed25519PrivateKey
        let key: VerifierKey

        init(_ name: String = "witness.example/w1") throws {
            secret = try .generate()
            key = VerifierKey(name: name, kind: .cosignature, publicKey: secret.publicKey)
        }

        func line(
            _ seconds: Int64, _ text: Bytes = `The exchange with a witness`.text
        ) throws -> Bytes {
            let secret = secret
            return try #require(
                try key.cosignature(on: text, at: Instant(milliseconds: seconds * 1000)) {
                    try secret.sign($0)
                }
            ).line
        }

        func read(
            _ body: Bytes, status: Int = 200, type: String? = nil
        ) -> WitnessAnswer {
            WitnessAnswer(
                status: status, type: type, body: body, to: `The exchange with a witness`.text,
                of: key)
        }
    }

    @Test func `takes the lines of that witness, and passes over those of others`() throws {
        let (witness, other) = (try Witness(), try Witness("other"))
        let (first, second) = (try witness.line(100), try witness.line(200))
        guard
            case .cosigned(let both) = witness.read(first + (try other.line(150)) + second),
            case .cosigned(let one) = witness.read(first)
        else {
            Issue.record("not cosigned")
            return
        }
        #expect(both.map(\.line) == [first, second])
        #expect(both.map(\.at.milliseconds) == [100_000, 200_000])
        #expect(one == [both[0]])
        #expect(witness.read(try other.line(150)) == .refused(.otherKey))
        // Of that name, with another key: its ID is another.
        #expect(witness.read(try Witness().line(150)) == .refused(.otherKey))
    }

    @Test func `believes no line when one of that witness does not verify`() throws {
        let witness = try Witness()
        let elsewhere = try witness.line(100, Self.text.dropLast(2) + Bytes("A\n".utf8))
        #expect(witness.read(elsewhere) == .refused(.invalid))
        #expect(witness.read(try witness.line(100) + elsewhere) == .refused(.invalid))
    }

    @Test func `takes nothing but signature lines`() throws {
        let witness = try Witness()
        let line = try witness.line(100)
        for body in [
            [], Bytes(line.dropLast()), line + [10], [10] + line, Bytes(line.dropFirst(2)),
            line + Bytes("x\n".utf8), Self.text + [10] + line, [0xFF, 10],
            Bytes(repeating: 0x20, count: WitnessAnswer.bytesMax + 1),
        ] {
            #expect(witness.read(body) == .refused(.malformed))
        }
    }

    @Test(arguments: [
        (409, "text/x.tlog.size", "7\n", WitnessAnswer.knows(size: 7)),
        (409, "text/x.tlog.size", "0\n", .knows(size: 0)),
        (409, "text/plain", "7\n", .refused(.malformed)),
        (409, "", "7\n", .refused(.malformed)),
        (409, "text/x.tlog.size", "7", .refused(.malformed)),
        (409, "text/x.tlog.size", "07\n", .refused(.malformed)),
        (409, "text/x.tlog.size", "-7\n", .refused(.malformed)),
        (409, "text/x.tlog.size", "9223372036854775808\n", .refused(.malformed)),
        (409, "text/x.tlog.size", "\n", .refused(.malformed)),
        (422, "", "", .inconsistent), (404, "", "", .refused(.unknownLog)),
        (403, "", "", .refused(.unknownKey)), (400, "", "", .refused(.badRequest)),
        (500, "", "", .refused(.status)), (201, "", "", .refused(.status)),
        (302, "", "", .refused(.status)),
    ])
    func `tells every status apart`(
        status: Int, type: String, body: String, answer: WitnessAnswer
    ) throws {
        #expect(
            try Witness().read(Bytes(body.utf8), status: status, type: type.isEmpty ? nil : type)
                == answer)
    }
}
