import Countersign

extension APIRoutes {
    /// What the bank must tell its customers, page by page, for ever in the same order.
    var listEvents: Route {
        gate.route(
            .get, "/v1/events", for: .backend,
            reading: { request throws(Problem) in try EventsRequest(request) },
            answer: { call async throws(StoreFailure) in
                let after = call.input.after
                guard let found = try await events.events(after: after, limit: call.input.limit)
                else {
                    return Problem.malformedRequest(
                        "The parameter after is beyond the last event."
                    ).response
                }
                return .json(EventPage(found, after: after).json)
            })
    }
}

/// Which page of the feed somebody wants.
private struct EventsRequest: Sendable {
    let after: EventPlace
    let limit: Int

    init(_ request: Request) throws(Problem) {
        let reader = try QueryReader(request, allowing: ["after", "limit"])
        limit = try reader.limit()
        guard let text = reader.text("after") else {
            after = .start
            return
        }
        guard let place = EventPlace(text) else {
            throw .malformedRequest(
                "The parameter after must be a next_cursor of an earlier answer.")
        }
        after = place
    }
}
