import Countersign

extension APIRoutes {
    private static let readers: [AuthenticatedClient.Role] = [.risk, .auditor]

    /// All versions of the policy, newest first, without their documents.
    var listPolicies: Route {
        gate.route(
            .get, "/v1/policies", forAnyOf: Self.readers,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { _ async throws(StoreFailure) in
                let found = try await people.policies.policies()
                return .json(["policies": .array(found.map { .object($0.members) })])
            })
    }

    /// The version in force.
    var readActivePolicy: Route {
        gate.route(
            .get, "/v1/policies/active", forAnyOf: Self.readers,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { _ async throws(StoreFailure) in
                answer(try await people.policies.activePolicy())
            })
    }

    /// One version.
    var readPolicy: Route {
        gate.route(
            .get, "/v1/policies/{version}", forAnyOf: Self.readers,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let version = call.number("version") else {
                    return Problem.notFound.response
                }
                return answer(try await people.policies.policy(version: version))
            })
    }

    private func answer(_ policy: PublishedPolicy?) -> Response {
        guard let policy else { return Problem.notFound.response }
        return .json([
            "policy": .object(
                policy.members + [
                    .init("document", policy.content),
                    .init("document_bytes", .string(Base64.encodeURL(policy.document))),
                ])
        ])
    }
}
