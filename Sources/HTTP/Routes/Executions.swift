import Countersign

extension APIRoutes {
    /// Leases orders that are due, for core banking that fetches them.
    var leaseExecutions: Route {
        gate.route(
            .post, "/v1/executions/lease", for: .core,
            reading: { request throws(Problem) in try LeaseBody(request) },
            answer: { call async throws(StoreFailure) in
                let work = try await executions.lease(
                    limit: call.input.limit, for: call.input.lease)
                guard let work else { return Problem.notPulled.response }
                return .json(work.json)
            })
    }

    /// Takes what core banking did with an order.
    var takeReceipt: Route {
        gate.route(
            .post, "/v1/executions/{action_id}/receipt", for: .core,
            reading: { request throws(Problem) in try ReceiptBody(request) },
            answer: { call async throws(StoreFailure) in
                guard let action: ID<Action> = call.id("action_id") else {
                    return Problem.notFound.response
                }
                let input = call.input
                let outcome = try await executions.take(
                    SubmittedReceipt(
                        action: action, lease: input.lease, receipt: input.receipt, raw: input.raw))
                switch outcome {
                case .recorded(let recorded): return .json(["receipt": recorded.json])
                case .contradicts(let recorded):
                    return Problem.receiptContradicts(recorded).response
                case .leaseLost: return Problem.leaseLost.response
                case .notFound: return Problem.notFound.response
                }
            })
    }

    /// Takes note that core banking knows a new key.
    var takeKeyReceipt: Route {
        gate.route(
            .post, "/v1/executions/credentials/{credential_id}/receipt", for: .core,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) -> ID<Lease>? in
                    try reader.id("lease_token")
                }
            },
            answer: { call async throws(StoreFailure) in
                guard let credential: ID<Credential> = call.id("credential_id") else {
                    return Problem.notFound.response
                }
                guard try await executions.note(credential: credential, lease: call.input) else {
                    return Problem.leaseLost.response
                }
                return .json([
                    "receipt": [
                        "credential_id": .string(credential.text), "status": "noted",
                    ]
                ])
            })
    }
}

private struct LeaseBody: Sendable {
    /// At least the time of one exchange, at most what an order may rest when core banking has died.
    private static let seconds = 5...600

    let limit: Int
    let lease: Seconds

    init(_ request: Request) throws(Problem) {
        let (limit, seconds) = try request.body { reader throws(BodyRefusal) in
            (
                try reader.optionalInteger("limit", in: 1...100),
                try reader.optionalInteger("lease_seconds", in: Self.seconds)
            )
        }
        self.limit = limit ?? 20
        lease = Seconds(Int64(seconds ?? 30))
    }
}

private struct ReceiptBody: Sendable {
    let lease: ID<Lease>
    let receipt: CoreReceipt
    let raw: Bytes

    init(_ request: Request) throws(Problem) {
        raw = request.body
        (lease, receipt) = try request.body { reader throws(BodyRefusal) in
            let lease: ID<Lease> = try reader.id("lease_token")
            let status = try reader.choice("status", CoreReceipt.Status.self)
            let name = status == .executed ? "reference" : "reason"
            guard
                let text = try reader.value(
                    name, { text throws(InvalidValue) in try ReceiptText(text) })
            else { return nil }
            return (
                lease, status == .executed ? .executed(reference: text) : .refused(reason: text)
            )
        }
    }
}

extension LeasedWork {
    fileprivate var json: JSON {
        [
            "credentials": .array(
                credentials.map { .object(members(of: $0) + [.init("credential", $0.document)]) }),
            "orders": .array(
                orders.map { order in
                    .object(
                        members(of: order) + [
                            .init("action_id", order.document["action_id"] ?? .null),
                            // What is only asked about must not be carried out now.
                            .init("phase", order.isQuestion ? "reconcile" : "execute"),
                            .init("order", order.isQuestion ? .null : order.document),
                        ])
                }),
        ]
    }

    private func members(of leased: LeasedDocument) -> [JSON.Member] {
        [
            .init("lease_token", .string(leased.lease.text)),
            .init("expires_at", .optional(expiresAt?.text)),
            .init("attempt", .integer(Int64(leased.attempt))),
        ]
    }
}

extension RecordedReceipt {
    fileprivate var json: JSON {
        [
            "action_id": .string(action.text),
            "status": .string(receipt.status.rawValue),
            "reference": .optional(receipt.reference),
            "reason": .optional(receipt.reason),
            "received_at": .string(at.text),
        ]
    }
}
