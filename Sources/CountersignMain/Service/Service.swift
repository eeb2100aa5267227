import Countersign
import Crypto
import Delivery
import Evidence
import Foundation
import HTTP
import Postgres
import WebAuthn

/// The service, put together from its configuration. The only place where parts meet.
struct Service: Sendable {
    let database: Database
    let server: HTTPServer
    private let metrics: Metrics
    private let housekeeping: Housekeeping
    private let worker: DeliveryWorker?
    private let eventPush: EventPushWorker?
    private let shadows: EvaluateShadows
    private let log: LogService?
    private let decisionRetentionDays: Int
    private let drain: Duration
    private let durability: DurabilityDemand
    private let keyEncryption: KeyEncryptionKey
    private let announcePromiseKey: @Sendable () async throws(StoreFailure) -> Void
    private let trust: AttestationTrust

    /// Wires everything and binds the port; nothing runs yet.
    ///
    /// - Throws: ``ConfigurationError``, or what keeps the port from being bound.
    init(_ configuration: Configuration) throws {
        let (sealer, keyEncryption) = try configuration.evidenceKeys()
        self.keyEncryption = keyEncryption
        let metrics = Metrics()
        database = try configuration.makeDatabase(metrics: metrics)
        self.metrics = metrics
        housekeeping = Housekeeping(database: database, sealer: sealer)
        trust = try configuration.attestationTrust()
        trust.measure(with: metrics)
        let promises = try configuration.promiseSigner()
        let promise = promises.maker
        let services = try configuration.makeServices(
            database: database, sealer: sealer, keyEncryption: keyEncryption, trust: trust,
            promise: promise)
        let readiness = Readiness(database: database, housekeeping: housekeeping)
        let api = API(
            services,
            in: API.Surroundings(
                sha256: .openSSL, now: { systemTime() }, monotonic: { .now },
                readiness: { await readiness.checks() },
                failures: FailureReport { code, request in
                    Log.event(
                        .requestFailed, .code("code", checking: code),
                        .code("request", checking: request))
                },
                wellKnown: configuration.wellKnown, promise: promise),
            metrics: metrics, metricsAccess: configuration.listensOnLoopback ? .anybody : .operators
        )
        server = try HTTPServer(options: configuration.serverOptions()) { request in
            await api.router.respond(to: request)
        }
        worker = try configuration.makeDeliveryWorker(
            queue: PostgresDeliveryQueue(database: database, sealer: sealer), promise: promise,
            metrics: metrics)
        eventPush = try configuration.makeEventPushWorker(
            queue: PostgresEventPush(database: database), metrics: metrics)
        let verdicts = metrics.counters(
            "countersign_shadow_verdicts_total",
            help: "Verdicts of shadows, by what the decision came to and would have come to.",
            labels: [
                Metrics.Label("before", ["allowed", "held", "refused"]),
                Metrics.Label("after", ["allowed", "held", "refused", "undecidable"]),
            ])
        shadows = EvaluateShadows(queue: PostgresShadowQueue(database: database)) { verdict in
            verdicts.increment(verdict.before.word, verdict.word)
        }
        let service = ServiceSubject(
            database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: .openSSL)
        let promiseKeys = promises.map { [$0.verifierKey.text] } ?? []
        let keys = AnnouncedKeys(database: database, service: service)
        announcePromiseKey = { () async throws(StoreFailure) in
            try await keys.announce(promiseKeys, for: .promises)
        }
        log = try configuration.makeLog(
            database: database, keys: keys, announce: announcePromiseKey, metrics: metrics)
        decisionRetentionDays = configuration.policy.decisionRetentionDays
        drain = .seconds(configuration.limits.drainSeconds)
        durability = configuration.development ? .development : .production
    }

    /// Refuses a database under whose settings an answered decision could be lost.
    ///
    /// One that does not answer yet is no reason to end: the service waits for it, not ready.
    ///
    /// - Throws: ``CommandFailure`` that names the database's setting.
    func checkDurability() async throws(CommandFailure) {
        do throws(DurabilityFailure) {
            let found = try await database.verifyDurability(durability)
            if durability == .production, !found.hasStandbys { Log.event(.databaseAlone) }
        } catch {
            switch error {
            case .weak(let setting, _):
                throw CommandFailure("the database's setting \(setting) could lose decisions")
            case .notRead: Log.event(.databaseUnavailable)
            }
        }
    }

    /// Refuses a key-encryption key that is not the one of the database, as a vault hands one out that was changed.
    ///
    /// One that cannot be asked is no reason to end: no customer is made known under another key either.
    ///
    /// - Throws: ``CommandFailure``.
    func checkKeyEncryption() async throws(CommandFailure) {
        do throws(StoreFailure) {
            if try await database.isWrapped(by: keyEncryption) { return }
        } catch {
            Log.event(.databaseUnavailable)
            return
        }
        throw CommandFailure(
            "the key-encryption key is not the one that the evidence of this database is encrypted under"
        )
    }

