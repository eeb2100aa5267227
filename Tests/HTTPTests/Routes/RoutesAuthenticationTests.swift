import Countersign
import HTTP
import Testing

/// Who is let in, and in which order the answers come.
@Suite struct `Callers of the API` {
    private static let path = "/v1/actions/\(Fixture.action.id.text)"

    private static func keys(_ header: String...) -> [String] {
        header.map { "Authorization: \($0)" }
    }

    private func respond(
        _ api: FakeAPI, key: String? = nil, names: [String]? = nil
    ) async -> Response {
        await api.router().respond(
            to: Request(
                method: .get, path: Self.path,
                headers: key.map { ["authorization": "Bearer \($0)"] } ?? [:],
                peer: names.map {
                    .mutualTLS(
                        ClientCertificate(subjectAlternativeNames: $0, sha256Fingerprint: "00"))
                } ?? .tls,
                id: "r"))
    }

    @Test(arguments: [
        [],
        keys(""), keys("Bearer"), keys("Bearer "), keys("Basic YTpi"),
        keys(Fixture.key(.backend)), keys("Token \(Fixture.key(.backend))"),
        keys("Bearer cs_backend_"), keys("Bearer cs_backend_short"),
        keys("Bearer cs_nobody_\(String(repeating: "A", count: 43))"),
        keys("Bearer cs_backend_\(String(repeating: "A", count: 43))"),
        keys("Bearer cs_backend_\(String(repeating: "A", count: 44))"),
        keys("Bearer CS_backend_\(String(repeating: "A", count: 43))"),
        keys("Bearer \(Fixture.key(.backend))x"),
        keys("Bearer \(Fixture.key(.backend)), Bearer \(Fixture.key(.backend))"),
    ])
    func `without a known key are told nothing`(headers: [String]) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.send("GET", Self.path, as: nil, headers: headers)
            #expect(answer.status == 401)
            #expect(answer.slug == "unauthenticated")
            #expect(answer.headers["www-authenticate"] == "Bearer")
        }
    }

    @Test func `what cannot be a key costs no look-up`() async throws {
        let api = FakeAPI()
        for key in ["", "cs_backend_shor", "cs_nobody_\(String(repeating: "A", count: 43))"] {
            #expect(await respond(api, key: key).status == 401)
        }
        #expect(api.directory.lookUps == 0)
        #expect(
            await respond(api, key: "cs_backend_\(String(repeating: "A", count: 43))").status
                == 401)
        #expect(api.directory.lookUps == 1)
    }

    @Test func `the scheme's case does not matter`() async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.send(
                "GET", Self.path, as: nil, headers: Self.keys("bEARER \(Fixture.key(.backend))"))
            #expect(answer.status == 200)
        }
    }

    @Test func `two Authorization fields are malformed, even equal ones`() async throws {
        try await FakeAPI().serve { api async throws in
            let header = "Bearer \(Fixture.key(.backend))"
            let answer = try await api.send(
                "GET", Self.path, as: nil, headers: Self.keys(header, header))
            #expect(answer.status == 400)
            #expect(answer.slug == "malformed-request")
        }
    }

    @Test func `who are officers see actions that are pending or held, and no others`() async throws
    {
        let hold = Hold(
            until: Fixture.now + Seconds(60), rule: .assistedHold, end: Hold.End.release)
        for (authorization, execution, isShown) in [
            (Authorization.pending, Execution.none, true), (.approved, .held, true),
            (.approved, .ready, false), (.approved, .executed, false), (.rejected, .none, false),
        ] {
            var fakes = FakeAPI()
            fakes.actions.found = [
                Fixture.action.with(
                    authorization: authorization, execution: execution,
                    hold: execution == .held ? hold : nil)
            ]
            try await fakes.serve { api in
                for role in AuthenticatedClient.Role.allCases {
                    let answer = try await api.get(Self.path, as: role)
                    switch role {
                    case .backend: #expect(answer.status == 200)
                    case .officer: #expect(answer.status == (isShown ? 200 : 404))
                    default: #expect(answer.slug == "forbidden")
                    }
                }
            }
        }
    }

    @Test func `of another role are forbidden, on every route`() async throws {
        try await FakeAPI().serve { api async throws in
            let customer = "/v1/customers/c-1001"
            for role in AuthenticatedClient.Role.allCases {
                let backend = [
                    try await api.post("/v1/actions", Body.transfer, as: role),
                    try await api.post("\(Self.path)/challenges", "", as: role),
                    try await api.post("\(Self.path)/approve", Body.passkeyProof, as: role),
                    try await api.post("\(Self.path)/reject", Body.reason, as: role),
                    try await api.post("\(Self.path)/cancel", Body.reason, as: role),
                    try await api.get("/v1/actions?customer_id=c-1001", as: role),
                    try await api.get("\(customer)/payees", as: role),
                    try await api.get("\(customer)/credentials", as: role),
                    try await api.post("\(customer)/credentials", Body.deviceKey, as: role),
                    try await api.post(
                        "\(customer)/credentials/challenges", Body.enrolment, as: role),
                    try await api.post(
                        "\(customer)/credentials/authorizations", Body.authorization, as: role),
                    try await api.post(
                        "/v1/credentials/\(Body.credentialID)/revoke", Body.reason, as: role),
                ]
                let auditor = [
                    try await api.get("/v1/evidence", as: role),
                    try await api.get("/v1/evidence/\(Fixture.evidence.id.text)", as: role),
                ]
                for answer in role == .backend ? auditor : backend {
                    #expect(answer.status == 403)
                    #expect(answer.slug == "forbidden")
                }
                for answer in role == .auditor ? auditor : role == .backend ? backend : [] {
                    #expect(answer.status < 300)
                }
                if role != .auditor { #expect(auditor.allSatisfy { $0.status == 403 }) }
            }
        }
    }

    @Test func `a key that names another role than its client's is refused`() async throws {
        let api = FakeAPI()
        let key = "cs_backend_\(Base64.encodeURL(Bytes(repeating: 1, count: 32)))"
        api.directory.add(key, of: Fixture.client(.auditor))
        #expect(await respond(api, key: key).status == 401)
    }

    @Test func `by a certificate alone`() async throws {
        let api = FakeAPI()
        api.directory.bind("DNS:core.bank.example", to: Fixture.client(.backend))
        #expect(await respond(api, names: ["DNS:core.bank.example"]).status == 200)
        #expect(await respond(api, names: ["DNS:other.bank.example"]).status == 401)
        #expect(await respond(api, names: []).status == 401)
    }

    @Test func `with both, the key decides unless the certificate is another client's`()
        async throws
    {
        let api = FakeAPI()
        let key = Fixture.key(.backend)
        api.directory.bind("DNS:same", to: Fixture.client(.backend))
        api.directory.bind("DNS:other", to: Fixture.client(.core))
        #expect(await respond(api, key: key, names: ["DNS:same"]).status == 200)
        #expect(await respond(api, key: key, names: ["DNS:unbound"]).status == 200)
        #expect(await respond(api, key: key, names: ["DNS:other"]).status == 401)
        // A bad key is not made good by a good certificate.
        let unknown = "cs_backend_\(String(repeating: "A", count: 43))"
        #expect(await respond(api, key: unknown, names: ["DNS:same"]).status == 401)
        #expect(await respond(api, key: "nonsense", names: ["DNS:same"]).status == 401)
    }

    @Test func `are remembered for less than a second, and forgotten then`() async throws {
        let api = FakeAPI()
        let router = api.router()
        let request = Request(
            method: .get, path: Self.path,
            headers: ["authorization": "Bearer \(Fixture.key(.backend))"], id: "r")
        #expect(await router.respond(to: request).status == 200)
        #expect(await router.respond(to: request).status == 200)
        #expect(api.directory.lookUps == 1)
        api.directory.remove(Fixture.key(.backend))
        api.clock.advance(by: .milliseconds(999))
        #expect(await router.respond(to: request).status == 200)
        api.clock.advance(by: .milliseconds(1))
        #expect(await router.respond(to: request).status == 401)
        // That somebody is unknown is not remembered.
        api.directory.add(Fixture.key(.backend), of: Fixture.client(.backend))
        #expect(await router.respond(to: request).status == 200)
    }

    @Test func `more than are remembered are still known`() async throws {
        let api = FakeAPI()
        let router = api.router()
        for number in 0..<1100 {
            let secret = Bytes(repeating: 7, count: 30) + [UInt8(number >> 8), UInt8(number & 255)]
            let key = "cs_backend_\(Base64.encodeURL(secret))"
            api.directory.add(key, of: Fixture.client(.backend))
            let request = Request(
                method: .get, path: Self.path, headers: ["authorization": "Bearer \(key)"],
                id: "r")
            #expect(await router.respond(to: request).status == 200)
        }
    }

    @Test func `when the directory fails nobody is let in`() async throws {
        let api = FakeAPI()
        api.directory.fail(with: .unavailable)
        let answer = await respond(api, key: Fixture.key(.backend))
        #expect(answer.status == 503)
        #expect(answer.headers.first("retry-after") == "1")
        api.directory.fail(with: .internalFailure(code: "42P01"))
        #expect(await respond(api, key: Fixture.key(.backend)).status == 500)
        #expect(api.defects.values == ["42P01"])
    }

    @Test func `precedence: path, method, caller, form, role, existence`() async throws {
        try await FakeAPI().serve { api async throws in
            let noID = "/v1/actions/nonsense/approve"
            #expect(try await api.post("/v1/nothing", "{", as: nil).slug == "not-found")
            #expect(
                try await api.send("DELETE", Self.path, as: nil).slug == "method-not-allowed")
            // A stranger's body is not parsed.
            #expect(try await api.post(noID, "{", as: nil).slug == "unauthenticated")
            #expect(try await api.post(noID, "{", as: .risk).slug == "malformed-request")
            #expect(try await api.post(noID, Body.deviceKeyProof, as: .risk).slug == "forbidden")
            #expect(try await api.post(noID, "{", as: .backend).slug == "malformed-request")
            #expect(try await api.post(noID, Body.deviceKeyProof).slug == "not-found")
        }
    }
}
