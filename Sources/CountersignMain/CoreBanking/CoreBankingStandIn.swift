import Countersign
import Crypto
import Delivery
import Foundation
import HTTP

/// A small core banking system for the demo and the tests: it books, and trusts nobody but customers.
///
/// It believes a request when the signing service's key signed it just now, and carries out an order
/// when the customer's key, as it was recorded at enrolment, signed exactly that, or two officers did, whose
/// keys the operator gave it. It books an action
/// once, however often the order comes and whenever the process dies.
struct CoreBankingStandIn: Sendable {
    /// What it needs to know.
    struct Options: Sendable {
        /// A loopback address or name.
        let host: String
        /// 0 for any free port.
        let port: UInt16
        /// The file that holds its books.
        let journal: String
        /// The signing service's public keys by key ID.
        let serviceKeys: [String: Ed25519PublicKey]
        /// The relying-party ID that the bank's customers sign for.
        let audience: String
        /// The file of the officers' keys; `nil` when what officers approve is not carried out.
        let officerKeys: String?
        /// What is to go wrong, and when.
        let faults: Faults
        /// The same of batches of events.
        var eventFaults = Faults([])
        /// For tests: its clock is so far ahead when it looks at what officers have signed to be held.
        var holdClockAhead = Seconds(0)
    }

    private let options: Options
    private let ledger: Ledger
    private let verifier: MessageVerifier
    private let now: @Sendable () -> Instant

    /// Opens the books.
    ///
    /// - Parameters:
    ///   - options: What it needs to know.
    ///   - now: The time of day, for the freshness of signatures and the dates in the books.
    /// - Throws: When the journal cannot be used.
    init(_ options: Options, now: @escaping @Sendable () -> Instant = { systemTime() }) throws {
        self.options = options
        self.now = now
        ledger = try Ledger(path: options.journal)
        let nonces = NonceMemory(now: now)
        verifier = MessageVerifier(
            keys: options.serviceKeys.mapValues { .ed25519($0) },
            isFirstUse: { nonce, until in nonces.isFirstUse(nonce, until: until) })
    }

    /// Begins to serve.
    ///
    /// - Returns: The running server; stop it to end.
    /// - Throws: When the port cannot be listened on.
    func start() throws -> HTTPServer {
        let own = OwnPort()
        let router = Router(routes(own), metrics: Metrics())
        var limits = ServerLimits()
        // A hundred events with long labels.
        limits.bodyBytesMax = 256 << 10
        let server = try HTTPServer(
            options: ServerOptions(
                host: options.host, port: options.port, tls: nil, limits: limits,
                makeRequestID: { Hex.encode(EntropySource.openSSL(8)) }),
            handler: { request in await router.respond(to: request) })
        // Known once the port is bound, and set before the first request is taken.
        own.set(server.port)
        server.start()
        return server
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - options: What it needs to know.
    ///   - ready: Told the port once requests are taken.
    /// - Throws: When the journal or the port cannot be used.
    static func run(_ options: Options, ready: (UInt16) -> Void) async throws {
        let bank = try CoreBankingStandIn(options)
        let server = try bank.start()
        ready(server.port)
        let (cancelled, continuation) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
            for await _ in cancelled {}
        } onCancel: {
            continuation.finish()
        }
        await server.stop(drain: .seconds(2))
        try await bank.ledger.close()
    }

    private func routes(_ own: OwnPort) -> [Route] {
        [
            Route(.post, "/executions/credentials") { request, _ in
                await register(believed(request, own))
            },
            Route(.post, "/events") { request, _ in
                await answer(to: request, own, options.eventFaults, note)
            },
            Route(.post, "/executions") { request, _ in
                await answer(to: request, own, options.faults, decide)
            },
            // Questions are not signed (`docs/api.md` §9): the connection's certificate has to do.
            Route(.get, "/executions/{action_id}") { _, parameters in
                await tell(parameters["action_id"])
            },
        ]
    }

    private func register(_ json: JSON?) async -> Response {
        guard let json else { return Self.notBelieved }
        guard let key = CustomerKey(json) else { return Self.problem(422, "not_an_announcement") }
        do {
            switch try await ledger.register(key) {
            case .recorded: return .json(["status": "recorded"])
            case .contradicts: return Self.problem(409, "credential_differs")
            }
        } catch {
            return Self.problem(503, "books_closed")
        }
    }

