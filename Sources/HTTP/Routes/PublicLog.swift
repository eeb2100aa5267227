import Countersign

extension APIRoutes {
    /// The newest published checkpoint of the log, a signed note. Source: C2SP tlog-tiles.
    var readCheckpoint: Route {
        gate.route(
            .get, "/log/checkpoint", for: .auditor,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { _ async throws(StoreFailure) in
                guard let note = try await log.checkpoint() else {
                    return Problem.notFound.response
                }
                return Response(
                    status: 200, headers: ["Content-Type": "text/plain; charset=utf-8"],
                    body: note)
            })
    }

    /// Tiles and entries; one route for each length that the path of a tile can have. Three elements of an
    /// index are enough for 256 thousand million leaves, and there is one more for the width.
    var readTiles: [Route] {
        (1...4).map { count in
            let gaps = (1...count).map { "part\($0)" }
            return gate.route(
                .get, "/log/tile/{level}/" + gaps.map { "{\($0)}" }.joined(separator: "/"),
                for: .auditor,
                reading: { request throws(Problem) in try request.refuseQuery() },
                answer: { call async throws(StoreFailure) in
                    let path = (["tile", call.text("level")] + gaps.map(call.text))
                        .joined(separator: "/")
                    guard let content = try await log.resource(path) else {
                        return Problem.notFound.response
                    }
                    return Response(
                        status: 200, headers: ["Content-Type": "application/octet-stream"],
                        body: content)
                })
        }
    }
}
