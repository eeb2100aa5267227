package import Countersign

/// The whole HTTP API, version 1, over the services that do the work.
package struct API: Sendable {
    /// What the API offers; the database's side implements it.
    package struct Services: Sendable {
        let actions: any ActionService
        let credentials: any CredentialService
        let evidence: any EvidenceService
        let deviceRequests: any DeviceRequestService
        let people: People
        let policyHistory: any PolicyHistory
        let clients: any ClientDirectory
        let customers: any CustomerService
        let events: any EventFeed
        let executions: any ExecutionService
        let log: any LogReader
        let privacy: any PrivacyService

        /// Each service is asked by the routes of its own files only.
        package init(
            actions: any ActionService, credentials: any CredentialService,
            evidence: any EvidenceService, deviceRequests: any DeviceRequestService,
            people: People, policyHistory: any PolicyHistory,
            clients: any ClientDirectory, customers: any CustomerService,
            events: any EventFeed, executions: any ExecutionService, log: any LogReader,
            privacy: any PrivacyService
        ) {
            self.actions = actions
            self.credentials = credentials
            self.evidence = evidence
            self.deviceRequests = deviceRequests
            self.people = people
            self.policyHistory = policyHistory
            self.clients = clients
            self.customers = customers
            self.events = events
            self.executions = executions
            self.log = log
            self.privacy = privacy
        }

        /// What is offered to people of the bank.
        package struct People: Sendable {
            let keys: any PersonKeyService
            let acts: any ActService
            let policies: any PolicyService
            let shadows: any ShadowService

            /// As ``Services``.
            package init(
                keys: any PersonKeyService, acts: any ActService, policies: any PolicyService,
                shadows: any ShadowService
            ) {
                self.keys = keys
                self.acts = acts
                self.policies = policies
                self.shadows = shadows
            }
        }
    }

    /// What the API takes from the machine that it runs on.
    package struct Surroundings: Sendable {
        let sha256: Hasher256
        let now: @Sendable () -> Instant
        let monotonic: @Sendable () -> ContinuousClock.Instant
        let readiness: @Sendable () async -> [ReadinessCheck]
        let failures: FailureReport
        let wellKnown: WellKnown
        let promise: PromiseMaker

        /// - Parameters:
        ///   - sha256: Makes digests of keys and of contact data.
        ///   - now: This machine's time; only `Retry-After` depends on it.
        ///   - monotonic: A clock that never goes back; only the cache of clients depends on it.
        ///   - readiness: Says which parts of the service are fit.
        ///   - failures: Tells the operator of defects.
        ///   - wellKnown: Which pages and apps may use the bank's passkeys.
        ///   - promise: Promises the record of each decision.
        package init(
            sha256: Hasher256, now: @escaping @Sendable () -> Instant,
            monotonic: @escaping @Sendable () -> ContinuousClock.Instant,
            readiness: @escaping @Sendable () async -> [ReadinessCheck], failures: FailureReport,
            wellKnown: WellKnown, promise: @escaping PromiseMaker
        ) {
            self.sha256 = sha256
            self.now = now
            self.monotonic = monotonic
            self.readiness = readiness
            self.failures = failures
            self.wellKnown = wellKnown
            self.promise = promise
        }
    }

    /// Who may read `/metrics`.
    package enum MetricsAccess: Sendable {
        /// Anybody who reaches the port: only for one that is bound to loopback.
        case anybody
        /// Clients with the role `operator`.
        case operators
    }

    /// Answers every request of the API.
    package let router: Router

    /// Makes all routes.
    ///
    /// - Parameters:
    ///   - services: Do the work.
    ///   - surroundings: Clocks, hashes and reports.
    ///   - metrics: Where routes are counted; one set of metrics takes one API.
    ///   - metricsAccess: Who may read them.
    package init(
        _ services: Services, in surroundings: Surroundings, metrics: Metrics,
        metricsAccess: MetricsAccess
    ) {
        let routes = APIRoutes(services, surroundings, metrics: metrics, access: metricsAccess).all
        let outcomes = OutcomeCount(routes: routes, metrics: metrics)
        router = Router(routes.map(outcomes.counting), metrics: metrics)
    }
}