    private func answer(
        to request: Request, _ own: OwnPort, _ faults: Faults,
        _ handle: (Request, OwnPort) async -> Response
    ) async -> Response {
        let fault = faults.next()
        if fault == .failBefore { return Self.problem(500, "fault_injected") }
        let response = await handle(request, own)
        switch fault {
        case .none, .failBefore: break
        case .failAfter: return Self.problem(500, "fault_injected")
        case .delay(let milliseconds):
            do {
                try await Task.sleep(for: .milliseconds(milliseconds))
            } catch {
                return Self.problem(503, "shutting_down")
            }
        case .die: kill(getpid(), SIGKILL)
        }
        return response
    }

    private func note(_ request: Request, _ own: OwnPort) async -> Response {
        guard let json = believed(request, own) else { return Self.notBelieved }
        guard let events = ReceivedEvents(batch: json),
            request.headers.only("idempotency-key") == "\"\(events.id)\""
        else { return Self.problem(422, "not_a_batch") }
        do {
            switch try await ledger.record(events) {
            case .recorded: return .json(["status": "recorded"])
            case .gap: return Self.problem(409, "events_missing")
            }
        } catch {
            return Self.problem(503, "books_closed")
        }
    }

    private func decide(_ request: Request, _ own: OwnPort) async -> Response {
        guard let json = believed(request, own) else { return Self.notBelieved }
        guard let order = ReceivedOrder(json),
            request.headers.only("idempotency-key") == "\"\(order.actionID)\""
        else { return Self.problem(422, "not_an_order") }
        let judge = OrderJudge(audience: options.audience)
        let verdict: Result<ActionContent, OrderJudge.Refusal>
        switch order.approval {
        case .customer(let credential, let message, let proof):
            // An order may overtake the announcement of its key, so this is no decision.
            guard let key = await ledger.key(credential) else {
                return Self.problem(409, "credential_unknown")
            }
            verdict = Result { () throws(OrderJudge.Refusal) in
                try judge.judge(order, message, proof, key: key)
            }
        case .assisted(let act, let document, let signatures):
            // Read for each order, so that a key that the operator has taken out counts no more.
            let keys = options.officerKeys.map { OfficerKeys(path: $0) }
            if case .some(nil) = keys { return Self.problem(503, "officer_keys_unreadable") }
            let judged = Result { () throws(OrderJudge.Refusal) in
                try judge.judge(order, act, document, signatures, keys: keys ?? nil)
            }
            // Too early is no decision: the same order may be carried out when its time has come.
            if case .success(let approved) = judged,
                now() + options.holdClockAhead < approved.notBefore
            {
                return Self.problem(409, "hold_not_over")
            }
            verdict = judged.map(\.content)
        }
        do {
            let entry = try await ledger.book(
                order.actionID, digest: sha256(order.signedBytes), at: now(), verdict: verdict)
            switch entry {
            case .decided(let booking): return .json(booking.answer)
            case .otherMessage: return Self.problem(409, "action_decided_for_another_message")
            }
        } catch {
            return Self.problem(503, "books_closed")
        }
    }

    private func tell(_ id: String) async -> Response {
        guard let id = ID<Action>(id), let booking = await ledger.booking(id) else {
            return Self.problem(404, "not_booked")
        }
        return .json(booking.answer)
    }

    /// The body of a request that the signing service sent just now; `nil` for every other.
    private func believed(_ request: Request, _ own: OwnPort) -> JSON? {
        // The URL has to be this server's own: a request signed for another one is not for here.
        guard let host = request.headers.only("host"),
            let url = HTTPURL(scheme: .http, authority: host, target: request.path),
            url.isLoopback, url.port == own.current, request.query == Query()
        else { return nil }
        let fields = request.headers.fields.map { HTTPField($0.name, $0.value) }
        do {
            try verifier.verify(
                SignedParts(.request(method: request.method.rawValue, url: url), fields: fields),
                body: request.body, now: now())
        } catch {
            return nil
        }
        return SignedJSON.decode(request.body)
    }

    /// Which check failed is nobody's business but the operator's.
    private static let notBelieved = problem(401, "not_believed")

    private static func problem(_ status: Int, _ error: String) -> Response {
        .json(["error": .string(error)], status: status)
    }
}

/// The port that this server listens on.
///
/// Sendable, unchecked: the value is touched only under the lock.
private final class OwnPort: @unchecked Sendable {
    private let lock = NSLock()
    private var port: UInt16?

    func set(_ port: UInt16) { lock.withLock { self.port = port } }

    var current: UInt16? { lock.withLock { port } }
}
