import Countersign
import HTTP
import Testing

@Suite struct `What operators ask` {
    @Test func `health is told to everybody, whatever the database says`() async throws {
        var api = FakeAPI()
        api.checks = [ReadinessCheck(name: "database", isPassed: false)]
        try await api.serve { api async throws in
            let answer = try await api.get("/healthz", as: nil)
            #expect(answer.status == 200)
            #expect(answer.json == ["status": "ok"])
        }
    }

    @Test func `readiness names its checks`() async throws {
        var api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.get("/readyz", as: nil)
            #expect(answer.status == 200)
            #expect(answer.json["status"] == "ready")
            #expect(answer.json["checks"] == ["database": "ok"])
        }
        api.checks.append(ReadinessCheck(name: "migrations", isPassed: false))
        try await api.serve { api async throws in
            let answer = try await api.get("/readyz", as: nil)
            #expect(answer.status == 503)
            #expect(answer.slug == "unavailable")
            #expect(answer.headers["retry-after"] == "1")
            #expect(answer.json["checks"] == ["database": "ok", "migrations": "failed"])
        }
    }

    @Test func `metrics count answers by route and outcome, and never by ID`() async throws {
        var api = FakeAPI()
        api.actions.decision = .refused(.challengeExpired)
        try await api.serve { api async throws in
            let path = "/v1/actions/\(Fixture.action.id.text)"
            _ = try await api.get(path)
            _ = try await api.post("\(path)/approve", Body.deviceKeyProof)
            _ = try await api.post("\(path)/approve", "{")
            let answer = try await api.get("/metrics", as: nil)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == Metrics.contentType)
            let text = String(decoding: answer.body, as: UTF8.self)
            let name = "countersign_api_answers_total"
            for line in [
                #"\#(name){route="/v1/actions/{id}",outcome="ok"} 1"#,
                #"\#(name){route="/v1/actions/{id}/approve",outcome="challenge-expired"} 1"#,
                #"\#(name){route="/v1/actions/{id}/approve",outcome="malformed-request"} 1"#,
            ] {
                #expect(text.contains(line), "\(line)")
            }
            #expect(
                text.contains(
                    #"request_seconds_count{route="/v1/actions/{id}/approve",status="4xx"} 2"#))
            #expect(!text.contains(Fixture.action.id.text))
        }
    }

    @Test func `metrics are for operators where strangers reach the port`() async throws {
        var api = FakeAPI()
        api.metricsAccess = .operators
        try await api.serve { api async throws in
            #expect(try await api.get("/metrics", as: nil).status == 401)
            #expect(try await api.get("/metrics", as: .backend).status == 403)
            #expect(try await api.get("/metrics", as: .operator).status == 200)
        }
    }
}
