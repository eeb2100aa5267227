import Countersign
import HTTP
import Testing

/// Headers, queries, paths and methods that are refused before any use case is asked.
@Suite struct `The form of requests` {
    private static let approve = "/v1/actions/\(Fixture.action.id.text)/approve"

    @Test(arguments: [
        ([], 400, "idempotency-key-required"),
        (["Idempotency-Key:"], 400, "malformed-request"),
        (["Idempotency-Key: \"\""], 400, "malformed-request"),
        (["Idempotency-Key: k1", "Idempotency-Key: k1"], 400, "malformed-request"),
        (["Idempotency-Key: k1, k1"], 400, "malformed-request"),
        (["Idempotency-Key: k1,k1"], 400, "malformed-request"),
        (["Idempotency-Key: \"k1\", \"k1\""], 400, "malformed-request"),
        (["Idempotency-Key: \"k1"], 400, "malformed-request"),
        (["Idempotency-Key: k\"1"], 400, "malformed-request"),
        (["Idempotency-Key: \"k 1\""], 400, "malformed-request"),
        (["Idempotency-Key: \"k\\1\""], 400, "malformed-request"),
        (["Idempotency-Key: \"k1\";a=1"], 400, "malformed-request"),
        (["Idempotency-Key: " + String(repeating: "k", count: 256)], 400, "malformed-request"),
    ])
    func `idempotency keys that are none`(
        headers: [String], status: Int, slug: String
    ) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("/v1/actions", Body.transfer, headers: headers)
            #expect(answer.status == status)
            #expect(answer.slug == slug)
            // Elsewhere the key is optional, but it must be one.
            let other = try await api.post(
                "/v1/customers/c-1001/credentials/challenges", Body.enrolment, headers: headers)
            #expect(other.status == (headers.isEmpty ? 201 : 400))
        }
    }

    @Test(arguments: [
        ("k1", "k1"), ("\"k1\"", "k1"), (" k1 ", "k1"), ("\"a,b\"", "a,b"),
        (#""a\"\\b""#, #"a"\b"#), ("~!x", "~!x"),
        (String(repeating: "k", count: 255), String(repeating: "k", count: 255)),
    ])
    func `idempotency keys, quoted or bare`(field: String, key: String) async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(
                "/v1/actions", Body.transfer, headers: ["Idempotency-Key: \(field)"])
            #expect(answer.status == 201)
        }
        #expect(api.actions.creations.values.map(\.idempotencyKey) == [key])
    }

    @Test(arguments: [
        "/v1/actions", "/v1/actions?customer_id=", "/v1/actions?customer_id=a%20b",
        "/v1/actions?customer_id=c&customer_id=c", "/v1/actions?customer_id=c&colour=red",
        "/v1/actions?customer_id=c&limit=0", "/v1/actions?customer_id=c&limit=101",
        "/v1/actions?customer_id=c&limit=1.0", "/v1/actions?customer_id=c&limit=+1",
        "/v1/actions?customer_id=c&limit=", "/v1/actions?customer_id=c&authorization=maybe",
        "/v1/actions?customer_id=c&execution=maybe", "/v1/actions?customer_id=c&cursor=x",
        "/v1/actions?customer_id=c&cursor=", "/v1/actions?customer_id=%ff",
        "/v1/actions?customer_id=c%00", "/v1/actions/\(Fixture.action.id.text)?x=1",
        "/v1/customers/c/payees?limit=1", "/v1/customers/c/credentials?x",
    ])
    func `queries that are not understood`(path: String) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.get(path)
            #expect(answer.status == 400)
            #expect(answer.slug == "malformed-request")
        }
    }

    @Test(arguments: [
        "?action_id=1", "?credential_id=1", "?customer_id=a%20b", "?from=yesterday",
        "?from=2027-01-15T00:00:00", "?to=2027-02-30T00:00:00Z", "?kind=", "?limit=1000",
        "?from=0000-01-01T00:00:00Z", "?to=0000-01-01T00:00:00Z", "?from=1969-12-31T23:59:59.999Z",
        "?kind=a&kind=a", "?unknown=1", "?cursor=AAAA",
    ])
    func `queries of evidence that are not understood`(query: String) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.get("/v1/evidence\(query)", as: .auditor)
            #expect(answer.status == 400)
            #expect(answer.slug == "malformed-request")
        }
    }

    @Test func `a POST has no query`() async throws {
        try await FakeAPI().serve { api async throws in
            #expect(try await api.post("/v1/actions?x=1", Body.transfer).status == 400)
            #expect(try await api.post("\(Self.approve)?x", Body.deviceKeyProof).status == 400)
            let challenges = "/v1/actions/\(Fixture.action.id.text)/challenges?x"
            #expect(try await api.post(challenges, "").status == 400)
        }
    }

    @Test(arguments: [
        "nonsense", "1", "%20", "null", "%00", "e%CC%81", "..%2f", "%", "1%3BDROP%20TABLE",
        "\(Fixture.action.id.text)x", String(repeating: "a", count: 5000),
        "019000000000700080000000000001",
    ])
    func `IDs that are none are the IDs of nothing`(id: String) async throws {
        try await FakeAPI().serve { api async throws in
            for answer in [
                try await api.get("/v1/actions/\(id)"),
                try await api.post("/v1/actions/\(id)/approve", Body.deviceKeyProof),
                try await api.post("/v1/actions/\(id)/reject", Body.reason),
                try await api.post("/v1/actions/\(id)/cancel", Body.reason),
                try await api.post("/v1/actions/\(id)/challenges", ""),
                try await api.post("/v1/credentials/\(id)/revoke", Body.reason),
                try await api.get("/v1/evidence/\(id)", as: .auditor),
            ] {
                #expect(answer.status == 404)
                #expect(answer.slug == "not-found")
            }
        }
    }

    @Test(arguments: ["a%20b", "%F0%9F%98%80", "a%40b", String(repeating: "c", count: 65)])
    func `customers that cannot be are nobody`(customer: String) async throws {
        try await FakeAPI().serve { api async throws in
            let path = "/v1/customers/\(customer)"
            for answer in [
                try await api.get("\(path)/payees"), try await api.get("\(path)/credentials"),
                try await api.post("\(path)/credentials", Body.deviceKey),
                try await api.post("\(path)/credentials/challenges", Body.enrolment),
                try await api.post("\(path)/credentials/authorizations", Body.authorization),
            ] {
                #expect(answer.slug == "not-found")
            }
        }
    }

    @Test func `an ID in capital letters is the same ID`() async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.get("/v1/actions/\(Fixture.action.id.text.uppercased())")
            #expect(answer.json["action"]?["id"] == .string(Fixture.action.id.text))
        }
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1",
        "application/problem+json",
    ])
    func `other media types`(type: String) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.send(
                "POST", "/v1/actions", headers: ["Content-Type: \(type)", "Idempotency-Key: k"],
                body: Bytes(Body.transfer.utf8))
            #expect(answer.status == 415)
            #expect(answer.slug == "unsupported-media-type")
        }
    }

    @Test(arguments: [
        ("PUT", "/v1/actions", "GET, HEAD, POST"),
        ("GET", approve, "POST"),
        ("DELETE", "/v1/actions/\(Fixture.action.id.text)", "GET, HEAD"),
        ("PATCH", "/v1/customers/c-1001/credentials", "GET, HEAD, POST"),
        ("POST", "/healthz", "GET, HEAD"),
    ])
    func `other methods`(method: String, path: String, allow: String) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.send(method, path)
            #expect(answer.status == 405)
            #expect(answer.slug == "method-not-allowed")
            #expect(answer.headers["allow"] == allow)
        }
    }

    @Test func `a body that is too large`() async throws {
        let body = #"{"reason": "\#(String(repeating: "x", count: 65 << 10))"}"#
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post(
                "/v1/actions/\(Fixture.action.id.text)/cancel", body)
            #expect(answer.status == 413)
            #expect(answer.slug == "payload-too-large")
        }
    }

    @Test func `HEAD says what GET would, without the body`() async throws {
        try await FakeAPI().serve { api async throws in
            let path = "/v1/actions/\(Fixture.action.id.text)"
            let get = try await api.get(path)
            let head = try await api.send("HEAD", path)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.headers["content-length"] == String(get.body.count))
            #expect(try await api.send("HEAD", path, as: nil).status == 401)
            #expect(try await api.send("HEAD", Self.approve).status == 405)
        }
    }
}
