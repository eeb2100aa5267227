import Countersign
import Crypto
import Delivery
import HTTP

extension Configuration {
    /// Of one exchange, from its beginning to the last byte of its answer.
    private static let totalTimeout = Duration.seconds(10)
    /// Of one connection.
    private static let connectTimeout = Duration.seconds(2)
    /// How long what is sent is nobody else's: more than twice `totalTimeout`, so that no late copy
    /// comes after the next attempt.
    private static let lease = Seconds(30)
    /// The pause when no order is due; an order waits for it.
    private static let orderPollInterval = Duration.milliseconds(100)
    /// The pause when no batch of events is due; that a customer is told may wait a little longer.
    private static let eventPollInterval = Duration.milliseconds(250)

    /// The worker that sends orders; `nil` when none are sent.
    ///
    /// - Throws: ``ConfigurationError``, or that libcurl cannot be started.
    func makeDeliveryWorker(
        queue: any DeliveryQueue, promise: @escaping PromiseMaker, metrics: Metrics
    ) throws -> DeliveryWorker? {
        guard deliveryMode == .push, let text = core.url else { return nil }
        let signer = try makeSigner("core.url")
        let client = try makeClient(slots: delivery.slots)
        guard let url = HTTPURL(text),
            let link = CoreBankingLink(
                url: url, signer: signer, retry: .standard, entropy: .openSSL,
                promise: promise,
                transport: { request throws(TransportFailure) in try await client.send(request) })
        else { throw ConfigurationError("core.url cannot be used") }
        let outcomes = DeliveryOutcomes(metrics)
        return DeliveryWorker(
            queue: failpoint.map {
                FailpointDeliveryQueue(base: queue, failpoints: Failpoints($0))
            } ?? queue,
            options: .init(
                slots: delivery.slots, lease: Self.lease, pollInterval: Self.orderPollInterval),
            deliver: { await link.deliver($0) }, sleep: { await pause($0) },
            report: { outcomes.note($0) })
    }

    /// The worker that sends the feed of events; `nil` when it is not sent.
    ///
    /// - Throws: ``ConfigurationError``, or that libcurl cannot be started.
    func makeEventPushWorker(
        queue: any EventPushQueue, metrics: Metrics
    ) throws -> EventPushWorker? {
        guard let text = events.url else { return nil }
        guard let url = HTTPURL(text) else {
            throw ConfigurationError("events.url cannot be used")
        }
        let client = try makeClient(slots: 1)
        let link = EventPushLink(
            url: url, signer: try makeSigner("events.url"), retry: .standard, entropy: .openSSL,
            transport: { request throws(TransportFailure) in try await client.send(request) })
        let outcomes = EventPushOutcomes(metrics)
        return EventPushWorker(
            queue: queue,
            options: .init(lease: Self.lease, pollInterval: Self.eventPollInterval),
            deliver: { await link.deliver($0) }, sleep: { await pause($0) },
            report: { outcomes.note($0) })
    }

    /// What signs all that is sent.
    ///
    /// - Parameter setting: What needs it, for the error.
    /// - Returns: The signer.
    /// - Throws: ``ConfigurationError`` when there is no key or none that can be used.
    private func makeSigner(_ setting: String) throws -> MessageSigner {
        guard let keyFile = core.signingKey, let keyID = core.signingKeyID else {
            throw ConfigurationError(
                "\(setting) needs core.signing_key and core.signing_key_id")
        }
        let key = try SecretFile(path: keyFile.text, setting: "core.signing_key").ed25519()
        guard let signer = MessageSigner(key: key, keyID: keyID, entropy: .openSSL) else {
            throw ConfigurationError("core.signing_key_id cannot be used")
        }
        return signer
    }

    /// Speaks to core banking and to the receiver of events: both are the bank's own.
    private func makeClient(slots: Int) throws -> HTTPClient {
        var certificate: HTTPClient.ClientCertificate?
        if let chain = core.certificate, let key = core.key {
            certificate = .init(certificateFile: chain.text, keyFile: key.text)
        }
        return try HTTPClient(
            HTTPClient.Options(
                connectTimeout: Self.connectTimeout, totalTimeout: Self.totalTimeout,
                authoritiesFile: core.ca?.text, clientCertificate: certificate,
                plainHTTP: .toLoopbackOnly, slots: slots))
    }
}

/// Counts what the delivery worker tells, and logs what a person should look at.
private struct DeliveryOutcomes: Sendable {
    private let settled: Counters
    private let causes: UnsettledCauses

    init(_ metrics: Metrics) {
        settled = metrics.counters(
            "countersign_deliveries_total", help: "Deliveries to core banking, by outcome.",
            labels: [Metrics.Label("outcome", DeliveryWorker.Event.outcomes)])
        causes = UnsettledCauses(
            metrics, "countersign_deliveries_unsettled_total",
            help: "Deliveries that settled nothing, by cause.")
    }

    func note(_ event: DeliveryWorker.Event) {
        settled.increment(event.outcome)
        switch event {
        case .settled(.retry(_, let cause)): causes.note(.deliveryRetried, cause)
        case .settled(.unknown(_, let cause)): causes.note(.deliveryUnknown, cause)
        case .settled(.executed), .settled(.refused), .settled(.delivered), .leaseLost,
            .queueFailed:
            break
        }
    }
}

/// Counts why something was not settled, and logs it.
private struct UnsettledCauses: Sendable {
    private let counters: Counters

    init(_ metrics: Metrics, _ name: String, help: String) {
        counters = metrics.counters(
            name, help: help,
            labels: [Metrics.Label("cause", UnsettledCause.allCases.map(\.rawValue))])
    }

    func note(_ event: LogEvent, _ cause: UnsettledCause) {
        counters.increment(cause.rawValue)
        Log.event(event, .code("cause", checking: cause.rawValue))
    }
}

/// Counts what the worker of events tells, keeps how far it is, and logs what a person should look
/// at.
private struct EventPushOutcomes: Sendable {
    private let settled: Counters
    private let causes: UnsettledCauses
    /// How far the feed was sent at the last look.
    private let standing = Locked((waiting: 0, lag: 0))

    init(_ metrics: Metrics) {
        settled = metrics.counters(
            "countersign_event_pushes_total", help: "Batches of events sent, by outcome.",
            labels: [Metrics.Label("outcome", EventPushWorker.Event.outcomes)])
        causes = UnsettledCauses(
            metrics, "countersign_event_pushes_unsettled_total",
            help: "Batches of events that did not arrive, by cause.")
        let standing = standing
        metrics.gauge(
            "countersign_events_waiting", help: "Events that have not arrived at the receiver."
        ) { standing.withLock { $0.waiting } }
        metrics.gauge(
            "countersign_event_push_lag_seconds", help: "Age of the first of those events."
        ) { standing.withLock { $0.lag } }
    }

    func note(_ event: EventPushWorker.Event) {
        if let outcome = event.outcome { settled.increment(outcome) }
        switch event {
        case .standing(let waiting, let lag):
            standing.withLock { $0 = (waiting, Int(lag.count)) }
        case .settled(.retry(_, let cause)):
            causes.note(.eventsRetried, cause)
        case .queueFailed(let failure): Log.event(.eventsFailed, .failure("code", failure))
        case .settled(.arrived), .leaseLost: break
        }
    }
}
