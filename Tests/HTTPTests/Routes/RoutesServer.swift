import Countersign
import Foundation
import HTTP
import Testing

/// One answer, with its body read.
struct APIAnswer: Sendable {
    let status: Int
    /// Names in lower case.
    let headers: [String: String]
    let body: Bytes

    var json: JSON {
        do { return try StrictJSON.parse(body) } catch { return .null }
    }

    /// The last part of a problem's `type`; `nil` when this is no problem.
    var slug: String? {
        guard headers["content-type"] == "application/problem+json" else { return nil }
        return json["type"]?.text.map { String($0.dropFirst(Problem.typeBase.count)) }
    }

    /// `/pointer code` of each entry of `errors`, sorted.
    var faults: [String] {
        guard case .array(let errors)? = json["errors"] else { return [] }
        return errors.map { "\($0["pointer"]?.text ?? "?") \($0["code"]?.text ?? "?")" }.sorted()
    }

    /// The names of the members of an object, sorted.
    static func names(_ json: JSON?) -> [String] {
        guard case .object(let members)? = json else { return [] }
        return members.map(\.name).sorted()
    }
}

/// A clock that a test moves.
final class ManualClock: @unchecked Sendable {
    // Sendable: the time is reached only under the lock.
    private let lock = NSLock()
    private var instant = ContinuousClock.now

    var now: ContinuousClock.Instant { lock.withLock { instant } }

    func advance(by duration: Duration) { lock.withLock { instant += duration } }
}

/// The API over fakes.
struct FakeAPI: Sendable {
    var actions = FakeActions()
    var credentials = FakeCredentials()
    var evidence = FakeEvidence()
    var deviceRequests = FakeDeviceRequests()
    var customers = FakeCustomers()
    var events = FakeEvents()
    var executions = FakeExecutions()
    var log = FakeLog()
    var privacy = FakePrivacy()
    var people = FakePeople()
    var shadows = FakeShadows()
    var directory = FakeDirectory()
    var clock = ManualClock()
    var metricsAccess = API.MetricsAccess.anybody
    var wellKnown = WellKnown(origins: ["https://bank.example"], appleApp: nil, androidApp: nil)
    var checks = [ReadinessCheck(name: "database", isPassed: true)]
    let defects = Recorder<String>()
    var policyHistory = FakePolicyHistory()

    func router() -> Router {
        let checks = checks
        let surroundings = API.Surroundings(
            sha256: Fixture.sha256, now: { Fixture.now }, monotonic: { clock.now },
            readiness: { checks }, failures: FailureReport { code, _ in defects.record(code) },
            wellKnown: wellKnown, promise: { "promise of \($0) \($1.hex)" })
        let services = API.Services(
            actions: actions, credentials: credentials, evidence: evidence,
            deviceRequests: deviceRequests,
            people: .init(keys: people, acts: people, policies: people, shadows: shadows),
            policyHistory: policyHistory, clients: directory, customers: customers,
            events: events, executions: executions, log: log, privacy: privacy)
        return API(services, in: surroundings, metrics: Metrics(), metricsAccess: metricsAccess)
            .router
    }

    /// Runs a test against this API behind a real server.
    func serve(_ test: (RunningAPI) async throws -> Void) async throws {
        let router = router()
        try await withServer(handler: { await router.respond(to: $0) }) { server in
            try await test(RunningAPI(port: server.port))
        }
    }
}

/// Sends requests to a running API, each on a connection of its own.
struct RunningAPI: Sendable {
    let port: UInt16

    func get(_ path: String, as role: AuthenticatedClient.Role? = .backend) async throws
        -> APIAnswer
    {
        try await send("GET", path, as: role)
    }

    /// Whether each slug that was answered so far has a series of its own.
    func everyOutcomeIsCounted() async throws -> Bool {
        let text = String(decoding: try await get("/metrics", as: nil).body, as: UTF8.self)
        return text.contains("countersign_api_answers_total{")
            && !text.contains("outcome=\"other\"")
    }

    /// Posts JSON; creations get a key unless the headers say otherwise.
    func post(
        _ path: String, _ body: String, as role: AuthenticatedClient.Role? = .backend,
        headers: [String] = ["Idempotency-Key: k1"]
    ) async throws -> APIAnswer {
        try await post(path, Bytes(body.utf8), as: role, headers: headers)
    }

    func post(
        _ path: String, _ body: Bytes, as role: AuthenticatedClient.Role? = .backend,
        headers: [String] = ["Idempotency-Key: k1"]
    ) async throws -> APIAnswer {
        try await send(
            "POST", path, as: role, headers: headers + ["Content-Type: application/json"],
            body: body)
    }

    func send(
        _ method: String, _ path: String, as role: AuthenticatedClient.Role? = .backend,
        headers: [String] = [], body: Bytes = []
    ) async throws -> APIAnswer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: a"] + headers
        if let role { lines.append("Authorization: Bearer \(Fixture.key(role))") }
        if method == "POST" || !body.isEmpty { lines.append("Content-Length: \(body.count)") }
        let head = Bytes((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let answer = try await blocking { [port] in
            let client = try RawClient(port: port)
            client.send(head + body)
            return try client.response(toHead: method == "HEAD")
        }
        return APIAnswer(status: answer.status, headers: answer.headers, body: answer.body)
    }
}
