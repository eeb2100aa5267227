import Countersign

extension APIRoutes {
    private static let readers: [AuthenticatedClient.Role] = [.risk, .auditor]

    /// Begins to evaluate a draft beside the policy in force.
    var startShadow: Route {
        gate.route(
            .post, "/v1/policies/shadows", for: .risk,
            reading: { request throws(Problem) in try ShadowBody(request) },
            answer: { call async throws(StoreFailure) in
                let command = StartShadowCommand(
                    person: call.client, label: call.input.label, document: call.input.document,
                    until: call.input.until)
                switch try await people.shadows.start(command) {
                case .started(let shadow, let at):
                    return .json(["shadow": shadow.json(at: at)], status: 201)
                case .untilOutOfRange:
                    return Problem.invalidAction([
                        .init(
                            pointer: "/until", code: "until_out_of_range",
                            detail: "The end is a time to come, and at most 30 days away.")
                    ]).response
                case .tooManyActive: return Problem.tooManyShadows.response
                case .notFound: return Problem.notFound.response
                }
            })
    }

    /// Shadows, newest first, page by page.
    var listShadows: Route {
        gate.route(
            .get, "/v1/policies/shadows", forAnyOf: Self.readers,
            reading: { request throws(Problem) in try ShadowsPage(request) },
            answer: { call async throws(StoreFailure) in
                let (found, at) = try await people.shadows.shadows(call.input.query)
                return call.input.answer(found, at: at)
            })
    }

    /// What one has found so far.
    var readShadow: Route {
        gate.route(
            .get, "/v1/policies/shadows/{id}", forAnyOf: Self.readers,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Shadow> = call.id(),
                    let (report, at) = try await people.shadows.report(of: id)
                else { return Problem.notFound.response }
                return .json(["shadow": report.shadow.json(at: at), "report": report.json])
            })
    }

    /// Ends one.
    var endShadow: Route {
        gate.route(
            .delete, "/v1/policies/shadows/{id}", for: .risk,
            reading: { request throws(Problem) in try request.nothingMore() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Shadow> = call.id(),
                    let (shadow, at) = try await people.shadows.end(id, by: call.client)
                else { return Problem.notFound.response }
                return .json(["shadow": shadow.json(at: at)])
            })
    }
}

/// One page of a list of shadows.
private struct ShadowsPage: Sendable {
    private let limit: Int
    private let before: ID<Shadow>?

    init(_ request: Request) throws(Problem) {
        let reader = try QueryReader(request, allowing: ["limit", "cursor"])
        limit = try reader.limit()
        before = try reader.cursor()
    }

    /// Asks for one more than the page holds: that one tells whether another page follows.
    var query: ShadowQuery { ShadowQuery(limit: limit + 1, before: before) }

    func answer(_ found: [PolicyShadow], at: Instant) -> Response {
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { Page.cursor(after: $0.id) } : nil
        return .json([
            "shadows": .array(page.map { $0.json(at: at) }), "next_cursor": .optional(next),
        ])
    }
}

/// A draft, and until when it is to be evaluated.
private struct ShadowBody: Sendable {
    let label: DisplayText
    let document: JSON
    let until: Instant

    init(_ request: Request) throws(Problem) {
        (label, document, until) = try request.body {
            reader throws(BodyRefusal) -> (DisplayText, JSON, Instant)? in
            let document = try reader.policyDocument("document")
            let until = try reader.instant("until")
            let label = try reader.displayText("label", .shadowLabel)
            guard let document, let until, let label else { return nil }
            return (label, document, until)
        }
        do throws(PolicyFault) { _ = try PolicyRules(document: document) } catch {
            throw Problem(error, in: "/document")
        }
    }
}

extension Problem {
    /// As many shadows as there may be at once.
    fileprivate static let tooManyShadows = Problem(
        "too-many-shadows", status: 409, title: "Too many shadows",
        detail: "At most \(PolicyShadow.activeMax) are active at once; end one.")
}
