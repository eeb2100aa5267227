import Countersign

extension APIRoutes {
    /// Tries a draft of a policy on the decisions of a period.
    var simulatePolicy: Route {
        gate.route(
            .post, "/v1/policies/simulate", for: .risk,
            reading: { request throws(Problem) in try SimulationRequest(request) },
            answer: { call async throws(StoreFailure) in
                .json(
                    try await simulate(
                        call.input.rules, over: call.input.period,
                        changesMax: SimulationRequest.changesMax))
            })
    }
}

/// A draft and a period.
private struct SimulationRequest: Sendable {
    /// The changed decisions that an answer lists.
    static let changesMax = 1000

    let rules: PolicyRules
    let period: Range<Instant>

    init(_ request: Request) throws(Problem) {
        let (draft, period) = try request.body { reader throws(BodyRefusal) in
            let document = try reader.policyDocument("document")
            let from = try reader.instant("from")
            let to = try reader.instant("to")
            guard let document, let from, let to else { return nil as (JSON, Range<Instant>)? }
            guard from < to else {
                reader.refuse("to", InvalidValue("period_empty", "The end is after the start."))
                return nil
            }
            return (document, from..<to)
        }
        do throws(PolicyFault) {
            rules = try PolicyRules(document: draft)
        } catch {
            throw Problem(error, in: "/document")
        }
        self.period = period
    }
}