    /// Tells of the key of promises before anything is promised with it; when the database cannot be asked, whoever
    /// leads the log tells it.
    func announcePromises() async {
        do throws(StoreFailure) { try await announcePromiseKey() } catch {
            Log.event(.databaseUnavailable)
        }
    }

    /// Serves until `shutdown` returns, then lets requests and deliveries under way end.
    func run(until shutdown: @escaping @Sendable () async -> Void) async {
        let server = server
        metrics.gauge("countersign_requests_in_flight", help: "Requests being answered.") {
            server.inFlight
        }
        metrics.gauge("countersign_connections", help: "Open connections of callers.") {
            server.connections
        }
        metrics.counter(
            "countersign_http_refusals_total",
            help: "Requests refused before any route, for their framing or size."
        ) { server.refusals }
        // Without a stream SIGHUP would end the process.
        let hangups = await signalStream([SIGHUP])
        server.start()
        Log.event(.serviceStarted, .count("port", Int(server.port)))
        await withTaskGroup { group in
            if let worker { group.addTask { await worker.run() } }
            if let eventPush { group.addTask { await eventPush.run() } }
            let keeper = Keeper(
                housekeeping: housekeeping, decisionRetentionDays: decisionRetentionDays)
            group.addTask { await keeper.run() }
            let shadowKeeper = ShadowKeeper(shadows: shadows)
            group.addTask { await shadowKeeper.run() }
            if let log { group.addTask { await log.run() } }
            let watch = TrustWatch(trust: trust)
            group.addTask { await watch.run() }
            group.addTask { await reloadCertificates(of: server, at: hangups) }
            await shutdown()
            Log.event(.serviceDraining, .count("in_flight", server.inFlight))
            await server.stop(drain: drain)
            // Workers end once what they have begun is settled.
            group.cancelAll()
        }
        await database.close()
        Log.event(.serviceStopped)
    }
}

/// Reads certificates again at each SIGHUP, until the task is cancelled.
private func reloadCertificates(of server: HTTPServer, at hangups: AsyncStream<Int32>) async {
    for await _ in hangups {
        do throws(ServerFailure) {
            try server.reloadTLS()
            Log.event(.certificatesReloaded)
        } catch {
            Log.event(.certificatesRefused)
        }
    }
}

/// Evaluates shadows, again and again, until its task is cancelled.
private struct ShadowKeeper: Sendable {
    let shadows: EvaluateShadows

    /// The pause when nothing is left to evaluate: a verdict comes about as long after its
    /// decision.
    private static let interval = Duration.milliseconds(500)
    /// Between two looks at everything since the shadow's `done_until`.
    private static let wholeInterval = Duration.seconds(60)

    func run() async {
        var nextWhole = ContinuousClock.now
        while !Task.isCancelled {
            let isWhole = ContinuousClock.now >= nextWhole
            if isWhole { nextWhole = .now + Self.wholeInterval }
            do throws(StoreFailure) {
                if try await shadows(isWhole ? .whole : .recent) { continue }
            } catch {
                Log.event(.shadowsFailed)
            }
            await pause(Self.interval)
        }
    }
}

/// Does what is due with time, again and again, until its task is cancelled.
private struct Keeper: Sendable {
    let housekeeping: Housekeeping
    let decisionRetentionDays: Int

    private static let interval = Duration.milliseconds(500)
    /// Rounds between two tidyings: about an hour.
    private static let tidyEvery = 7200
    /// Rounds between two looks for nonces and decisions to forget: about ten seconds.
    private static let forgetEvery = 20

    func run() async {
        var round = 0
        var tidied: Int?
        while !Task.isCancelled {
            // Customers wait for the first; nobody waits for what is forgotten.
            await attempt { () async throws(StoreFailure) in
                _ = try await housekeeping.settleDueActions()
            }
            if tidied.map({ round - $0 >= Self.tidyEvery }) ?? true,
                await attempt(housekeeping.tidy)
            {
                tidied = round
            }
            if round % Self.forgetEvery == 0 {
                await attempt(forgetDeviceRequests)
                await attempt(forgetDecisions)
            }
            round += 1
            await pause(Self.interval)
        }
    }

    /// Does one step, and tells whether it was done; one that fails keeps no other from its turn.
    @discardableResult
    private func attempt(_ step: () async throws(StoreFailure) -> Void) async -> Bool {
        do throws(StoreFailure) {
            try await step()
            return true
        } catch {
            Log.event(.sweepFailed)
            return false
        }
    }
}

extension Keeper {
    /// Forgets until nothing old is left, or the service is to end.
    private func forgetDeviceRequests() async throws(StoreFailure) {
        while try await housekeeping.forgetDeviceRequests() >= Housekeeping.forgettingMax,
            !Task.isCancelled
        {}
    }

    /// One batch a round: nobody waits for it, and a large first one should disturb nobody.
    private func forgetDecisions() async throws(StoreFailure) {
        try await housekeeping.forgetDecisions(keptFor: decisionRetentionDays)
    }
}

/// Waits, and returns early when the task is cancelled.
func pause(_ duration: Duration) async {
    // The only error is the cancellation, which ends the wait as it should.
    do { try await Task.sleep(for: duration) } catch {}
}
