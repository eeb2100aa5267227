import Countersign

extension APIRoutes {
    private var signingPath: String { "/v1/credentials/{id}/request-signing" }

    /// How strictly requests of a device key are judged.
    var readRequestSigning: Route {
        gate.route(
            .get, signingPath, for: .backend,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Credential> = call.id(),
                    let signing = try await deviceRequests.requestSigning(of: id)
                else { return Problem.notFound.response }
                return .json(["request_signing": signing.json])
            })
    }

    /// Sets how strictly requests of a device key are judged.
    var setRequestSigning: Route {
        gate.route(
            .put, signingPath, for: .backend,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in
                    try reader.choice("mode", RequestModeChoice.self)
                }
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Credential> = call.id(),
                    let signing = try await deviceRequests.setRequestSigning(
                        SetRequestSigningCommand(
                            client: call.client, credential: id, choice: call.input))
                else { return Problem.notFound.response }
                return .json(["request_signing": signing.json])
            })
    }
}
