import Countersign
import Testing
import WebAuthn

/// WebAuthn L3 §7.1 steps 5–11 and §7.2 steps 8–14, on an assertion and a registration each.
@Suite struct `Client data` {
    /// The two refusals, which must be the same one.
    private func refusal(
        _ fixture: Fixture, _ changes: [String: JSON?]
    ) throws -> VerificationFailure? {
        let registration = fixture.refusal(
            fixture.registration(clientData: fixture.clientData("webauthn.create", changes)))
        let assertion = fixture.refusal(
            try fixture.assertion(clientData: fixture.clientData("webauthn.get", changes)))
        #expect(registration == assertion)
        return assertion
    }

    private func refusal(
        _ fixture: Fixture, text: (String) -> Bytes
    ) throws -> VerificationFailure? {
        let create = String(decoding: fixture.clientData("webauthn.create"), as: UTF8.self)
        let get = String(decoding: fixture.clientData("webauthn.get"), as: UTF8.self)
        let registration = fixture.refusal(fixture.registration(clientData: text(create)))
        let assertion = fixture.refusal(try fixture.assertion(clientData: text(get)))
        #expect(registration == assertion)
        return assertion
    }

    @Test func `as browsers write it is believed`() throws {
        #expect(try refusal(try Fixture(), [:]) == nil)
    }

    @Test func `a byte order mark is left out in reading but is signed`() throws {
        #expect(try refusal(try Fixture()) { [0xEF, 0xBB, 0xBF] + Bytes($0.utf8) } == nil)
        let twice: Bytes = [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF]
        #expect(try refusal(try Fixture()) { twice + Bytes($0.utf8) } == .clientDataMalformed)
    }

    @Test func `unknown members and any order are fine`() throws {
        let extra: [String: JSON?] = [
            "tokenBinding": ["status": "supported"], "other_keys_can_be_added_here": "yes",
            "androidPackageName": "example.bank", "type": nil,
        ]
        let fixture = try Fixture()
        #expect(try refusal(fixture, extra) == .clientDataMalformed)
        let members = extra.filter { $0.key != "type" }
        #expect(try refusal(fixture, members) == nil)
        #expect(try refusal(fixture) { Bytes($0.replacing(",", with: " ,\n").utf8) } == nil)
    }

    @Test func `what is not one JSON object with the needed members is malformed`() throws {
        let fixture = try Fixture()
        let changes: [[String: JSON?]] = [
            ["type": nil], ["challenge": nil], ["origin": nil], ["type": .integer(1)],
            ["challenge": .null], ["origin": ["https://bank.example"]], ["crossOrigin": "false"],
            ["crossOrigin": .null], ["topOrigin": .bool(false)],
        ]
        for change in changes { #expect(try refusal(fixture, change) == .clientDataMalformed) }
        let texts: [(String) -> Bytes] = [
            { _ in [] }, { Bytes("[\($0)]".utf8) }, { Bytes("\($0){}".utf8) },
            { Bytes($0.dropLast().utf8) }, { Bytes($0.utf8) + [0xFF] },
            { $0.utf8.flatMap { [$0, 0] } }, { $0.utf8.flatMap { [0, $0] } },
            { Bytes($0.utf8) + [0] },
            { Bytes($0.replacing("}", with: ",\"origin\":\"https://bank.example\"}").utf8) },
            { Bytes($0.replacing("}", with: ",}").utf8) },
            { Bytes($0.utf8) + Bytes(repeating: 0x20, count: 16_384) },
            { Bytes((String(repeating: "[", count: 9000) + $0).utf8) },
        ]
        for text in texts {
            #expect(try refusal(fixture, text: text) == .clientDataMalformed)
        }
    }

    @Test func `the type is that of the ceremony`() throws {
        let fixture = try Fixture()
        for type in [
            "", "webauthn.GET", "webauthn.get ", "payment.get", "webauthn", "webauthn.other",
        ] {
            #expect(try refusal(fixture, ["type": .string(type)]) == .typeMismatch)
        }
        #expect(
            fixture.refusal(fixture.registration(clientData: fixture.clientData("webauthn.get")))
                == .typeMismatch)
        #expect(
            fixture.refusal(
                try fixture.assertion(clientData: fixture.clientData("webauthn.create")))
                == .typeMismatch)
    }

    @Test func `the challenge is the issued one, in its one spelling`() throws {
        let fixture = try Fixture()
        let text = Base64.encodeURL(fixture.challenge)
        let other = Base64.encodeURL(Bytes(repeating: 7, count: 32))
        for challenge in [
            "", other, text + "=", String(text.dropLast()), text + "A", " " + text,
            Base64.encode(fixture.challenge), Hex.encode(fixture.challenge),
            String(text.dropLast()) + (text.hasSuffix("B") ? "C" : "B"),
        ] {
            #expect(
                try refusal(fixture, ["challenge": .string(challenge)]) == .challengeMismatch)
        }
    }

    @Test func `the origin is exactly an allowed one`() throws {
        let fixture = try Fixture()
        for origin in [
            "", "null", "http://bank.example", "https://bank.example/", "https://bank.example:443",
            "https://www.bank.example", "https://bank.example.evil", "https://BANK.example",
            "https://bank.example\u{0}", " https://bank.example", "bank.example",
            "android:apk-key-hash:x",
        ] {
            #expect(try refusal(fixture, ["origin": .string(origin)]) == .originMismatch)
        }
        let app = "android:apk-key-hash:1-S4pBVRIKxRRO1ELT5jGRQm6SK40Zs0y6CLO4BcPnQ"
        let both = try Fixture(origins: [Fixture.origin, app])
        #expect(try refusal(both, ["origin": .string(app)]) == nil)
        #expect(try refusal(both, ["origin": .string(app + "=")]) == .originMismatch)
    }

    @Test func `two spellings that Swift calls equal are two origins`() throws {
        let composed = "https://b\u{00E5}nk.example"
        let decomposed = "https://ba\u{030A}nk.example"
        #expect(composed == decomposed)
        let fixture = try Fixture(origins: [composed])
        #expect(try refusal(fixture, ["origin": .string(composed)]) == nil)
        #expect(try refusal(fixture, ["origin": .string(decomposed)]) == .originMismatch)
    }

    @Test func `a frame of another site is refused unless allowed`() throws {
        let closed = try Fixture()
        #expect(try refusal(closed, ["crossOrigin": .bool(true)]) == .crossOriginNotAllowed)
        #expect(try refusal(closed, ["crossOrigin": nil]) == nil)
        let open = try Fixture(framing: .allowed(in: []))
        #expect(try refusal(open, ["crossOrigin": .bool(true)]) == nil)
    }

    @Test func `the framing page is one that is listed`() throws {
        let shop = "https://shop.example"
        let framed: [String: JSON?] = ["crossOrigin": .bool(true), "topOrigin": .string(shop)]
        let listed = try Fixture(framing: .allowed(in: [shop]))
        #expect(try refusal(listed, framed) == nil)
        let other = try Fixture(framing: .allowed(in: ["https://other.example"]))
        #expect(try refusal(other, framed) == .topOriginNotAllowed)
        let closed = try Fixture()
        #expect(try refusal(closed, framed) == .crossOriginNotAllowed)
        #expect(try refusal(closed, ["topOrigin": .string(shop)]) == .topOriginNotAllowed)
    }
}
