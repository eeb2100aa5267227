import Countersign
import HTTP
import Testing

@Suite struct `Customers over HTTP` {
    private static let payees = "/v1/customers/c-1001/payees"
    private static let recovery = "/v1/customers/c-1001/recovery"

    @Test func `removing a payee`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let path = "\(Self.payees)/\(FakeCustomers.payee.text)"
            let answer = try await api.send("DELETE", path)
            #expect(answer.status == 200)
            #expect(answer.json["payee"]?["state"] == "removed")
            #expect(answer.json["payee"]?["id"] == .string(FakeCustomers.payee.text))
            let other: ID<Payee> = Fixture.id(99)
            for path in [
                "\(Self.payees)/\(other.text)", "\(Self.payees)/x", "/v1/customers/!/payees/x",
            ] {
                #expect(try await api.send("DELETE", path).slug == "not-found", "\(path)")
            }
            for role in AuthenticatedClient.Role.allCases where role != .backend {
                #expect(try await api.send("DELETE", path, as: role).slug == "forbidden")
            }
            #expect(try await api.send("DELETE", path, as: nil).status == 401)
            #expect(try await api.send("DELETE", path + "?force=1").status == 400)
            let wrong = try await api.get(path)
            #expect(wrong.status == 405 && wrong.headers["allow"] == "DELETE")
        }
        let command = try #require(api.customers.removals.values.first)
        #expect(command.customerID == Fixture.customerID)
        #expect(command.client == Fixture.client(.backend).id)
    }

    @Test func `recovering`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(Self.recovery, #"{"sca_token": "a.b.c"}"#, headers: [])
            #expect(answer.status == 200)
            #expect(
                APIAnswer.names(answer.json["recovery"]) == [
                    "cancelled_actions", "customer_id", "held_approvals", "kept_actions",
                    "recovered_at", "revoked_credentials",
                ])
            #expect(
                answer.json["recovery"]?["revoked_credentials"]
                    == [.string(Fixture.credential.id.text)])
            // None at all is the use case's to judge.
            #expect(try await api.post(Self.recovery, "{}").status == 200)
            for body in [
                "", "[]", #"{"sca_token": 1}"#, #"{"sca_token": {}}"#, #"{"token": "a"}"#,
                #"{"sca_token": "a", "sca_token": "b"}"#, #"{"sca_token": "a"}{}"#,
            ] {
                #expect(try await api.post(Self.recovery, body).slug == "malformed-request")
            }
            for role in AuthenticatedClient.Role.allCases where role != .backend {
                #expect(try await api.post(Self.recovery, "{}", as: role).slug == "forbidden")
            }
        }
        #expect(api.customers.recoveries.values.map(\.token) == ["a.b.c", nil])
    }

    @Test(arguments: [
        (RecoveryRefusal.notFound, 404, "not-found"),
        (.notAuthorized, 403, "recovery-not-authorized"),
    ])
    func `refused recoveries`(refusal: RecoveryRefusal, status: Int, slug: String) async throws {
        var api = FakeAPI()
        api.customers.refusal = refusal
        try await api.serve { api async throws in
            let answer = try await api.post(Self.recovery, #"{"sca_token": "a.b.c"}"#)
            #expect(answer.status == status && answer.slug == slug)
            #expect(try await api.everyOutcomeIsCounted())
        }
    }
}

@Suite struct `The feed of events over HTTP` {
    @Test func `goes on where a page ended`() async throws {
        try await FakeAPI().serve { api async throws in
            let first = try await api.get("/v1/events?limit=2")
            #expect(first.status == 200)
            guard case .array(let events)? = first.json["events"] else {
                Issue.record("no events")
                return
            }
            #expect(events.map { $0["cursor"] } == ["1", "2"])
            #expect(
                APIAnswer.names(events.first) == [
                    "action_id", "at", "credential_id", "credential_label", "cursor",
                    "customer_id", "details", "id", "kind", "payee_id",
                ])
            #expect(first.json["next_cursor"] == "2")
            let second = try await api.get("/v1/events?after=2")
            #expect(second.json["next_cursor"] == "3")
            // At the end the cursor stays.
            let third = try await api.get("/v1/events?after=3")
            #expect(third.json["events"] == [] && third.json["next_cursor"] == "3")
        }
    }

    @Test(arguments: [
        "after=", "after=x", "after=-1", "after=01", "after=1.0", "after=%31%00", "after=4",
        "after=9223372036854775808", "after=1&after=1", "limit=0", "limit=101", "cursor=1",
    ])
    func `refuses a cursor that it never gave`(query: String) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.get("/v1/events?\(query)")
            #expect(answer.status == 400 && answer.slug == "malformed-request")
        }
    }

    @Test func `is the backend's alone`() async throws {
        try await FakeAPI().serve { api async throws in
            for role in AuthenticatedClient.Role.allCases where role != .backend {
                #expect(try await api.get("/v1/events", as: role).slug == "forbidden")
            }
        }
    }
}
