import Countersign

extension APIRoutes {
    /// Issues another challenge; the earlier one is dead.
    var issueChallenge: Route {
        gate.route(
            .post, "/v1/actions/{id}/challenges", for: .backend,
            reading: { request throws(Problem) in
                _ = try request.idempotencyKey()
                try request.nothingMore()
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Action> = call.id() else { return Problem.notFound.response }
                switch try await actions.issueChallenge(for: id) {
                case .issued(let challenge):
                    return .json(["challenge": challenge], status: 201)
                case .refused(let refusal): return Problem(refusal, now: now()).response
                case .tooManyOpen(let retryAfter):
                    return Problem(.tooManyOpenChallenges(retryAfter: retryAfter)).response
                }
            })
    }
}
