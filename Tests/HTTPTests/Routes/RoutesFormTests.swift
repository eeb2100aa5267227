import Countersign
import HTTP
import Testing

/// Bodies that are refused before any use case is asked.
@Suite struct `The form of bodies` {
    private static let approve = "/v1/actions/\(Fixture.action.id.text)/approve"

    /// Each is refused on every route that takes a body.
    private static let malformed: [(String, Bytes)] = [
        ("empty", []),
        ("white space", Bytes(" ".utf8)),
        ("cut off", Bytes(Body.transfer.utf8.dropLast(1))),
        ("trailing", Bytes((Body.transfer + "{}").utf8)),
        ("an array", Bytes("[]".utf8)),
        ("a string", Bytes(#""x""#.utf8)),
        ("null", Bytes("null".utf8)),
        ("deep", Bytes(String(repeating: "[", count: 600).utf8)),
        (
            "deep and closed",
            Bytes(
                (#"{"risk":"# + String(repeating: "[", count: 600)
                    + String(repeating: "]", count: 600) + "}").utf8)
        ),
        ("NUL", Bytes(#"{"reason":"a\u0000b"}"#.utf8)),
        ("a raw NUL", Bytes("{\"reason\":\"a\0b\"}".utf8)),
        ("a lone surrogate", Bytes(#"{"reason":"\ud800"}"#.utf8)),
        ("the wrong order of surrogates", Bytes(#"{"reason":"\udc00\ud800"}"#.utf8)),
        ("not UTF-8", Bytes(#"{"reason":""#.utf8) + [0xFF] + Bytes(#""}"#.utf8)),
        ("a byte order mark", [0xEF, 0xBB, 0xBF] + Bytes(Body.reason.utf8)),
        ("a duplicate", Bytes(#"{"reason":"other","reason":"other"}"#.utf8)),
        ("an escaped duplicate", Bytes(#"{"reason":"other","re\u0061son":"other"}"#.utf8)),
    ]

    @Test func `bodies that are no JSON objects, or ambiguous`() async throws {
        try await FakeAPI().serve { api async throws in
            for (name, body) in Self.malformed {
                for path in [
                    "/v1/actions", Self.approve,
                    "/v1/actions/\(Fixture.action.id.text)/reject",
                    "/v1/actions/\(Fixture.action.id.text)/cancel",
                    "/v1/customers/c-1001/credentials",
                    "/v1/customers/c-1001/credentials/challenges",
                    "/v1/customers/c-1001/credentials/authorizations",
                    "/v1/credentials/\(Body.credentialID)/revoke",
                ] {
                    let answer = try await api.post(path, body)
                    #expect(answer.status == 400, "\(name) to \(path)")
                    #expect(answer.slug == "malformed-request", "\(name) to \(path)")
                }
            }
        }
    }

    @Test(arguments: [
        ("/v1/actions", Body.transfer, "/extra"),
        ("/v1/actions", Body.newPayee, "/extra"),
        ("/v1/actions", Body.contactChange, "/extra"),
        (approve, Body.deviceKeyProof, "/extra"),
        (approve, Body.passkeyProof, "/extra"),
        ("/v1/actions/\(Fixture.action.id.text)/reject", Body.reason, "/extra"),
        ("/v1/actions/\(Fixture.action.id.text)/cancel", Body.reason, "/extra"),
        ("/v1/actions/\(Fixture.action.id.text)/challenges", "{}", "/extra"),
        ("/v1/customers/c-1001/credentials", Body.deviceKey, "/extra"),
        ("/v1/customers/c-1001/credentials", Body.registration, "/extra"),
        ("/v1/customers/c-1001/credentials/challenges", Body.enrolment, "/extra"),
        ("/v1/customers/c-1001/credentials/authorizations", Body.authorization, "/extra"),
        ("/v1/credentials/\(Body.credentialID)/revoke", Body.reason, "/extra"),
    ])
    func `unknown members are refused on every route`(
        path: String, body: String, pointer: String
    ) async throws {
        let separator = body == "{}" ? "" : ", "
        let more = String(body.dropLast()) + separator + #""extra": 1}"#
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post(path, more)
            #expect(answer.status == 400)
            #expect(answer.faults == ["\(pointer) malformed"])
            #expect(try await api.post(path, body).status < 300)
        }
    }

    @Test(arguments: [
        // Unknown members inside.
        ("\"reference\"", "\"referenz\"", "/transfer/referenz"),
        (
            "\"name\": \"Erika Mustermann\",", "\"name\": \"E\", \"bic\": \"X\",",
            "/transfer/payee/bic"
        ),
        ("{\"iban\": \"DE89", "{\"bic\": \"X\", \"iban\": \"DE89", "/transfer/debtor_account/bic"),
        // Wrong types and missing members.
        ("\"120.00\"", "120.00", "/transfer/amount"),
        ("\"EUR\"", "978", "/transfer/currency"),
        ("\"customer_id\": \"c-1001\"", "\"customer_id\": 1001", "/customer_id"),
        ("\"customer_id\": \"c-1001\", ", "", "/customer_id"),
        ("\"kind\": \"transfer\",", "", "/kind"),
        ("\"transfer\": {", "\"transfers\": {", "/transfer"),
        ("\"kind\": \"transfer\"", "\"kind\": \"new_payee\"", "/new_payee"),
        (
            "{\"iban\": \"DE89370400440532013000\"}", "\"DE89370400440532013000\"",
            "/transfer/debtor_account"
        ),
        ("{\"iban\": \"DE89370400440532013000\"}", "{}", "/transfer/debtor_account"),
    ])
    func `transfers of another shape`(old: String, new: String, pointer: String) async throws {
        let api = FakeAPI()
        let body = Body.transfer.replacing(old, with: new, maxReplacements: 1)
        try #require(body != Body.transfer)
        try await api.serve { api async throws in
            let answer = try await api.post("/v1/actions", body)
            #expect(answer.status == 400)
            #expect(answer.faults == ["\(pointer) malformed"])
        }
        #expect(api.actions.creations.values.isEmpty)
    }

    @Test(arguments: [
        ("120.00", "0.00", ["/transfer/amount amount_zero"]),
        ("120.00", "120.001", ["/transfer/amount amount_decimals"]),
        ("120.00", "-1", ["/transfer/amount amount_format"]),
        ("120.00", "1e3", ["/transfer/amount amount_format"]),
        ("EUR", "XTS", ["/transfer/currency currency_unknown"]),
        (
            "DE89370400440532013000", "DE88370400440532013000",
            ["/transfer/debtor_account/iban iban_checksum"]
        ),
        ("Erika Mustermann", "", ["/transfer/payee/name text_empty"]),
        (
            "Erika Mustermann", #"Erika\u202E"#,
            ["/transfer/payee/name text_forbidden_character"]
        ),
        ("INV-7", String(repeating: "x", count: 36), ["/transfer/end_to_end_id text_too_long"]),
        ("c-1001", "c 1001", ["/customer_id customer_id_format"]),
        ("\"kind\": \"transfer\"", "\"kind\": \"gift\"", ["/kind choice_unknown"]),
        (
            "{\"iban\": \"DE89370400440532013000\"}", #"{"scheme": "iban", "value": "x"}"#,
            ["/transfer/debtor_account/scheme account_scheme"]
        ),
    ])
    func `values that are not acceptable`(
        old: String, new: String, faults: [String]
    ) async throws {
        let api = FakeAPI()
        let body = Body.transfer.replacing(old, with: new, maxReplacements: 1)
        try #require(body != Body.transfer)
        try await api.serve { api async throws in
            let answer = try await api.post("/v1/actions", body)
            #expect(answer.status == 422)
            #expect(answer.slug == "invalid-action")
            #expect(answer.faults == faults)
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("\u{202E}"))
        }
        #expect(api.actions.creations.values.isEmpty)
    }

    @Test func `all values that are not acceptable are told at once`() async throws {
        let body = Body.transfer.replacing("EUR", with: "XTS").replacing("c-1001", with: "!")
            .replacing("Invoice 7", with: #"a\u200Bb"#)
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("/v1/actions", body)
            #expect(
                answer.faults == [
                    "/customer_id customer_id_format", "/transfer/currency currency_unknown",
                    "/transfer/reference text_forbidden_character",
                ])
        }
    }

    @Test(arguments: [
        (#""channel": "phone""#, #""channel": "fax""#, "/contact_change/channel choice_unknown"),
        ("+4915187654321", "015187654321", "/contact_change/new_value phone_format"),
        ("+4915112345678", "none", "/contact_change/old_value phone_format"),
        (
            #""channel": "phone", "old_value": "+4915112345678""#, #""channel": "email""#,
            "/contact_change/new_value email_format"
        ),
    ])
    func `contact data that is none`(old: String, new: String, fault: String) async throws {
        let body = Body.contactChange.replacing(old, with: new)
        try #require(body != Body.contactChange)
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("/v1/actions", body)
            #expect(answer.status == 422)
            #expect(answer.faults.first?.hasPrefix(fault.split(separator: " ")[0]) == true)
            #expect(answer.faults.count == 1)
        }
    }

    @Test(arguments: [
        #"{"signals": ["New Device"]}"#, #"{"signals": [""]}"#, #"{"signals": "new_device"}"#,
        #"{"signals": [1]}"#, #"{"score": 0.7}"#, #"{"more": {"score": [1e2]}}"#,
        #"{"note": "\#(String(repeating: "x", count: 4096))"}"#,
        #"{"signals": ["\#(String(repeating: "x", count: 65))"]}"#,
        #"{"signals": [\#(Array(repeating: #""a""#, count: 33).joined(separator: ","))]}"#,
    ])
    func `risk that cannot be kept`(risk: String) async throws {
        let body = String(Body.transfer.dropLast()) + #", "risk": \#(risk)}"#
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("/v1/actions", body)
            #expect(answer.status == 422)
            #expect(answer.faults.first?.hasPrefix("/risk ") == true)
        }
    }

    @Test(arguments: [
        ("MEUC+/8=", "MEUC-_8"), ("MEUC+/8=", "MEUC+/8"), ("MEUC+/8=", "MEUC +/8="),
        (Body.challengeID, "nonsense"), (Body.credentialID, "1"),
        (#""signature": "MEUC+/8=""#, #""signature": null"#),
        (#"{"signature": "MEUC+/8="}"#, #""MEUC+/8=""#),
        (#""credential_id""#, #""passkey": {}, "credential_id""#),
    ])
    func `a device key's proof that cannot be read`(old: String, new: String) async throws {
        let body = Body.deviceKeyProof.replacing(old, with: new)
        try #require(body != Body.deviceKeyProof)
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(Self.approve, body)
            #expect(answer.status == 400)
            #expect(answer.slug == "malformed-request")
        }
        #expect(api.actions.decisions.values.isEmpty)
    }

    @Test(arguments: [
        ("\"BwgJ\"", "\"Bwg=\""), ("\"BwgJ\"", "7"), ("\"rawId\": \"AQID\"", "\"rawId\": \"AQIE\""),
        ("public-key", "password"), ("\"userHandle\": null", "\"userHandle\": 1"),
        ("\"clientDataJSON\": \"e30\", ", ""),
    ])
    func `a passkey's answer that cannot be read`(old: String, new: String) async throws {
        let body = Body.passkeyProof.replacing(old, with: new)
        try #require(body != Body.passkeyProof)
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post(Self.approve, body)
            #expect(answer.status == 400)
            #expect(answer.faults == ["/passkey malformed"])
        }
    }

    @Test func `an approval needs a proof, a rejection one or a known reason`() async throws {
        try await FakeAPI().serve { api async throws in
            #expect(try await api.post(Self.approve, Body.reason).status == 400)
            let reject = "/v1/actions/\(Fixture.action.id.text)/reject"
            let unknown = try await api.post(reject, #"{"reason": "bored"}"#)
            #expect(unknown.status == 422)
            #expect(unknown.faults == ["/reason choice_unknown"])
            let both = String(Body.deviceKeyProof.dropLast()) + #", "reason": "other"}"#
            #expect(try await api.post(reject, both).status == 400)
        }
    }

    @Test(arguments: [
        ("", 422), (String(repeating: "x", count: 140), 200),
        (String(repeating: "x", count: 141), 422), (#"a\nb"#, 422),
    ])
    func `reasons have 1 to 140 characters that can be shown`(
        reason: String, status: Int
    ) async throws {
        let body = #"{"reason": "\#(reason)"}"#
        try await FakeAPI().serve { api async throws in
            let cancel = "/v1/actions/\(Fixture.action.id.text)/cancel"
            #expect(try await api.post(cancel, body).status == status)
            let revoke = "/v1/credentials/\(Body.credentialID)/revoke"
            #expect(try await api.post(revoke, body).status == status)
        }
    }
}
