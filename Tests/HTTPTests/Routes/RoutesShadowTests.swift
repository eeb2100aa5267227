import Countersign
import HTTP
import TestSupport
import Testing

extension Fixture {
    static let shadow = PolicyShadow(
        id: id(401), label: "tighter", digest: sha256([3]),
        startedBy: person, startedAt: now, until: now + Seconds(3600), doneUntil: now + Seconds(9))

    static let endedShadow = PolicyShadow(
        id: id(402), label: "older", digest: sha256([4]),
        startedBy: person, startedAt: now, until: now + Seconds(3600),
        end: (person, now + Seconds(5)), doneUntil: now + Seconds(9),
        forgottenAt: now + Seconds(10))
}

/// Two shadows, of which one has ended.
struct FakeShadows: ShadowService {
    var outcome = StartShadowOutcome.started(Fixture.shadow, at: Fixture.now)
    var failure: StoreFailure?

    let commands = Recorder<StartShadowCommand>()
    let enders = Recorder<ID<Client>>()
    let queries = Recorder<ShadowQuery>()

    private func fail() throws(StoreFailure) {
        if let failure { throw failure }
    }

    func start(_ command: StartShadowCommand) async throws(StoreFailure) -> StartShadowOutcome {
        commands.record(command)
        try fail()
        return outcome
    }

    func shadows(
        _ query: ShadowQuery
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant) {
        queries.record(query)
        try fail()
        let all = [Fixture.shadow, Fixture.endedShadow]
        let rest = query.before == Fixture.shadow.id ? all.suffix(1) : all.suffix(2)
        return (Array(rest.prefix(query.limit)), Fixture.now + Seconds(10))
    }

    func report(
        of id: ID<Shadow>
    ) async throws(StoreFailure) -> (report: ShadowReport, at: Instant)? {
        try fail()
        guard id == Fixture.shadow.id else { return nil }
        var comparison = PolicyComparison()
        comparison.count(before: .allowed, after: .held(rule: "signal"), band: nil, times: 4)
        comparison.countUndecidable(times: 2)
        return (ShadowReport(shadow: Fixture.shadow, comparison: comparison), Fixture.now)
    }

    func end(
        _ id: ID<Shadow>, by person: ID<Client>
    ) async throws(StoreFailure) -> (shadow: PolicyShadow, at: Instant)? {
        enders.record(person)
        try fail()
        return id == Fixture.shadow.id ? (Fixture.endedShadow, Fixture.now + Seconds(10)) : nil
    }
}

@Suite struct `Shadows over HTTP` {
    private static let path = "/v1/policies/shadows"

    private func body(
        _ document: JSON = Fixtures.policyDocument, until: JSON = "2027-01-15T09:00:00Z",
        label: JSON = "tighter"
    ) -> Bytes {
        (["document": document, "until": until, "label": label] as JSON).encoded
    }

