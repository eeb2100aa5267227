import Countersign

extension APIRoutes {
    /// Stores an act and asks its proposer to sign it.
    var proposeAct: Route {
        gate.route(
            .post, "/v1/acts", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) -> (ActKind, JSON)? in
                    let kind = try reader.choice("kind", ActKind.self)
                    guard let document = try reader.optionalDocument("document") else {
                        throw ObjectReader.malformed(
                            "An object is missing here.", at: JSONPointer.root.member("document"))
                    }
                    return (kind, document.normalizing("reason", .actReason))
                }
            },
            answer: { call async throws(StoreFailure) in
                answer(
                    try await people.acts.propose(
                        ProposeActCommand(
                            person: call.client, kind: call.input.0, document: call.input.1)))
            })
    }

    /// Asks the caller to sign an act.
    var challengeAct: Route {
        gate.route(
            .post, "/v1/acts/{id}/challenge", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in try request.nothingMore() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Act> = call.id() else { return Problem.notFound.response }
                return answer(try await people.acts.challenge(id, for: call.client))
            })
    }

    /// How a question about an act is shown.
    func answer(_ outcome: ActQuestionOutcome) -> Response {
        switch outcome {
        case .asked(let act, let challenge):
            .json(["act": act.json, "challenge": challenge], status: 201)
        case .refused(let refusal): Problem(refusal, now: now()).response
        }
    }

    /// Records the caller's signature; with the last one the act takes effect.
    var signAct: Route {
        gate.route(
            .post, "/v1/acts/{id}/signatures", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in
                try request.body {
                    reader throws(BodyRefusal) -> (ID<ActChallenge>, PasskeyAssertion)? in
                    let id: ID<ActChallenge> = try reader.id("challenge_id")
                    let made = try reader.passkey { json throws(InvalidValue) in
                        try PasskeyAssertion(json: json)
                    }
                    return (id, made)
                }
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Act> = call.id() else { return Problem.notFound.response }
                return answer(
                    try await people.acts.sign(
                        SignActCommand(
                            person: call.client, act: id, challenge: call.input.0,
                            assertion: call.input.1)))
            })
    }

    /// Ends an open act of the caller's role.
    var withdrawAct: Route {
        gate.route(
            .post, "/v1/acts/{id}/withdraw", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in try reader.reason() }
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Act> = call.id() else { return Problem.notFound.response }
                return answer(
                    try await people.acts.withdraw(id, by: call.client, reason: call.input))
            })
    }

    private func answer(_ outcome: ActOutcome) -> Response {
        switch outcome {
        case .recorded(let act): .json(["act": act.json])
        case .refused(let refusal): Problem(refusal, now: now()).response
        }
    }

    /// One act of the caller's role.
    var readAct: Route {
        gate.route(
            .get, "/v1/acts/{id}", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Act> = call.id(), let role = call.role.person,
                    let act = try await people.acts.act(id, of: role)
                else { return Problem.notFound.response }
                return .json(["act": act.json])
            })
    }

    /// The acts of the caller's role, newest first, page by page.
    var listActs: Route {
        gate.route(
            .get, "/v1/acts", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in try ActsPage(request) },
            answer: { call async throws(StoreFailure) in
                guard let role = call.role.person else { return Problem.forbidden.response }
                return call.input.answer(try await people.acts.acts(call.input.query(role)))
            })
    }
}

/// One page of a list of acts.
private struct ActsPage: Sendable {
    private let state: ActState?
    private let limit: Int
    private let before: ID<Act>?

    init(_ request: Request) throws(Problem) {
        let reader = try QueryReader(request, allowing: ["state", "limit", "cursor"])
        state = try reader.choice("state", ActState.self)
        limit = try reader.limit()
        before = try reader.cursor()
    }

    /// Asks for one more than the page holds: that one tells whether another page follows.
    func query(_ role: PersonRole) -> ActQuery {
        ActQuery(role: role, state: state, limit: limit + 1, before: before)
    }

    func answer(_ found: [RecordedAct]) -> Response {
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { Page.cursor(after: $0.id) } : nil
        return .json(["acts": .array(page.map(\.json)), "next_cursor": .optional(next)])
    }
}
