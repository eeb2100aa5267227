import Countersign
import Crypto
import Testing
import WebAuthn

/// What clients post, and what they are sent.
@Suite struct `Credentials as JSON` {
    @Test func `what the software authenticator posts reads back`() throws {
        let fixture = try Fixture()
        let registration = fixture.registration()
        #expect(try PasskeyRegistration(json: registration.json) == registration)
        let assertion = try fixture.assertion()
        #expect(try PasskeyAssertion(json: assertion.json) == assertion)
        let silent = try fixture.assertion(userHandle: nil)
        #expect(silent.json["response"]?["userHandle"] == .null)
        #expect(try PasskeyAssertion(json: silent.json) == silent)
    }

    @Test func `members that are not needed are ignored, and transports may be missing`() throws {
        let fixture = try Fixture()
        let json = fixture.registration().json
            .changing("authenticatorAttachment", "platform")
            .changing("response", "publicKeyAlgorithm", .integer(-8))
            .changing("response", "transports", nil)
        #expect(try PasskeyRegistration(json: json).transports == [])
        #expect(fixture.refusal(try PasskeyRegistration(json: json)) == nil)
    }

    @Test func `a wrong envelope is refused with its own code`() throws {
        let json = try Fixture().assertion().json
        let id = json["id"]?.text ?? ""
        let other = Base64.encodeURL(Bytes(repeating: 1, count: 32))
        let refused: [(JSON, String)] = [
            (.null, "credential_malformed"), (.array([json]), "credential_malformed"),
            (json.changing("type", "public_key"), "credential_type"),
            (json.changing("type", nil), "credential_type"),
            (json.changing("id", .string(other)), "credential_id_mismatch"),
            (json.changing("id", nil), "credential_id_mismatch"),
            (json.changing("rawId", .string(id + "=")), "base64url_required"),
            (json.changing("rawId", .integer(1)), "base64url_required"),
            (json.changing("response", nil), "response_malformed"),
            (json.changing("response", .string("{}")), "response_malformed"),
        ]
        for (json, code) in refused {
            #expect(throws: InvalidValue.self) { try PasskeyAssertion(json: json) }
            do {
                _ = try PasskeyRegistration(json: json)
                Issue.record("accepted \(code)")
            } catch {
                #expect(error.code == code)
            }
        }
    }

