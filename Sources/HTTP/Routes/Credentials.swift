import Countersign

extension APIRoutes {
    /// All credentials of a customer, revoked ones included.
    var listCredentials: Route {
        gate.route(
            .get, "/v1/customers/{customer_id}/credentials", for: .backend,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                let found = try await credentials.credentials(of: customer)
                return .json(["credentials": .array(found.map(\.json))])
            })
    }

    /// Revokes a credential at once and for ever.
    var revokeCredential: Route {
        gate.route(
            .post, "/v1/credentials/{id}/revoke", for: .backend,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in try reader.reason() }
            },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Credential> = call.id(),
                    let credential = try await credentials.revoke(
                        RevokeCredentialCommand(
                            client: call.client, credential: id, reason: call.input))
                else { return Problem.notFound.response }
                return .json(["credential": credential.json])
            })
    }
}
