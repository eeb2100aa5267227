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
            let document = try reader.optionalDocument("document")
            let from = try reader.instant("from")
            let to = try reader.instant("to")
            guard let document else {
                reader.refuse("document", InvalidValue("required", "A policy document is needed."))
                return nil as (JSON, Range<Instant>)?
            }
            guard let from, let to else { return nil }
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

extension ObjectReader {
    fileprivate mutating func instant(_ name: String) throws(BodyRefusal) -> Instant? {
        try value(name) { text throws(InvalidValue) in
            guard let instant = Instant(text: text) else {
                throw InvalidValue(
                    "instant_format", "A time is written like 2026-11-30T12:00:00.000Z.")
            }
            return instant
        }
    }
}