    @Test(arguments: ["clientDataJSON", "authenticatorData", "signature", "userHandle"])
    func `every member of an assertion is base64url without padding`(name: String) throws {
        let json = try Fixture().assertion().json
        for text in ["AA==", "AA=", "+/8", "A", "AB\n", " AA", "AB"] {
            #expect(throws: InvalidValue.self) {
                try PasskeyAssertion(json: json.changing("response", name, .string(text)))
            }
        }
        for value in [JSON.integer(1), .bool(true), [:], []] {
            #expect(throws: InvalidValue.self) {
                try PasskeyAssertion(json: json.changing("response", name, value))
            }
        }
        if name != "userHandle" {
            #expect(throws: InvalidValue.self) {
                try PasskeyAssertion(json: json.changing("response", name, nil))
            }
        }
    }

    @Test func `transports are a short list of short strings`() throws {
        let json = try Fixture().registration().json
        func transports(_ value: JSON) throws -> [String] {
            try PasskeyRegistration(json: json.changing("response", "transports", value))
                .transports
        }
        #expect(try transports(["usb", "new-one"]) == ["usb", "new-one"])
        #expect(try transports(.null) == [])
        let refused: [JSON] = [
            "usb", ["usb", .integer(1)], [.string(String(repeating: "x", count: 33))],
            .array(Array(repeating: "usb", count: 9)), .object([]),
        ]
        for value in refused { #expect(throws: InvalidValue.self) { try transports(value) } }
    }

    @Test(arguments: [AttestationConveyance.none, .direct])
    func `creation options ask for a verified ES256 passkey, and for an attestation if wished`(
        attestation: AttestationConveyance
    ) throws {
        let fixture = try Fixture()
        let options = CreationOptions(
            relyingParty: fixture.relyingParty, userHandle: [1, 2, 3], userName: "Your account",
            challenge: [0xFB, 0xFF], timeout: Seconds(300),
            exclude: [CredentialDescriptor(id: [9], transports: ["internal"])], policy: .service,
            attestation: attestation, use: .signing)
        let expected =
            #"{"rp":{"id":"bank.example","name":"Bank"},"#
            + #""user":{"id":"AQID","name":"Your account","displayName":"Your account"},"#
            + #""challenge":"-_8","pubKeyCredParams":[{"type":"public-key","alg":-7}],"#
            + #""timeout":300000,"#
            + #""excludeCredentials":[{"type":"public-key","id":"CQ","transports":["internal"]}],"#
            + #""authenticatorSelection":{"residentKey":"preferred","#
            + #""requireResidentKey":false,"userVerification":"required"},"#
            + #""attestation":"\#(attestation.rawValue)"}"#
        #expect(String(decoding: options.json.encoded, as: UTF8.self) == expected)
    }

    /// A client takes the first that it can make.
    @Test func `creation options ask for what the verifier's policy takes, in its order`() throws {
        let maker = try SyntheticMaker()
        let algorithms: [COSEAlgorithm] = [.eddsa, .rs256, .es256, .es384]
        let options = CreationOptions(
            relyingParty: maker.fixture.relyingParty, userHandle: [1], userName: "Your account",
            challenge: [0], timeout: Seconds(300), exclude: [],
            policy: .service(
                algorithms: algorithms, attestation: maker.trusting(.recorded)),
            attestation: .direct, use: .signing)
        let numbers: [Int64] = [-8, -257, -7, -35]
        #expect(
            options.json["pubKeyCredParams"]
                == .array(numbers.map { ["type": "public-key", "alg": .integer($0)] }))
        #expect(options.json["attestation"] == "direct")
        #expect(options.json["authenticatorSelection"]?["userVerification"] == "required")
    }

    @Test func `an Android app's origin is its certificate's fingerprint`() throws {
        let print = try #require(Digest(Bytes(repeating: 0xAB, count: 31) + [0x0F]))
        let origin = RelyingParty.androidOrigin(fingerprint: print)
        #expect(origin.hasPrefix("android:apk-key-hash:q6urq6"))
        #expect(origin.utf8.count == 21 + 43)
    }

    @Test func `request options name the passkeys and require verification`() throws {
        let options = RequestOptions(
            relyingParty: try Fixture().relyingParty, challenge: [0], timeout: Seconds(60),
            allow: [CredentialDescriptor(id: [9], transports: [])])
        let expected =
            #"{"challenge":"AA","timeout":60000,"rpId":"bank.example","#
            + #""allowCredentials":[{"type":"public-key","id":"CQ","transports":[]}],"#
            + #""userVerification":"required"}"#
        #expect(String(decoding: options.json.encoded, as: UTF8.self) == expected)
    }

    @Test func `a relying party needs a domain, a name and an origin`() {
        let refused: [(String, String, [String])] = [
            ("", "Bank", ["https://a"]), ("Bank.example", "Bank", ["https://a"]),
            ("b\u{E5}nk.example", "Bank", ["https://a"]), ("bank.example", "", ["https://a"]),
            ("bank.example", "Bank", []), ("bank.example", "Bank", [""]),
            ("https://bank.example", "Bank", ["https://a"]), ("bank\u{0}", "Bank", ["https://a"]),
            (String(repeating: "a", count: 513), "Bank", ["https://a"]),
        ]
        for (id, name, origins) in refused {
            #expect(throws: InvalidValue.self) {
                try RelyingParty(
                    id: id, name: name, origins: origins, framing: .refused)
            }
        }
    }
}

extension JSON {
    /// The object with that member changed, added, or (with `nil`) taken away.
    func changing(_ name: String, _ value: JSON?) -> JSON {
        guard case .object(let members) = self else { return self }
        let kept = members.filter { $0.name != name }
        return .object(kept + (value.map { [Member(name, $0)] } ?? []))
    }

    func changing(_ outer: String, _ name: String, _ value: JSON?) -> JSON {
        changing(outer, self[outer]?.changing(name, value))
    }
}
