import Countersign
import Foundation
import TestSupport
import Testing

@testable import HTTP

@Suite struct `What auditors ask for` {
    @Test func `takes every filter`() async throws {
        let api = FakeAPI()
        try await api.serve { running async throws in
            let digest = String(repeating: "ab", count: 32)
            let answer = try await running.get(
                "/v1/evidence?external_id=order-7&outcome=wrong_signature&policy_version=3"
                    + "&policy_digest=\(digest)&hold=payee_cooling_off"
                    + "&subject_id=\(Fixture.action.id.text)", as: .auditor)
            #expect(answer.status == 200)
            #expect(answer.headers["countersign-complete-until"] == Fixture.now.text)
        }
        let query = try #require(api.evidence.queries.values.first)
        #expect(query.externalID?.text == "order-7" && query.outcome == "wrong_signature")
        #expect(query.policyVersion == 3 && query.policyDigest?.hex.hasPrefix("abab") == true)
        #expect(query.hold == .rule("payee_cooling_off"))
        #expect(query.subject?.text == Fixture.action.id.text)
    }

    @Test(arguments: [
        "external_id=", "external_id=a%20b", "outcome=", "outcome=Approved", "outcome=a'b",
        "policy_version=0", "policy_version=-1", "policy_version=x", "policy_version=1234567890",
        "policy_digest=ab", "policy_digest=", "hold=", "hold=With", "subject_id=x",
        "until=2026-01-01T00:00:00Z",
        "hold=with&hold=without",
    ])
    func `is told 400 for what is not understood`(query: String) async throws {
        let api = FakeAPI()
        try await api.serve { running async throws in
            for path in ["/v1/evidence", "/v1/evidence/export"] {
                let answer = try await running.get("\(path)?\(query)", as: .auditor)
                #expect(answer.status == 400 && answer.slug == "malformed-request", "\(path)")
            }
        }
        #expect(api.evidence.queries.values.isEmpty)
    }

    @Test(arguments: ["format=xml", "format=CSV", "limit=5"])
    func `takes away in a form that there is`(query: String) async throws {
        try await FakeAPI().serve { running async throws in
            let answer = try await running.get("/v1/evidence/export?\(query)", as: .auditor)
            #expect(answer.status == 400)
        }
    }

    @Test(arguments: AuthenticatedClient.Role.allCases.filter { $0 != .auditor })
    func `is for auditors alone`(role: AuthenticatedClient.Role) async throws {
        let api = FakeAPI()
        try await api.serve { running async throws in
            #expect(try await running.get("/v1/evidence/export", as: role).status == 403)
        }
        #expect(api.evidence.readers.values.isEmpty)
    }

    private func exported(_ query: String, _ api: FakeAPI = FakeAPI()) async throws -> String {
        let request = Request(
            method: .get, path: "/v1/evidence/export", query: Query(decoding: query),
            headers: ["Authorization": "Bearer \(Fixture.key(.auditor))"], body: [], peer: .plain,
            id: "made-here", traceparent: nil)
        let response = await api.router().respond(to: request)
        #expect(response.status == 200)
        #expect(response.headers.only("Countersign-Complete-Until") == Fixture.now.text)
        var bytes: Bytes = []
        let parts = try #require(response.parts)
        while let part = try await parts() { bytes += part }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `is one JSON object a line, as the list shows it`() async throws {
        let lines = try await exported("format=ndjson").split(separator: "\n")
        #expect(lines.count == 3)
        let json = try StrictJSON.parse(Bytes(lines[0].utf8))
        #expect(json["id"]?.text == Fixture.evidence.id.text)
        #expect(json["leaf"] != nil && json["body"] != nil)
        #expect(try await exported("").split(separator: "\n").count == 3)
    }

    @Test func `is RFC 4180 with a line of names, also when there is nothing`() async throws {
        let text = try await exported("format=csv")
        let lines = text.components(separatedBy: "\r\n")
        #expect(lines.count == 5 && lines.last == "")
        #expect(lines[0].hasPrefix(#""id","kind","at","action_id""#))
        var empty = FakeAPI()
        empty.evidence.exported = []
        #expect(try await exported("format=csv", empty).hasSuffix("\"body\"\r\n"))
    }
}

@Suite struct `A field of CSV` {
    @Test(arguments: [
        ("plain", "\"plain\""), ("", "\"\""), ("a\"b", "\"a\"\"b\""), ("a,b\r\nc", "\"a,b\r\nc\""),
        ("=1+1", "\"'=1+1\""), ("+49", "\"'+49\""), ("-1", "\"'-1\""),
        ("@SUM(A1)", "\"'@SUM(A1)\""),
        ("\t=1", "\"'\t=1\""), ("\r=1", "\"'\r=1\""), ("a=1", "\"a=1\""), ("Zoë", "\"Zoë\""),
    ])
    func `is no formula and ends where it ends`(text: String, field: String) {
        #expect(CSV.line([text, "x"]) == Bytes("\(field),\"x\"\r\n".utf8))
    }
}

@Suite struct `Whoever protects data` {
    private static let path = "/v1/customers/c-1001"

    @Test func `erases a customer`() async throws {
        let api = FakeAPI()
        try await api.serve { running async throws in
            let answer = try await running.post("\(Self.path)/erasure", "", as: .privacy)
            #expect(answer.status == 200)
            #expect(
                APIAnswer.names(answer.json["erasure"]) == [
                    "erased_at", "evidence_id", "records", "subject_id",
                ])
        }
        #expect(api.privacy.erased.values.map(\.text) == ["c-1001"])
    }

    @Test(arguments: [
        (ErasureRefusal.notFound, 404, "not-found"), (.legalHold, 409, "legal-hold"),
        (.actionOpen, 409, "action-open"),
        (.retention(until: Fixture.now), 409, "retention-not-over"),
    ])
    func `is told why not`(refusal: ErasureRefusal, status: Int, slug: String) async throws {
        var api = FakeAPI()
        api.privacy.refusal = refusal
        try await api.serve { running async throws in
            let answer = try await running.post("\(Self.path)/erasure", "", as: .privacy)
            #expect(answer.status == status && answer.slug == slug)
            if slug == "retention-not-over" {
                #expect(answer.json["not_before"]?.text == Fixture.now.text)
            }
            #expect(try await running.everyOutcomeIsCounted())
        }
    }

    @Test func `sets and lifts legal holds with a reason`() async throws {
        let api = FakeAPI()
        try await api.serve { running async throws in
            for (path, state) in [("legal-hold", "standing"), ("legal-hold/lift", "lifted")] {
                let answer = try await running.post(
                    "\(Self.path)/\(path)", Body.reason, as: .privacy)
                #expect(answer.status == 200)
                #expect(answer.json["legal_hold"]?["state"]?.text == state)
                let silent = try await running.post("\(Self.path)/\(path)", "{}", as: .privacy)
                #expect(silent.status == 400)
            }
        }
        #expect(api.privacy.commands.values.count == 2)
    }

    @Test(arguments: AuthenticatedClient.Role.allCases.filter { $0 != .privacy })
    func `and nobody else does`(role: AuthenticatedClient.Role) async throws {
        let api = FakeAPI()
        try await api.serve { running async throws in
            for path in ["erasure", "legal-hold", "legal-hold/lift"] {
                let answer = try await running.post(
                    "\(Self.path)/\(path)", path == "erasure" ? "" : Body.reason, as: role)
                #expect(answer.status == 403, "\(path)")
            }
        }
        #expect(api.privacy.erased.values.isEmpty && api.privacy.commands.values.isEmpty)
    }
}
