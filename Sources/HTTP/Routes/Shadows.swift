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

    /// All shadows, newest first.
    var listShadows: Route {
        gate.route(
            .get, "/v1/policies/shadows", forAnyOf: Self.readers,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { _ async throws(StoreFailure) in
                let (shadows, at) = try await people.shadows.shadows()
                return .json(["shadows": .array(shadows.map { $0.json(at: at) })])
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

/// A draft, and until when it is to be evaluated.
private struct ShadowBody: Sendable {
    let label: DisplayText
    let document: JSON
    let until: Instant

    init(_ request: Request) throws(Problem) {
        (label, document, until) = try request.body {
            reader throws(BodyRefusal) -> (DisplayText, JSON, Instant)? in
            let document = try reader.policyDocument("policy")
            let until = try reader.instant("until")
            let label = try reader.shadowLabel("label")
            guard let document, let until, let label else { return nil }
            return (label, document, until)
        }
        do throws(PolicyFault) { _ = try PolicyRules(document: document) } catch {
            throw Problem(error, in: "/policy")
        }
    }
}

extension ObjectReader {
    /// A policy document that must be there; `PolicyRules` reads it.
    mutating func policyDocument(_ name: String) throws(BodyRefusal) -> JSON? {
        guard let document = try optionalDocument(name) else {
            refuse(name, InvalidValue("required", "A policy document is needed."))
            return nil
        }
        return document
    }

    /// A time that must be there.
    mutating func instant(_ name: String) throws(BodyRefusal) -> Instant? {
        try value(name) { text throws(InvalidValue) in
            guard let instant = Instant(text: text) else {
                throw InvalidValue(
                    "instant_format", "A time is written like 2026-11-30T12:00:00.000Z.")
            }
            return instant
        }
    }

    /// What a person calls a shadow: a text that is not empty.
    fileprivate mutating func shadowLabel(_ name: String) throws(BodyRefusal) -> DisplayText? {
        let text = try string(name)
        return check(name) { () throws(InvalidValue) in
            guard !text.isEmpty else {
                throw InvalidValue("text_empty", "A text is needed here.")
            }
            return try DisplayText(normalizing: text, .credentialLabel)
        }
    }
}

extension Problem {
    /// As many shadows as there may be at once.
    fileprivate static let tooManyShadows = Problem(
        "too-many-shadows", status: 409, title: "Too many shadows",
        detail: "At most \(PolicyShadow.activeMax) are active at once; end one.")
}