    @Test func `are begun by the risk team alone`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api async throws in
            for role in AuthenticatedClient.Role.allCases {
                let answer = try await api.post(Self.path, body(), as: role, headers: [])
                #expect(answer.status == (role == .risk ? 201 : 403))
                guard role == .risk else { continue }
                let shadow = answer.json["shadow"]
                #expect(shadow?["id"] == .string(Fixture.shadow.id.text))
                #expect(shadow?["state"] == "active")
                #expect(shadow?["started_by"] == "anna")
                #expect(shadow?["ended_at"] == .null)
            }
            #expect(try await api.post(Self.path, body(), as: nil).status == 401)
        }
        let command = try #require(fakes.shadows.commands.values.first)
        #expect(command.person == Fixture.client(.risk).id)
        #expect(command.label.text == "tighter")
        #expect(command.until.text == "2027-01-15T09:00:00Z")
        #expect(throws: Never.self) { try PolicyRules(document: command.document) }
    }

    @Test func `are refused with the member that is wrong`() async throws {
        try await FakeAPI().serve { api async throws in
            let draft = Fixtures.policyDocument
            let cases: [(Bytes, Int, [String])] = [
                (
                    body(draft.setting("attempts.lock_s", to: .integer(299))), 422,
                    ["/document/attempts/lock_s lock_s"]
                ),
                (
                    body(draft.setting("payee.coling_off_s", to: .integer(1))), 422,
                    [
                        "/document/payee/coling_off_s payee"
                    ]
                ),
                (body(until: "soon"), 422, ["/until instant_format"]),
                (body(until: "0000-01-01T00:00:00Z"), 422, ["/until instant_format"]),
                (body(label: ""), 422, ["/label text_empty"]),
                (
                    body(label: .string(String(repeating: "x", count: 65))), 422,
                    ["/label text_too_long"]
                ),
                (
                    body(until: "soon", label: ""), 422,
                    ["/label text_empty", "/until instant_format"]
                ),
                (body(.null), 422, ["/document required"]), (body("x"), 400, []),
                (body(label: .integer(1)), 400, []), (body(until: .null), 400, []),
                (Bytes("[]".utf8), 400, []), (Bytes("{}".utf8), 400, []),
            ]
            for (body, status, faults) in cases {
                let answer = try await api.post(Self.path, body, as: .risk, headers: [])
                let text = String(decoding: body.suffix(60), as: UTF8.self)
                #expect(answer.status == status, "\(text)")
                if status == 422 { #expect(answer.faults == faults, "\(text)") }
            }
        }
    }

    @Test func `are not begun when there are enough, or their end is not to come`() async throws {
        var api = FakeAPI()
        api.shadows.outcome = .tooManyActive
        try await api.serve { api async throws in
            let answer = try await api.post(Self.path, body(), as: .risk)
            #expect(answer.status == 409 && answer.slug == "too-many-shadows")
            #expect(try await api.everyOutcomeIsCounted())
        }
        api.shadows.outcome = .untilOutOfRange
        try await api.serve { api async throws in
            let answer = try await api.post(Self.path, body(), as: .risk)
            #expect(answer.status == 422 && answer.faults == ["/until until_out_of_range"])
        }
    }

    @Test func `are shown to the risk team and auditors`() async throws {
        try await FakeAPI().serve { api async throws in
            let one = "\(Self.path)/\(Fixture.shadow.id.text)"
            for role in AuthenticatedClient.Role.allCases {
                let status = role == .risk || role == .auditor ? 200 : 403
                #expect(try await api.get(Self.path, as: role).status == status)
                #expect(try await api.get(one, as: role).status == status)
            }
            let list = try await api.get(Self.path, as: .risk)
            guard case .array(let shadows)? = list.json["shadows"] else {
                Issue.record("no shadows")
                return
            }
            #expect(shadows.map { $0["state"] } == ["active", "ended"])
            #expect(shadows.last?["ended_by"] == "anna")
            #expect(shadows.map { $0["forgotten_at"]?.text != nil } == [false, true])
            #expect(list.json["next_cursor"] == .null)
            let shown = try await api.get(one, as: .auditor)
            let report = shown.json["report"]
            #expect(
                APIAnswer.names(report) == [
                    "amount_bands", "changed", "changes", "complete", "decided", "outcomes",
                    "rules", "undecidable",
                ])
            #expect(report?["decided"] == .integer(4) && report?["undecidable"] == .integer(2))
            #expect(report?["rules"]?["signal"] == ["after": .integer(4), "before": .integer(0)])
            for path in ["x", Fixture.endedShadow.id.text] {
                #expect(try await api.get("\(Self.path)/\(path)", as: .risk).status == 404)
            }
            #expect(try await api.get(one + "?limit=1", as: .risk).status == 400)
        }
    }

    @Test func `are listed page by page`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api async throws in
            let first = try await api.get(Self.path + "?limit=1", as: .risk)
            func ids(_ answer: APIAnswer) -> [String?] {
                guard case .array(let shadows)? = answer.json["shadows"] else { return [] }
                return shadows.map { $0["id"]?.text }
            }
            #expect(ids(first) == [Fixture.shadow.id.text])
            let cursor = try #require(first.json["next_cursor"]?.text)
            let second = try await api.get(
                Self.path + "?limit=1&cursor=\(cursor)", as: .risk)
            #expect(ids(second) == [Fixture.endedShadow.id.text])
            #expect(second.json["next_cursor"] == .null)
            for query in ["limit=0", "limit=101", "cursor=x", "state=active"] {
                #expect(try await api.get("\(Self.path)?\(query)", as: .risk).status == 400)
            }
            _ = try await api.get(Self.path, as: .risk)
        }
        #expect(fakes.shadows.queries.values.map(\.limit) == [2, 2, 51])
    }

    @Test func `are ended by the risk team alone`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api async throws in
            let one = "\(Self.path)/\(Fixture.shadow.id.text)"
            for role in AuthenticatedClient.Role.allCases {
                let answer = try await api.send("DELETE", one, as: role)
                #expect(answer.status == (role == .risk ? 200 : 403))
                if role == .risk { #expect(answer.json["shadow"]?["state"] == "ended") }
            }
            #expect(try await api.send("DELETE", Self.path + "/x", as: .risk).status == 404)
            #expect(try await api.send("DELETE", Self.path, as: .risk).status == 405)
        }
        #expect(fakes.shadows.enders.values == [Fixture.client(.risk).id])
    }
}

@Suite struct `Payees of a segment` {
    private static let path = "/v1/customers/c-1001/payees"

    @Test func `are told by the rules of the segment that is asked for`() async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api async throws in
            for query in ["", "?segment=vip", "?segment=" + String(repeating: "a", count: 64)] {
                #expect(try await api.get(Self.path + query).status == 200)
            }
        }
        #expect(
            fakes.actions.segments.values == [
                "retail", "vip", String(repeating: "a", count: 64),
            ])
    }

    @Test(arguments: [
        "segment=", "segment=VIP", "segment=a-b", "segment=%C3%A4", "segment=a&segment=a",
        "segment=" + String(repeating: "a", count: 65), "segments=a", "segment=a%20b",
    ])
    func `are refused for what is no segment`(query: String) async throws {
        let fakes = FakeAPI()
        try await fakes.serve { api async throws in
            let answer = try await api.get("\(Self.path)?\(query)")
            #expect(answer.status == 400 && answer.slug == "malformed-request")
        }
        #expect(fakes.actions.segments.values.isEmpty)
    }
}
