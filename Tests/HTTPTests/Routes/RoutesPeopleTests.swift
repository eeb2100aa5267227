import Countersign
import HTTP
import TestSupport
import Testing

/// The routes for people of the bank.
@Suite struct `Routes for people` {
    private static let id = Fixture.act.id.text

    /// A browser's answer of the right shape.
    private static let passkey =
        #"{"id":"AQ","rawId":"AQ","type":"public-key","response":{"clientDataJSON":"AQ","#
        + #""authenticatorData":"AQ","signature":"AQ","attestationObject":"AQ"}}"#

    private static let routes: [(String, String, String)] = [
        ("POST", "/v1/person-keys/options", #"{"label":"laptop"}"#),
        ("POST", "/v1/person-keys", #"{"registration_id":"\#(id)","passkey":\#(passkey)}"#),
        ("GET", "/v1/person-keys", ""),
        ("DELETE", "/v1/person-keys/\(Fixture.personKey.id.text)", ""),
        ("POST", "/v1/acts", #"{"kind":"policy.publish","document":{"policy":{}}}"#),
        ("GET", "/v1/acts", ""), ("GET", "/v1/acts/\(id)", ""),
        ("POST", "/v1/acts/\(id)/challenge", ""),
        ("POST", "/v1/acts/\(id)/signatures", #"{"challenge_id":"\#(id)","passkey":\#(passkey)}"#),
        ("POST", "/v1/acts/\(id)/withdraw", #"{"reason":"not agreed"}"#),
    ]

    private func send(
        _ api: RunningAPI, _ method: String, _ path: String, _ body: String,
        as role: AuthenticatedClient.Role? = .risk
    ) async throws -> APIAnswer {
        try await api.send(
            method, path, as: role,
            headers: body.isEmpty ? [] : ["Content-Type: application/json"],
            body: Bytes(body.utf8))
    }

    @Test func `answer people of both roles and nobody else`() async throws {
        try await FakeAPI().serve { api in
            for (method, path, body) in Self.routes {
                for role in AuthenticatedClient.Role.allCases {
                    let answer = try await send(api, method, path, body, as: role)
                    let isAllowed = role == .risk || role == .officer
                    #expect((answer.status / 100 == 2) == isAllowed, "\(method) \(path) \(role)")
                    if !isAllowed { #expect(answer.slug == "forbidden") }
                }
                #expect(try await send(api, method, path, body, as: nil).status == 401)
            }
        }
    }

    @Test func `of policies answer the risk team and auditors`() async throws {
        try await FakeAPI().serve { api in
            for path in ["/v1/policies", "/v1/policies/active", "/v1/policies/3"] {
                for role in AuthenticatedClient.Role.allCases {
                    let isAllowed = role == .risk || role == .auditor
                    #expect(
                        try await api.get(path, as: role).status == (isAllowed ? 200 : 403))
                }
            }
            let one = try await api.get("/v1/policies/3", as: .risk)
            #expect(one.json["policy"]?["document"] == ["a": .integer(1)])
            for path in ["4", "x", "-3", "3.0", "99999999999999999999"] {
                #expect(try await api.get("/v1/policies/\(path)", as: .risk).status == 404)
            }
        }
    }

    @Test func `pass on what was sent, as the caller`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api in
            for (method, path, body) in Self.routes {
                _ = try await send(api, method, path, body, as: .officer)
            }
        }
        let officer = Fixture.client(.officer).id
        #expect(fakes.people.proposals.values.map(\.person) == [officer])
        #expect(fakes.people.proposals.values.map(\.kind) == [.publishPolicy])
        #expect(fakes.people.signatures.values.map(\.person) == [officer])
        #expect(fakes.people.registrations.values.map(\.person) == [officer])
        #expect(fakes.people.people.values.allSatisfy { $0 == officer })
        #expect(fakes.people.roles.values.allSatisfy { $0 == .officer })
        #expect(fakes.people.queries.values.map(\.role) == [.officer])
        #expect(fakes.people.queries.values.map(\.limit) == [51])
    }

    private static let approval =
        #"{"reason":"phone stolen","identity_check":{"method":"in_person","reference":"passport"}}"#

    @Test func `make an act of an approval, for officers only`() async throws {
        let fakes = FakeAPI()
        let action: ID<Action> = Fixture.id(401)
        let path = "/v1/actions/\(action.text)/assisted-approval"
        try await fakes.serve { api in
            for role in AuthenticatedClient.Role.allCases {
                let answer = try await send(api, "POST", path, Self.approval, as: role)
                #expect(answer.status == (role == .officer ? 201 : 403), "\(role)")
            }
            let elsewhere = try await send(
                api, "POST", "/v1/actions/x/assisted-approval", Self.approval, as: .officer)
            #expect(elsewhere.slug == "not-found")
        }
        let proposal = try #require(fakes.people.proposals.values.first)
        #expect(fakes.people.proposals.values.count == 1)
        #expect(proposal.kind == .approveAction && proposal.person == Fixture.client(.officer).id)
        let request = try AssistedRequest(proposal.document)
        #expect(request.action == action && request.reason.text == "phone stolen")
        #expect(request.identityCheck.method == .inPerson)
        #expect(request.identityCheck.reference.text == "passport")
    }

    /// Nothing is stored under such a key, so none is asked for.
    @Test func `look at no idempotency key of an approval`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api in
            let answer = try await api.post(
                "/v1/actions/\(Self.id)/assisted-approval", Self.approval, as: .officer,
                headers: ["Idempotency-Key: a,b"])
            #expect(answer.status == 201)
        }
        #expect(fakes.people.proposals.values.count == 1)
    }

    @Test(arguments: [
        ("0000-01-01T00:00:00Z", "2026-12-01T00:00:00Z", ["/from instant_format"]),
        ("1969-12-31T23:59:59.999Z", "2026-12-01T00:00:00Z", ["/from instant_format"]),
        (
            "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
            ["/from instant_format", "/to instant_format"]
        ),
    ])
    func `try no draft on a time that nobody can write down`(
        from: String, to: String, faults: [String]
    ) async throws {
        try await FakeAPI().serve { api in
            let body: JSON = [
                "document": Fixtures.policyDocument, "from": .string(from), "to": .string(to),
            ]
            let answer = try await api.post(
                "/v1/policies/simulate", body.encoded, as: .risk, headers: [])
            #expect(answer.status == 422 && answer.faults == faults)
        }
    }

    @Test(arguments: [
        (#"{}"#, 400, "/reason"), (#"{"reason":"x"}"#, 400, "/identity_check"),
        (#"{"reason":"x","identity_check":{"method":"video"}}"#, 400, "/identity_check/reference"),
        (#"{"reason":"","identity_check":{"method":"video","reference":"r"}}"#, 422, "/reason"),
        (
            #"{"reason":"x","identity_check":{"method":"sms","reference":"r"}}"#, 422,
            "/identity_check/method"
        ),
        (
            #"{"reason":"x","identity_check":{"method":"one_time_code","reference":"r"}}"#, 422,
            "/identity_check/method"
        ),
        (
            #"{"reason":"x","identity_check":{"method":"video","reference":""}}"#, 422,
            "/identity_check/reference"
        ),
        (
            #"{"reason":"x","identity_check":{"method":"video","reference":"r","code":"1"}}"#, 400,
            "/identity_check/code"
        ),
    ])
    func `take no approval without its grounds, nor on a code that was sent`(
        body: String, status: Int, pointer: String
    ) async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api in
            let path = "/v1/actions/\(Self.id)/assisted-approval"
            let answer = try await send(api, "POST", path, body, as: .officer)
            #expect(answer.status == status)
            guard case .array(let errors)? = answer.json["errors"] else {
                Issue.record("no errors: \(answer.json)")
                return
            }
            #expect(errors.first?["pointer"] == .string(pointer))
            if body.contains("sms") {
                #expect(errors.first?["detail"]?.text?.contains("SMS") == true)
            }
        }
        #expect(fakes.people.proposals.values.isEmpty)
    }

    @Test(arguments: [
        ("/v1/person-keys/options", "{}", 0), ("/v1/person-keys/options", #"{"label":1}"#, 400),
        ("/v1/person-keys/options", "{\"label\":\"\\u0007\"}", 422),
        ("/v1/person-keys/options", #"{"label":"a","more":1}"#, 400),
        ("/v1/person-keys", "{}", 400), ("/v1/person-keys", #"{"registration_id":"x"}"#, 400),
        ("/v1/acts", "{}", 400), ("/v1/acts", #"{"kind":"policy.publish"}"#, 400),
        ("/v1/acts", #"{"kind":"policy.delete","document":{}}"#, 422),
        ("/v1/acts", #"{"kind":"policy.publish","document":[]}"#, 400),
        ("/v1/acts", #"{"kind":"policy.publish","document":{"a":1,"a":2}}"#, 400),
        ("/v1/acts", "[]", 400), ("/v1/acts", "{", 400), ("/v1/acts?x=1", "{}", 400),
        ("/v1/acts/\(id)/signatures", "{}", 400),
        ("/v1/acts/\(id)/signatures", #"{"challenge_id":"\#(id)","passkey":{}}"#, 400),
        ("/v1/acts/x/challenge", "", 404), ("/v1/acts/\(id)/challenge", #"{"a":1}"#, 400),
        ("/v1/acts/\(id)/withdraw", "{}", 400),
        ("/v1/acts/\(id)/withdraw", #"{"reason":""}"#, 422),
    ])
    func `refuse bad bodies`(path: String, body: String, status: Int) async throws {
        try await FakeAPI().serve { api in
            let answer = try await send(api, "POST", path, body)
            // A label may be left out.
            #expect(answer.status == (status == 0 ? 201 : status))
            if status != 0 { #expect(answer.slug != nil) }
        }
    }

    @Test(arguments: [
        (ActRefusal.notFound, 404, "not-found"), (.kindNotAllowed, 403, "act-kind-not-allowed"),
        (.tooManyOpen(retryAfter: Seconds(5)), 429, "too-many-requests"),
        (.closed(.done), 409, "act-closed"), (.alreadySigned, 409, "act-already-signed"),
        (.notProposed, 409, "act-not-proposed"), (.ownKey, 409, "act-own-key"),
        (.keyNotPending, 409, "act-key-not-pending"), (.noKey, 409, "act-no-key"),
        (.challengeSuperseded, 409, "challenge-superseded"),
        (.challengeConsumed, 409, "challenge-consumed"),
        (.challengeExpired, 410, "challenge-expired"),
        (.authenticationFailed, 401, "authentication-failed"),
        (.customerHasKey, 409, "customer-has-key"), (.approvalChanged, 409, "approval-changed"),
        (.action(.alreadyDecided(.approved)), 409, "already-decided"),
        (.action(.policy(.assistedNotAllowed)), 403, "assisted-not-allowed"),
        (.policyChanged(newest: 4), 409, "policy-changed"), (.tooLate, 409, "policy-too-late"),
        (.tooEarly(notBefore: Fixture.now), 409, "policy-too-early"),
        (.notStricter, 409, "policy-not-stricter"), (.notHeld, 409, "hold-not-held"),
        (.holdChanged, 409, "hold-changed"),
        (.notReleasable(rule: "payee_removed"), 409, "hold-not-releasable"),
    ])
    func `tell refusals as problems`(
        refusal: ActRefusal, status: Int, slug: String
    ) async throws {
        var api = FakeAPI()
        api.people.question = .refused(refusal)
        api.people.outcome = .refused(refusal)
        try await api.serve { api in
            for (method, path, body) in Self.routes where path.hasPrefix("/v1/acts") {
                guard method == "POST" else { continue }
                let answer = try await send(api, method, path, body)
                #expect(answer.status == status && answer.slug == slug)
            }
            #expect(try await api.everyOutcomeIsCounted())
        }
    }

    @Test func `point at the member of a document that is not valid`() async throws {
        var api = FakeAPI()
        api.people.question = .refused(
            .invalid(
                InvalidActMember(
                    "/policy/attempts/lock_s", InvalidValue("lock_s", "A number is needed."))))
        try await api.serve { api in
            let answer = try await send(
                api, "POST", "/v1/acts", #"{"kind":"policy.publish","document":{"policy":{}}}"#)
            #expect(answer.status == 422 && answer.slug == "invalid-action")
            #expect(answer.faults == ["/document/policy/attempts/lock_s lock_s"])
        }
    }

    @Test(arguments: [
        (PersonKeyRefusal.notFound, 404, "not-found"), (.consumed, 409, "enrolment-consumed"),
        (.expired, 410, "enrolment-expired"),
        (.tooManyOpen(retryAfter: Seconds(5)), 429, "too-many-requests"),
        (.authenticationFailed, 401, "authentication-failed"),
        (.attestationRefused, 422, "attestation-refused"), (.keyExists, 409, "credential-exists"),
    ])
    func `tell why no key was registered`(
        refusal: PersonKeyRefusal, status: Int, slug: String
    ) async throws {
        var api = FakeAPI()
        api.people.options = .refused(refusal)
        api.people.registration = .refused(refusal)
        try await api.serve { api in
            for (method, path, body) in Self.routes
            where method == "POST" && path.hasPrefix("/v1/person-keys") {
                let answer = try await send(api, method, path, body)
                #expect(answer.status == status && answer.slug == slug)
            }
        }
    }

    @Test func `list acts by state, page by page`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api in
            let page = try await api.get("/v1/acts?state=open&limit=2", as: .risk)
            guard case .array(let acts)? = page.json["acts"] else {
                Issue.record("no acts")
                return
            }
            #expect(acts.count == 2)
            let cursor = try #require(page.json["next_cursor"]?.text)
            #expect(try await api.get("/v1/acts?cursor=\(cursor)", as: .risk).status == 200)
            for query in ["state=closed", "limit=0", "cursor=x", "kind=x"] {
                #expect(try await api.get("/v1/acts?\(query)", as: .risk).status == 400)
            }
        }
        #expect(fakes.people.queries.values.map(\.state) == [.open, nil])
        #expect(fakes.people.queries.values.map(\.before) == [nil, Fixture.act.id])
    }
}
