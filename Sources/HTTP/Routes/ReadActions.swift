import Countersign

extension APIRoutes {
    /// One action as it stands. Officers see those about which they may have to sign: pending and held ones.
    var readAction: Route {
        gate.route(
            .get, "/v1/actions/{id}", forAnyOf: [.backend, .officer],
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Action> = call.id(), let action = try await actions.action(id),
                    call.role != .officer || action.authorization == .pending
                        || action.execution == .held
                else { return Problem.notFound.response }
                return .json(["action": action.json])
            })
    }

    /// A customer's actions, newest first, page by page.
    var listActions: Route {
        gate.route(
            .get, "/v1/actions", for: .backend,
            reading: { request throws(Problem) in try ActionsPage(request) },
            answer: { call async throws(StoreFailure) in
                call.input.answer(try await actions.actions(call.input.query))
            })
    }

    /// A customer's payees, with what may be sent to them now.
    var listPayees: Route {
        gate.route(
            .get, "/v1/customers/{customer_id}/payees", for: .backend,
            reading: { request throws(Problem) in
                try QueryReader(request, allowing: ["segment"]).segment()
            },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                let payees = try await actions.payees(of: customer, segment: call.input)
                return .json(["payees": .array(payees.map(\.json))])
            })
    }
}

/// One page of a list of actions.
private struct ActionsPage: Sendable {
    private let limit: Int
    /// Asks for one more than the page holds: that one tells whether another page follows.
    let query: ActionQuery

    init(_ request: Request) throws(Problem) {
        let reader = try QueryReader(
            request,
            allowing: ["customer_id", "authorization", "execution", "limit", "cursor"])
        guard let customerID = try reader.customerID("customer_id") else {
            throw .malformedRequest("The parameter customer_id is missing.")
        }
        limit = try reader.limit()
        query = ActionQuery(
            customerID: customerID,
            authorization: try reader.choice("authorization", Authorization.self),
            execution: try reader.choice("execution", Execution.self),
            limit: limit + 1, before: try reader.cursor())
    }

    func answer(_ found: [RecordedAction]) -> Response {
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { Page.cursor(after: $0.id) } : nil
        return .json([
            "actions": .array(page.map(\.json)), "next_cursor": .optional(next),
        ])
    }
}

extension PayeeStanding {
    /// One element of `payees`.
    fileprivate var json: JSON {
        [
            "id": .string(id.text),
            "name": .string(identity.name.text),
            "account": identity.account.json,
            "alias": .string(alias),
            "state": .string(state.rawValue),
            "usable_at": .string(usableAt.text),
            "new_until": .string(newUntil.text),
            "may_send": allowance.json,
        ]
    }
}

extension PayeeAllowance {
    fileprivate var json: JSON {
        [
            "currency": .string(amount.currency.code),
            "amount": .string(amount.decimal),
            "rule": .string(rule),
            "until": .optional(until?.text),
            "hold": hold?.json ?? .null,
            "left": .object(left.map { .init($0.limit.rawValue, .string($0.amount.decimal)) }),
        ]
    }
}
