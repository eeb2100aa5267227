/// One method on one path pattern, and what answers it.
package struct Route: Sendable {
    /// Answers a request; a thrown problem is answered as it stands.
    package typealias Handler =
        @Sendable (Request, PathParameters) async throws(Problem) -> Response

    package let method: Method
    /// Such as `/v1/actions/{id}/approve`; also the route's name in metrics.
    package let pattern: String
    let handler: Handler

    package init(_ method: Method, _ pattern: String, _ handler: @escaping Handler) {
        self.method = method
        self.pattern = pattern
        self.handler = handler
    }
}

/// Finds the route of a request and answers everything for which there is none.
package struct Router: Sendable {
    private struct Resource: Sendable {
        let pattern: PathPattern
        var handlers: [Method: Route.Handler] = [:]

        /// A path that can be read can be asked for its head (RFC 9110 §9.3.2).
        func handler(for method: Method) -> Route.Handler? {
            handlers[method] ?? (method == .head ? handlers[.get] : nil)
        }

        var allow: String {
            Method.allCases.filter { $0 != .other && handler(for: $0) != nil }
                .map(\.rawValue).joined(separator: ", ")
        }
    }

    /// Grouped by number of segments; within a group the most literal pattern comes first.
    private let resources: [Int: [Resource]]
    private let observation: Observation

    package init(_ routes: [Route], metrics: Metrics) {
        var byPattern: [String: Resource] = [:]
        for route in routes {
            var resource =
                byPattern[route.pattern] ?? Resource(pattern: PathPattern(route.pattern))
            let earlier = resource.handlers.updateValue(route.handler, forKey: route.method)
            precondition(
                earlier == nil, "two routes for \(route.method.rawValue) \(route.pattern)")
            byPattern[route.pattern] = resource
        }
        resources = Dictionary(grouping: byPattern.values) { $0.pattern.segmentCount }
            .mapValues { group in
                group.sorted {
                    ($0.pattern.literalCount, $1.pattern.text)
                        > ($1.pattern.literalCount, $0.pattern.text)
                }
            }
        observation = Observation(patterns: byPattern.keys.sorted(), metrics: metrics)
    }

    /// The answer to one request; never fails.
    package func respond(to request: Request) async -> Response {
        let start = ContinuousClock.now
        let (pattern, response) = await dispatch(request)
        observation.record(pattern, response.status, since: start)
        return response
    }

    private func dispatch(_ request: Request) async -> (pattern: String, response: Response) {
        guard let (resource, parameters) = find(request.path) else {
            return (Observation.noRoute, Problem.notFound.response)
        }
        let pattern = resource.pattern.text
        guard let handler = resource.handler(for: request.method) else {
            return (pattern, Problem.methodNotAllowed(allow: resource.allow).response)
        }
        if !request.body.isEmpty, !MediaType.isJSON(request.headers) {
            return (pattern, Problem.unsupportedMediaType.response)
        }
        do {
            return (pattern, try await handler(request, parameters))
        } catch {
            return (pattern, error.response)
        }
    }

    private func find(_ path: String) -> (Resource, PathParameters)? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let parts = PathPattern.split(path)
        for resource in resources[parts.count] ?? [] {
            if let parameters = resource.pattern.match(parts) { return (resource, parameters) }
        }
        return nil
    }
}

/// Counts and times what a router answers, by route and class of status.
private struct Observation: Sendable {
    /// The route label of a path that no pattern matches.
    static let noRoute = "none"

    private let requests: Counters
    private let durations: Histograms

    init(patterns: [String], metrics: Metrics) {
        let route = Metrics.Label("route", patterns + [Observation.noRoute])
        let status = Metrics.Label("status", ["2xx", "3xx", "4xx", "5xx"])
        requests = metrics.counters(
            "countersign_http_requests_total",
            help: "Requests answered, by route and status class.", labels: [route, status])
        durations = metrics.histograms(
            "countersign_http_request_seconds",
            help: "Time from request to answer, by route and status class.",
            labels: [route, status])
    }

    func record(_ pattern: String, _ status: Int, since start: ContinuousClock.Instant) {
        let statusClass = "\(status / 100)xx"
        requests.increment(pattern, statusClass)
        durations.record(ContinuousClock.now - start, pattern, statusClass)
    }
}
