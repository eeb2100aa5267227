import Countersign

extension APIRoutes {
    /// Takes an action back, before it is signed or while nothing was sent to core banking.
    var cancelAction: Route {
        gate.route(
            .post, "/v1/actions/{id}/cancel", for: .backend,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in try reader.reason() }
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Action> = call.id() else { return Problem.notFound.response }
                switch try await actions.cancel(id, reason: call.input.text) {
                case .cancelled(let action): return .json(["action": action.json])
                case .refused(let refusal): return Problem(refusal, now: now()).response
                }
            })
    }
}
