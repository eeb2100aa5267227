import Countersign

extension APIRoutes {
    /// Removes a payee; confirmed again it is a new one.
    var removePayee: Route {
        gate.route(
            .delete, "/v1/customers/{customer_id}/payees/{payee_id}", for: .backend,
            reading: { request throws(Problem) in try request.nothingMore() },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID(),
                    let payee: ID<Payee> = call.id("payee_id"),
                    try await customers.removePayee(
                        RemovePayeeCommand(
                            client: call.client, customerID: customer, payee: payee))
                else { return Problem.notFound.response }
                return .json(["payee": ["id": .string(payee.text), "state": "removed"]])
            })
    }

    /// Ends all that a customer's keys were good for.
    var recoverCustomer: Route {
        gate.route(
            .post, "/v1/customers/{customer_id}/recovery", for: .backend,
            reading: { request throws(Problem) in try RecoveryBody(request) },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                let command = RecoverCustomerCommand(
                    client: call.client, customerID: customer, token: call.input.token)
                switch try await customers.recover(command) {
                case .recovered(let recovered): return .json(["recovery": recovered.json])
                case .refused(let refusal): return Problem(refusal).response
                }
            })
    }
}

private struct RecoveryBody: Sendable {
    /// `nil` when none was sent, for the use case to judge.
    let token: String?

    init(_ request: Request) throws(Problem) {
        _ = try request.idempotencyKey()
        token = try request.body { reader throws(BodyRefusal) in
            .some(try reader.optionalString("sca_token"))
        }
    }
}

extension RecoveredCustomer {
    fileprivate var json: JSON {
        [
            "customer_id": .string(customerID.text),
            "recovered_at": .string(at.text),
            "held_approvals": .string(heldApprovals.rawValue),
            "revoked_credentials": .array(revoked.map { .string($0.text) }),
            "cancelled_actions": .array(cancelled.map { .string($0.text) }),
            "kept_actions": .array(kept.map { .string($0.text) }),
        ]
    }
}
