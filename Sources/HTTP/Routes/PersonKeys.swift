import Countersign

/// The roles whose members sign acts.
let peopleRoles: [AuthenticatedClient.Role] = [.risk, .officer]

extension APIRoutes {
    /// Opens a registration: what the person's client is to make.
    var beginPersonKey: Route {
        gate.route(
            .post, "/v1/person-keys/options", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in
                    try reader.displayText("label", .credentialLabel)
                }
            },
            answer: { call async throws(StoreFailure) in
                switch try await people.keys.beginRegistration(of: call.client, label: call.input)
                {
                case .begun(let options): return .json(options, status: 201)
                case .refused(let refusal): return Problem(refusal).response
                }
            })
    }

    /// Registers the key that the client made.
    var registerPersonKey: Route {
        gate.route(
            .post, "/v1/person-keys", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in
                try request.body {
                    reader throws(BodyRefusal) -> (
                        ID<PersonKeyRegistration>, PasskeyRegistration
                    )? in
                    let id: ID<PersonKeyRegistration> = try reader.id("registration_id")
                    let made = try reader.passkey { json throws(InvalidValue) in
                        try PasskeyRegistration(json: json)
                    }
                    return (id, made)
                }
            },
            answer: { call async throws(StoreFailure) in
                let command = RegisterPersonKeyCommand(
                    person: call.client, registration: call.input.0, offered: call.input.1)
                switch try await people.keys.register(command) {
                case .registered(let key): return .json(["key": key.json], status: 201)
                case .refused(let refusal): return Problem(refusal).response
                }
            })
    }

    /// The keys of everybody of the caller's role.
    var listPersonKeys: Route {
        gate.route(
            .get, "/v1/person-keys", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let role = call.role.person else { return Problem.forbidden.response }
                let keys = try await people.keys.keys(of: role)
                return .json(["keys": .array(keys.map(\.json))])
            })
    }

    /// Revokes a key of the caller.
    var revokePersonKey: Route {
        gate.route(
            .delete, "/v1/person-keys/{id}", forAnyOf: peopleRoles,
            reading: { request throws(Problem) in try request.nothingMore() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<PersonKey> = call.id(),
                    let key = try await people.keys.revoke(id, of: call.client)
                else { return Problem.notFound.response }
                return .json(["key": key.json])
            })
    }
}
