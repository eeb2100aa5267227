import Countersign

extension APIRoutes {
    /// Approves an action with the customer's assertion.
    var approveAction: Route {
        gate.route(
            .post, "/v1/actions/{id}/approve", for: .backend,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in
                    try reader.assertionOrPayment().map(DecideCommand.Proof.signed)
                }
            },
            answer: { call async throws(StoreFailure) in try await decide(.approve, call) })
    }

    /// Rejects an action: with an assertion, or with nothing but a reason, which evidence then says.
    var rejectAction: Route {
        gate.route(
            .post, "/v1/actions/{id}/reject", for: .backend,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in
                    guard reader.has("reason") else {
                        return try reader.assertion().map(DecideCommand.Proof.signed)
                    }
                    return .unsigned(try reader.choice("reason", RejectionReason.self))
                }
            },
            answer: { call async throws(StoreFailure) in try await decide(.reject, call) })
    }

    private func decide(
        _ decision: SignedDecision, _ call: Call<DecideCommand.Proof>
    ) async throws(StoreFailure) -> Response {
        guard let id: ID<Action> = call.id() else { return Problem.notFound.response }
        let command = DecideCommand(action: id, decision: decision, proof: call.input)
        switch try await actions.decide(command) {
        case .decided(let decided, let replayed):
            return .json(
                decided.json(promise: promise),
                headers: replayed ? ["Idempotency-Replayed": "true"] : [:])
        case .refused(let refusal): return Problem(refusal, now: now()).response
        }
    }
}