/// The routes; each is made in the file of its use case, in `Routes`.
struct APIRoutes: Sendable {
    let actions: any ActionService
    let credentials: any CredentialService
    let evidence: any EvidenceService
    let deviceRequests: any DeviceRequestService
    let people: API.Services.People
    let simulate: SimulatePolicy
    let customers: any CustomerService
    let events: any EventFeed
    let executions: any ExecutionService
    let log: any LogReader
    let privacy: any PrivacyService
    let verdicts: DeviceRequestCount
    let gate: Gate
    let sha256: Hasher256
    let now: @Sendable () -> Instant
    let readiness: @Sendable () async -> [ReadinessCheck]
    let wellKnown: WellKnown
    let promise: PromiseMaker
    let metrics: Metrics
    let metricsAccess: API.MetricsAccess

    fileprivate init(
        _ services: API.Services, _ surroundings: API.Surroundings, metrics: Metrics,
        access: API.MetricsAccess
    ) {
        actions = services.actions
        credentials = services.credentials
        evidence = services.evidence
        deviceRequests = services.deviceRequests
        people = services.people
        simulate = SimulatePolicy(
            history: services.policyHistory, sha256: surroundings.sha256)
        customers = services.customers
        events = services.events
        executions = services.executions
        log = services.log
        privacy = services.privacy
        verdicts = DeviceRequestCount(metrics)
        gate = Gate(
            authentication: Authentication(
                directory: services.clients, sha256: surroundings.sha256,
                monotonic: surroundings.monotonic, failures: surroundings.failures),
            failures: surroundings.failures)
        sha256 = surroundings.sha256
        now = surroundings.now
        readiness = surroundings.readiness
        wellKnown = surroundings.wellKnown
        promise = surroundings.promise
        self.metrics = metrics
        metricsAccess = access
    }

    fileprivate var all: [Route] {
        [
            createAction, readAction, listActions, issueChallenge, approveAction, rejectAction,
            cancelAction, listPayees,
            beginEnrolment, beginAuthorization, finishEnrolment, listCredentials, revokeCredential,
            simulatePolicy,
            verifyDeviceRequest, readRequestSigning, setRequestSigning,
            listEvidence, readEvidence, readBundle, exportEvidence,
            eraseCustomer, setLegalHold, liftLegalHold,
            beginPersonKey, registerPersonKey, listPersonKeys, revokePersonKey,
            proposeAct, proposeApproval, listActs, readAct, challengeAct, signAct, withdrawAct,
            listPolicies, readActivePolicy, readPolicy,
            startShadow, listShadows, readShadow, endShadow,
            removePayee, recoverCustomer, listEvents,
            leaseExecutions, takeReceipt, takeKeyReceipt,
            health, ready, showMetrics, readCheckpoint,
        ] + readTiles + wellKnownFiles
    }
}

/// Counts what came of requests, by route and problem, beside what the router counts by status.
private struct OutcomeCount: Sendable {
    private let answers: Counters

    init(routes: [Route], metrics: Metrics) {
        answers = metrics.counters(
            "countersign_api_answers_total",
            help: "Answers of the API, by route and outcome: ok or the problem.",
            labels: [
                Metrics.Label("route", Set(routes.map(\.pattern)).sorted()),
                Metrics.Label("outcome", ["ok"] + Problem.slugs),
            ])
    }

    func counting(_ route: Route) -> Route {
        Route(route.method, route.pattern) { request, path async throws(Problem) in
            do throws(Problem) {
                let response = try await route.handler(request, path)
                answers.increment(route.pattern, response.problem?.slug ?? "ok")
                return response
            } catch {
                answers.increment(route.pattern, error.slug)
                throw error
            }
        }
    }
}
