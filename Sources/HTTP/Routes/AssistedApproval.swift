import Countersign

extension APIRoutes {
    /// Makes an act by which two officers approve an action for a customer who has no key.
    var proposeApproval: Route {
        gate.route(
            .post, "/v1/actions/{id}/assisted-approval", for: .officer,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in
                    try reader.approvalGrounds()
                }
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Action> = call.id() else { return Problem.notFound.response }
                let request = AssistedRequest(
                    action: id, reason: call.input.reason, identityCheck: call.input.check)
                return answer(
                    try await people.acts.propose(
                        ProposeActCommand(
                            person: call.client, kind: .approveAction, document: request.json)))
            })
    }
}

/// Why officers approve, and how they know the customer.
private struct ApprovalGrounds: Sendable {
    let reason: DisplayText
    let check: IdentityCheck
}

extension ObjectReader {
    fileprivate mutating func approvalGrounds() throws(BodyRefusal) -> ApprovalGrounds? {
        let reason = try displayText("reason", .actReason)
        let check = try object("identity_check") {
            reader throws(BodyRefusal) -> IdentityCheck? in
            let method = try reader.value("method") { word throws(InvalidValue) in
                try IdentityCheck.Method(word: word)
            }
            let reference = try reader.displayText("reference", .reason)
            guard let method, let reference else { return nil }
            return IdentityCheck(method: method, reference: reference)
        }
        guard let reason, let check else { return nil }
        return ApprovalGrounds(reason: reason, check: check)
    }
}
