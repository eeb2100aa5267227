import Countersign
import HTTP
import Testing

@Suite struct `Signed requests over HTTP` {
    private static let path = "/v1/device-requests/verify"

    @Test func `are handed on as they came, and the verdict is told`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(Self.path, Body.deviceRequest, headers: [])
            #expect(answer.status == 200)
            #expect(
                APIAnswer.names(answer.json) == [
                    "allow", "at", "credential_id", "customer_id", "mode", "profile", "reason",
                    "verdict",
                ])
            #expect(answer.json["verdict"] == "verified" && answer.json["allow"] == .bool(true))
        }
        let request = try #require(api.deviceRequests.requests.values.first)
        #expect(request.client == Fixture.client(.backend).id)
        #expect(request.profile == .target)
        #expect(request.method == "POST")
        #expect(request.target == "/v1/transfers?x=%2F")
        #expect(request.bodyDigest == Fixture.leafHash)
        #expect(request.customerID == nil)
        #expect(request.fields[.deviceID] == [Body.credentialID])
        #expect(request.fields[.timestamp] == ["1800000000"])
        #expect(request.fields[.nonce] == ["nonce-0001"])
        #expect(request.fields[.signature] == ["MEUC+/8="])
    }

    @Test func `with a host and a customer`() async throws {
        let api = FakeAPI()
        let more =
            #"{"profile": "countersign-request/2", "host": "api.bank", "customer_id": "c-1001","#
        let body = Body.deviceRequest.replacing("{\"method\"", with: "\(more) \"method\"")
        try await api.serve { api async throws in
            #expect(try await api.post(Self.path, body).status == 200)
        }
        let request = try #require(api.deviceRequests.requests.values.first)
        #expect(request.profile == .hostAndTarget(host: "api.bank"))
        #expect(request.customerID == Fixture.customerID)
    }

    /// What a phone may send is no error of the backend, however strange.
    @Test(arguments: [
        (#""X-Device-ID": "\#(Body.credentialID)""#, #""X-Device-ID": ["a", "b"]"#),
        (#""X-Device-ID": "\#(Body.credentialID)", "#, ""),
        (#""X-Device-ID": "\#(Body.credentialID)""#, #""X-Device-ID": null"#),
        (#"["1800000000"]"#, "[]"), (#""nonce-0001""#, #""\n\u0001""#),
        (#""POST""#, #""""#), (#""/v1/transfers?x=%2F""#, #""""#),
        (#""/v1/transfers?x=%2F""#, #""/a\n1800000000\nnonce-0001""#),
    ])
    func `of any content are judged`(old: String, new: String) async throws {
        let body = Body.deviceRequest.replacing(old, with: new)
        try #require(body != Body.deviceRequest)
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post(Self.path, body).status == 200)
        }
        #expect(api.deviceRequests.requests.values.count == 1)
    }

    @Test func `with one field under two spellings have it twice`() async throws {
        let api = FakeAPI()
        let body = Body.deviceRequest.replacing(
            #""X-NONCE": "nonce-0001""#, with: #""X-NONCE": "nonce-0001", "x-nonce": ["b", "c"]"#)
        try await api.serve { api async throws in
            #expect(try await api.post(Self.path, body).status == 200)
        }
        let nonces = try #require(api.deviceRequests.requests.values.first).fields[.nonce]
        #expect(nonces.sorted() == ["b", "c", "nonce-0001"])
    }

    /// What the backend itself adds has a form.
    @Test(arguments: [
        (#""method": "POST", "#, "", 400), (#""POST""#, "1", 400), (#""POST""#, "null", 400),
        (#""target""#, #""path""#, 400), (#""/v1/transfers?x=%2F""#, "[]", 400),
        (Fixture.leafHash.hex, "00", 400), (Fixture.leafHash.hex, "", 400),
        (Fixture.leafHash.hex, String(Fixture.leafHash.hex.dropLast()) + "g", 400),
        (#"{"X-Device-ID""#, #"{"Cookie": "a", "X-Device-ID""#, 400),
        (#"["1800000000"]"#, "1800000000", 400), (#"["1800000000"]"#, "[1800000000]", 400),
        (#"["1800000000"]"#, "{}", 400), (#"["1800000000"]"#, "true", 400),
        (#""headers""#, #""header""#, 400),
        (#"{"method""#, #"{"headers": {}, "method""#, 400),
        (#"{"method""#, #"{"more": 1, "method""#, 400),
        (#"{"method""#, #"{"host": "a", "method""#, 400),
        (#"{"method""#, #"{"profile": "countersign-request/2", "method""#, 400),
        (#"{"method""#, #"{"profile": "countersign-request/1", "host": "a", "method""#, 400),
        (#"{"method""#, #"{"profile": "countersign-request/3", "method""#, 422),
        (#"{"method""#, #"{"customer_id": "c 1", "method""#, 422),
        (#"{"method""#, #"{"customer_id": "", "method""#, 422),
        (#"{"method""#, #"{"customer_id": 1, "method""#, 400),
    ])
    func `of another shape are refused`(old: String, new: String, status: Int) async throws {
        let body = Body.deviceRequest.replacing(old, with: new)
        try #require(body != Body.deviceRequest)
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(Self.path, body)
            #expect(answer.status == status)
            #expect(answer.slug == (status == 400 ? "malformed-request" : "invalid-action"))
        }
        #expect(api.deviceRequests.requests.values.isEmpty)
    }

    @Test(arguments: AuthenticatedClient.Role.allCases)
    func `are for the backend alone`(role: AuthenticatedClient.Role) async throws {
        let api = FakeAPI()
        let signing = "/v1/credentials/\(Body.credentialID)/request-signing"
        try await api.serve { api async throws in
            let expected = role == .backend ? 200 : 403
            #expect(try await api.post(Self.path, Body.deviceRequest, as: role).status == expected)
            #expect(try await api.get(signing, as: role).status == expected)
            #expect(
                try await api.put(signing, #"{"mode": "enforce"}"#, as: role).status == expected)
            #expect(try await api.post(Self.path, "{", as: nil).status == 401)
        }
        #expect(api.deviceRequests.requests.values.count == (role == .backend ? 1 : 0))
        #expect(api.deviceRequests.commands.values.count == (role == .backend ? 1 : 0))
    }

    @Test func `are counted by mode and reason`() async throws {
        var api = FakeAPI()
        api.deviceRequests.answer = DeviceRequestAnswer(
            verdict: .refused(.nonceUsed, named: nil), mode: .logOnly, profile: .target,
            at: Fixture.now)
        try await api.serve { api async throws in
            for _ in 0..<3 { _ = try await api.post(Self.path, Body.deviceRequest) }
            let text = String(decoding: try await api.get("/metrics").body, as: UTF8.self)
            #expect(
                text.contains(
                    """
                    countersign_device_requests_total{mode="log_only",reason="nonce_used"} 3

                    """))
        }
    }

    @Test func `without a database have no verdict`() async throws {
        var api = FakeAPI()
        api.deviceRequests.failure = .outcomeUnknown
        try await api.serve { api async throws in
            let answer = try await api.post(Self.path, Body.deviceRequest)
            #expect(answer.status == 503 && answer.slug == "outcome-unknown")
            #expect(answer.json["allow"] == nil)
        }
    }
}

@Suite struct `The mode of a device key over HTTP` {
    private static let path = "/v1/credentials/\(Body.credentialID)/request-signing"

    @Test func `is read and set`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let read = try await api.get(Self.path)
            #expect(read.status == 200)
            let signing: JSON = [
                "credential_id": .string(Body.credentialID), "effective_mode": "enforce",
                "mode": "default",
            ]
            #expect(read.json["request_signing"] == signing)
            for mode in ["enforce", "log_only", "default"] {
                let answer = try await api.put(Self.path, #"{"mode": "\#(mode)"}"#)
                #expect(answer.status == 200)
                #expect(answer.json["request_signing"]?["mode"]?.text == mode)
            }
        }
        let commands = api.deviceRequests.commands.values
        #expect(commands.map(\.choice) == [.enforce, .logOnly, .inherited])
        #expect(commands.allSatisfy { $0.client == Fixture.client(.backend).id })
    }

    @Test func `of no device key is nothing`() async throws {
        try await FakeAPI().serve { api async throws in
            let other: ID<Credential> = Fixture.id(99)
            for id in [other.text, "nonsense"] {
                let path = "/v1/credentials/\(id)/request-signing"
                #expect(try await api.get(path).slug == "not-found")
                #expect(try await api.put(path, #"{"mode": "enforce"}"#).slug == "not-found")
            }
        }
    }

    @Test(arguments: [
        ("{}", 400), (#"{"mode": null}"#, 400), (#"{"mode": true}"#, 400),
        (#"{"mode": "off"}"#, 422), (#"{"mode": "ENFORCE"}"#, 422), (#"{"mode": ""}"#, 422),
        (#"{"mode": "enforce", "more": 1}"#, 400), ("", 400), ("[]", 400),
    ])
    func `of another shape is refused`(body: String, status: Int) async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.put(Self.path, body).status == status)
        }
        #expect(api.deviceRequests.commands.values.isEmpty)
    }
}

extension RunningAPI {
    fileprivate func put(
        _ path: String, _ body: String, as role: AuthenticatedClient.Role? = .backend
    ) async throws -> APIAnswer {
        var headers = ["Content-Type: application/json"]
        if body.isEmpty { headers.append("Content-Length: 0") }
        return try await send("PUT", path, as: role, headers: headers, body: Bytes(body.utf8))
    }
}
