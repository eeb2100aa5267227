import Countersign
import HTTP
import Testing

@Suite struct `Orders fetched over HTTP` {
    private static let lease = "/v1/executions/lease"
    private static let receipt = "/v1/executions/\(Fixture.action.id.text)/receipt"
    private static let token = FakeExecutions.lease.text

    private static func executed(_ reference: String = #""B-1""#) -> String {
        #"{"lease_token": "\#(token)", "status": "executed", "reference": \#(reference)}"#
    }

    @Test func `a lease`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(
                Self.lease, #"{"limit": 2, "lease_seconds": 60}"#, as: .core, headers: [])
            #expect(answer.status == 200)
            guard case .array(let orders)? = answer.json["orders"] else {
                Issue.record("no orders")
                return
            }
            #expect(
                APIAnswer.names(orders.first) == [
                    "action_id", "attempt", "expires_at", "lease_token", "order", "phase",
                ])
            #expect(orders.map { $0["phase"] } == ["execute", "reconcile"])
            // What is only asked about cannot be carried out.
            #expect(orders.last?["order"] == .null)
            #expect(orders.last?["action_id"] == .string(Fixture.action.id.text))
            #expect(orders.first?["expires_at"] == .string((Fixture.now + Seconds(60)).text))
            #expect(try await api.post(Self.lease, "{}", as: .core).status == 200)
        }
        #expect(api.executions.leases.values.map(\.limit) == [2, 20])
        #expect(api.executions.leases.values.map(\.lease) == [Seconds(60), Seconds(30)])
    }

    @Test(arguments: [
        (#"{"limit": 0}"#, 422), (#"{"limit": 101}"#, 422), (#"{"lease_seconds": 4}"#, 422),
        (#"{"lease_seconds": 601}"#, 422), (#"{"limit": "2"}"#, 400), (#"{"limit": 1.5}"#, 400),
        (#"{"limit": 9223372036854775807}"#, 422), (#"{"limits": 1}"#, 400), ("", 400), ("[]", 400),
    ])
    func `leases out of bounds`(body: String, status: Int) async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post(Self.lease, body, as: .core).status == status)
        }
        #expect(api.executions.leases.values.isEmpty)
    }

    @Test func `what is not for fetching`() async throws {
        var api = FakeAPI()
        api.executions.mayLease = false
        try await api.serve { api async throws in
            #expect(try await api.post(Self.lease, "{}", as: .core).slug == "not-pulled")
        }
    }

    @Test func `a receipt, with the bytes that came`() async throws {
        let api = FakeAPI()
        let spaced = " " + Self.executed(#""\u0042-1""#) + "\r\n "
        try await api.serve { api async throws in
            let answer = try await api.post(Self.receipt, spaced, as: .core, headers: [])
            #expect(answer.status == 200)
            #expect(
                APIAnswer.names(answer.json["receipt"]) == [
                    "action_id", "reason", "received_at", "reference", "status",
                ])
            let refused =
                #"{"lease_token": "\#(Self.token)", "status": "refused", "reason": "closed"}"#
            #expect(try await api.post(Self.receipt, refused, as: .core).status == 200)
        }
        let taken = api.executions.receipts.values
        #expect(taken.first?.receipt == FakeExecutions.executed("B-1"))
        #expect(taken.first?.raw == Bytes(spaced.utf8))
        #expect(taken.first?.lease == FakeExecutions.lease)
        #expect(taken.last?.receipt.reason == "closed")
    }

    @Test(arguments: [
        ("\"executed\"", "\"booked\"", 422), ("\"executed\"", "1", 400),
        ("\"executed\"", "\"refused\"", 400), ("\"reference\"", "\"reason\"", 400),
        ("\"B-1\"", "\"\"", 422), ("\"B-1\"", "\"\\n\"", 422), ("\"B-1\"", "\"a\\u0000\"", 400),
        ("\"B-1\"", "\"\(String(repeating: "x", count: 513))\"", 422), ("\"B-1\"", "7", 400),
        ("\"lease_token\"", "\"token\"", 400), (token, "x", 400),
        ("{", "{\"status\": \"executed\", ", 400), ("{", "{\"more\": 1, ", 400),
    ])
    func `receipts of another shape`(old: String, new: String, status: Int) async throws {
        let body = Self.executed().replacing(old, with: new, maxReplacements: 1)
        try #require(body != Self.executed())
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post(Self.receipt, body, as: .core).status == status)
        }
        #expect(api.executions.receipts.values.isEmpty)
    }

    @Test(arguments: [
        (ReceiptOutcome.notFound, 404, "not-found"), (.leaseLost, 409, "lease-lost"),
        (.contradicts(FakeExecutions.recorded), 409, "receipt-contradicts"),
    ])
    func `receipts that settle nothing`(
        outcome: ReceiptOutcome, status: Int, slug: String
    ) async throws {
        var api = FakeAPI()
        api.executions.outcome = outcome
        try await api.serve { api async throws in
            let answer = try await api.post(Self.receipt, Self.executed(), as: .core)
            #expect(answer.status == status && answer.slug == slug)
            #expect(try await api.everyOutcomeIsCounted())
            let none = try await api.post("/v1/executions/x/receipt", Self.executed(), as: .core)
            #expect(none.slug == "not-found")
        }
    }

    @Test func `a key that was noted`() async throws {
        try await FakeAPI().serve { api async throws in
            let path = "/v1/executions/credentials/\(Fixture.credential.id.text)/receipt"
            let noted = try await api.post(
                path, #"{"lease_token": "\#(Self.token)"}"#, as: .core)
            #expect(noted.status == 200 && noted.json["receipt"]?["status"] == "noted")
            let late = try await api.post(
                path, #"{"lease_token": "\#(Fixture.action.id.text)"}"#, as: .core)
            #expect(late.slug == "lease-lost")
        }
    }

    @Test func `is core banking's alone`() async throws {
        try await FakeAPI().serve { api async throws in
            for role in AuthenticatedClient.Role.allCases where role != .core {
                #expect(try await api.post(Self.lease, "{}", as: role).slug == "forbidden")
                #expect(
                    try await api.post(Self.receipt, Self.executed(), as: role).slug == "forbidden")
            }
        }
    }
}
