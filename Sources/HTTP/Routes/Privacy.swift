import Countersign

extension APIRoutes {
    /// Erases a customer.
    var eraseCustomer: Route {
        gate.route(
            .post, "/v1/customers/{customer_id}/erasure", for: .privacy,
            reading: { request throws(Problem) in try request.nothingMore() },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                switch try await privacy.erase(customer, by: call.client) {
                case .erased(let erased): return .json(["erasure": erased.json])
                case .refused(let refusal): return Problem(refusal).response
                }
            })
    }

    /// Sets a legal hold on a customer; one that stands already stays.
    var setLegalHold: Route {
        legalHold("/v1/customers/{customer_id}/legal-hold", state: "standing") {
            [privacy] command async throws(StoreFailure) in
            try await privacy.setLegalHold(command)
        }
    }

    /// Lifts the legal hold on a customer, if one stands.
    var liftLegalHold: Route {
        legalHold("/v1/customers/{customer_id}/legal-hold/lift", state: "lifted") {
            [privacy] command async throws(StoreFailure) in
            try await privacy.liftLegalHold(command)
        }
    }

    private func legalHold(
        _ pattern: String, state: String,
        _ change:
            @escaping @Sendable (LegalHoldCommand) async throws(StoreFailure)
            -> LegalHoldOutcome?
    ) -> Route {
        gate.route(
            .post, pattern, for: .privacy,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in try reader.reason() }
            },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID(),
                    let outcome = try await change(
                        LegalHoldCommand(
                            client: call.client, customer: customer, reason: call.input))
                else { return Problem.notFound.response }
                var evidence: ID<Evidence>?
                if case .changed(let id) = outcome { evidence = id }
                return .json([
                    "legal_hold": [
                        "customer_id": .string(customer.text), "state": .string(state),
                        "evidence_id": .optional(evidence?.text),
                    ]
                ])
            })
    }
}

extension ErasedCustomer {
    fileprivate var json: JSON {
        [
            "subject_id": .string(subject.text), "evidence_id": .string(evidence.text),
            "erased_at": .string(at.text), "records": .integer(records),
        ]
    }
}
