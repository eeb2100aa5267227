import Countersign
import HTTP
import Testing

/// One row for each refusal: what the caller is told, with which status.
@Suite struct `Refusals as problems` {
    private static let until = Fixture.now + Seconds(90)
    private static let approve = "/v1/actions/\(Fixture.action.id.text)/approve"

    @Test(arguments: [
        (DecisionRefusal.notFound, 404, "not-found"),
        (.alreadyDecided(.rejected), 409, "already-decided"),
        (.actionExpired, 410, "action-expired"),
        (.actionCancelled, 409, "action-cancelled"),
        (.challengeSuperseded, 409, "challenge-superseded"),
        (.challengeConsumed, 409, "challenge-consumed"),
        (.challengeExpired, 410, "challenge-expired"),
        (.customerLocked(until: until), 423, "customer-locked"),
        (.attemptsExhausted, 403, "attempts-exhausted"),
        (.authenticationFailed, 401, "authentication-failed"),
        (
            .policy(
                .credentialNotAllowed(
                    CredentialDemand(kinds: [.passkey], profiles: [], backupEligible: true))), 403,
            "credential-not-allowed"
        ),
        (.policy(.payeeUnknown), 409, "payee-unknown"),
        (.policy(.payeeNotUsable(usableAt: until)), 409, "payee-not-usable"),
    ])
    func `of decisions, challenges and cancellations`(
        refusal: DecisionRefusal, status: Int, slug: String
    ) async throws {
        var api = FakeAPI()
        api.actions.decision = .refused(refusal)
        api.actions.challenge = .refused(refusal)
        api.actions.cancellation = .refused(refusal)
        try await api.serve { api async throws in
            let path = "/v1/actions/\(Fixture.action.id.text)"
            for (route, body) in [
                ("approve", Body.deviceKeyProof), ("reject", Body.reason), ("challenges", ""),
                ("cancel", Body.reason),
            ] {
                let answer = try await api.post("\(path)/\(route)", body)
                #expect(answer.status == status, "\(route)")
                #expect(answer.slug == slug, "\(route)")
                #expect(answer.json["status"] == .integer(Int64(status)))
                #expect(answer.json["title"]?.text?.isEmpty == false)
                #expect(answer.json["instance"] == .string("made-here"))
                #expect(answer.headers["cache-control"] == "no-store")
            }
            #expect(try await api.everyOutcomeIsCounted())
        }
    }

    private func decide(_ refusal: DecisionRefusal) async throws -> APIAnswer {
        var api = FakeAPI()
        api.actions.decision = .refused(refusal)
        let answer = Recorder<APIAnswer>()
        try await api.serve {
            answer.record(try await $0.post(Self.approve, Body.deviceKeyProof))
        }
        return try #require(answer.values.first)
    }

    @Test func `a locked customer: until when, in the body and in Retry-After`() async throws {
        let answer = try await decide(.customerLocked(until: Self.until))
        #expect(answer.json["until"] == .string(Self.until.text))
        #expect(answer.headers["retry-after"] == "90")
    }

