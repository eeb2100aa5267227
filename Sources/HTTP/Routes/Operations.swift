import Countersign

/// One part of the service that must be fit before requests are sent here.
package struct ReadinessCheck: Sendable {
    /// A word, such as `database`, `migrations`, `pool` or `partitions`.
    package let name: String
    /// Whether it was fit when it was last looked at.
    package let isPassed: Bool

    package init(name: String, isPassed: Bool) {
        self.name = name
        self.isPassed = isPassed
    }

    /// `{"database": "ok", "migrations": "failed"}`.
    static func json(_ checks: [ReadinessCheck]) -> JSON {
        .object(checks.map { .init($0.name, $0.isPassed ? "ok" : "failed") })
    }
}

extension APIRoutes {
    /// Whether the process answers at all; it says nothing of the database.
    var health: Route {
        Route(.get, "/healthz") { _, _ in .json(["status": "ok"]) }
    }

    /// Whether requests should be sent here.
    var ready: Route {
        Route(.get, "/readyz") { _, _ async throws(Problem) in
            let checks = await readiness()
            guard checks.allSatisfy(\.isPassed) else { throw .notReady(checks) }
            return .json(["status": "ready", "checks": ReadinessCheck.json(checks)])
        }
    }

    /// The metrics, as Prometheus reads them.
    var showMetrics: Route {
        let path = "/metrics"
        switch metricsAccess {
        case .anybody:
            return Route(.get, path) { _, _ in metricsText }
        case .operators:
            return gate.route(
                .get, path, for: .operator, reading: { _ throws(Problem) in () },
                answer: { _ async throws(StoreFailure) in metricsText })
        }
    }

    private var metricsText: Response {
        Response(
            status: 200, headers: ["Content-Type": Metrics.contentType], body: metrics.render())
    }
}