    @Test func `Retry-After is rounded up, and never zero`() async throws {
        let soon = Instant(milliseconds: Fixture.now.milliseconds + 1001)
        #expect(
            try await decide(.customerLocked(until: soon)).headers["retry-after"] == "2")
        let past = Instant(milliseconds: Fixture.now.milliseconds - 5000)
        #expect(
            try await decide(.customerLocked(until: past)).headers["retry-after"] == "1")
    }

    @Test func `an action that was decided: how`() async throws {
        let answer = try await decide(.alreadyDecided(.rejected))
        #expect(answer.json["authorization"] == "rejected")
    }

    @Test func `a failed proof asks for no other key of the caller`() async throws {
        let answer = try await decide(.authenticationFailed)
        #expect(answer.headers["www-authenticate"] == "Customer-Assertion")
    }

    @Test func `another credential: what it must be`() async throws {
        let answer = try await decide(
            .policy(
                .credentialNotAllowed(
                    CredentialDemand(
                        kinds: [.passkey, .deviceKey], profiles: [.fidoTrusted],
                        backupEligible: false))))
        #expect(answer.json["allowed"] == ["passkey", "device_key"])
        #expect(answer.json["profiles"] == ["fido-trusted"])
        #expect(answer.json["backup_eligible"] == .bool(false))
    }

    @Test func `a payee in its cooling-off: until when`() async throws {
        let answer = try await decide(.policy(.payeeNotUsable(usableAt: Self.until)))
        #expect(answer.json["usable_at"] == .string(Self.until.text))
    }

    @Test func `a limit: which, and what is left in which window`() async throws {
        let currency = try Currency("EUR")
        let answer = try await decide(
            .policy(
                .limitExceeded(
                    limit: .dailyMax, allowed: Money(minorUnits: 38_000, currency: currency),
                    window: "2027-01-15")))
        #expect(answer.status == 409)
        #expect(answer.slug == "limit-exceeded")
        #expect(answer.json["limit"] == "daily_max")
        #expect(answer.json["allowed"] == "380.00")
        #expect(answer.json["currency"] == "EUR")
        #expect(answer.json["window"] == "2027-01-15")
    }

    @Test func `a currency that the policy does not name: nothing may be sent`() async throws {
        let answer = try await decide(.policy(.currencyNotAllowed(try Currency("JPY"))))
        #expect(answer.status == 409)
        #expect(answer.slug == "limit-exceeded")
        #expect(answer.json["limit"] == "currency_not_allowed")
        #expect(answer.json["allowed"] == "0")
        #expect(answer.json["window"] == .null)
    }

    @Test(
        arguments: [
            (CreationRefusal.idempotencyKeyReused, 422, "idempotency-key-reuse", nil),
            (.idempotencyInFlight, 409, "idempotency-in-flight", "1"),
            (.externalIDExists, 422, "invalid-action", nil),
            (.tooManyOpenChallenges(retryAfter: Seconds(300)), 429, "too-many-requests", "300"),
        ] as [(CreationRefusal, Int, String, String?)])
    func `of creations`(
        refusal: CreationRefusal, status: Int, slug: String, retryAfter: String?
    ) async throws {
        var api = FakeAPI()
        api.actions.creation = .refused(refusal)
        try await api.serve { api async throws in
            let answer = try await api.post("/v1/actions", Body.transfer)
            #expect(answer.status == status)
            #expect(answer.slug == slug)
            #expect(answer.headers["retry-after"] == retryAfter)
            if refusal == .externalIDExists {
                #expect(answer.faults == ["/external_id external_id_exists"])
            }
            #expect(try await api.everyOutcomeIsCounted())
        }
    }

    @Test func `too many open challenges when another is asked for`() async throws {
        var api = FakeAPI()
        api.actions.challenge = .tooManyOpen(retryAfter: Seconds(60))
        try await api.serve { api async throws in
            let path = "/v1/actions/\(Fixture.action.id.text)/challenges"
            let answer = try await api.post(path, "")
            #expect(answer.status == 429)
            #expect(answer.slug == "too-many-requests")
            #expect(answer.headers["retry-after"] == "60")
        }
    }

    @Test(arguments: [
        (EnrolmentRefusal.notFound, 404, "not-found"),
        (.consumed, 409, "enrolment-consumed"),
        (.expired, 410, "enrolment-expired"),
        (.tooManyOpen(retryAfter: Seconds(5)), 429, "too-many-requests"),
        (.customerLocked(until: until), 423, "customer-locked"),
        (.invalidKey(InvalidValue("key_curve", "Another curve.")), 422, "invalid-action"),
        (.authenticationFailed, 401, "authentication-failed"),
        (.notAuthorized, 403, "enrolment-not-authorized"),
        (.attestationRefused, 422, "attestation-refused"),
        (.credentialExists, 409, "credential-exists"),
    ])
    func `of enrolments`(refusal: EnrolmentRefusal, status: Int, slug: String) async throws {
        var api = FakeAPI()
        api.credentials.enrolment = .refused(refusal)
        api.credentials.authorization = .refused(refusal)
        api.credentials.finish = .refused(refusal)
        try await api.serve { api async throws in
            let path = "/v1/customers/c-1001/credentials"
            for (route, body) in [
                ("/challenges", Body.enrolment), ("/authorizations", Body.authorization),
                ("", Body.deviceKey), ("", Body.registration),
            ] {
                let answer = try await api.post(path + route, body)
                #expect(answer.status == status, "\(route)")
                #expect(answer.slug == slug, "\(route)")
            }
            #expect(try await api.everyOutcomeIsCounted())
        }
    }

    @Test func `an offered key that is none: where it stands`() async throws {
        var api = FakeAPI()
        api.credentials.finish = .refused(.invalidKey(InvalidValue("key_curve", "Another.")))
        try await api.serve { api async throws in
            let path = "/v1/customers/c-1001/credentials"
            let deviceKey = try await api.post(path, Body.deviceKey)
            #expect(deviceKey.faults == ["/device_key/public_key key_curve"])
            let passkey = try await api.post(path, Body.registration)
            #expect(passkey.faults == ["/passkey key_curve"])
        }
    }

    @Test(
        arguments: [
            (StoreFailure.unavailable, 503, "unavailable", "1"),
            (.outcomeUnknown, 503, "outcome-unknown", "1"),
            (.internalFailure(code: "23505 secret_constraint"), 500, "internal-error", nil),
        ] as [(StoreFailure, Int, String, String?)])
    func `failures of the database`(
        failure: StoreFailure, status: Int, slug: String, retryAfter: String?
    ) async throws {
        var api = FakeAPI()
        api.actions.failure = failure
        api.credentials.failure = failure
        let defects = api.defects
        try await api.serve { api async throws in
            let action = "/v1/actions/\(Fixture.action.id.text)"
            let customer = "/v1/customers/c-1001"
            let answers = [
                try await api.post("/v1/actions", Body.transfer),
                try await api.post("\(action)/approve", Body.passkeyProof),
                try await api.post("\(action)/challenges", ""),
                try await api.post("\(action)/cancel", Body.reason),
                try await api.get(action),
                try await api.get("/v1/actions?customer_id=c-1001"),
                try await api.get("\(customer)/payees"),
                try await api.get("\(customer)/credentials"),
                try await api.post("\(customer)/credentials/challenges", Body.enrolment),
            ]
            for answer in answers {
                #expect(answer.status == status)
                #expect(answer.slug == slug)
                #expect(answer.headers["retry-after"] == retryAfter)
                #expect(!String(decoding: answer.body, as: UTF8.self).contains("secret"))
            }
        }
        #expect(defects.values.count == (status == 500 ? 9 : 0))
    }
}
