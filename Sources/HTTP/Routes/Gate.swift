import Countersign

/// Lets requests through to the use cases, and stops the others in the documented order.
///
/// 1. A caller that nobody knows: 401. Nothing of a stranger's body is parsed.
/// 2. A request that is not of the form of its route: 400 or 422.
/// 3. A caller of another role: 403.
///
/// What follows (`not-found` and on) is the use case's to say.
struct Gate: Sendable {
    private let authentication: Authentication
    private let failures: FailureReport

    init(authentication: Authentication, failures: FailureReport) {
        self.authentication = authentication
        self.failures = failures
    }

    /// Makes a route that only clients of one role may use.
    ///
    /// - Parameters:
    ///   - method: As in ``Route``.
    ///   - pattern: As in ``Route``.
    ///   - role: Who may use it.
    ///   - read: Reads headers, query and body; it asks nobody.
    ///   - answer: Asks the service and shows what came of it.
    /// - Returns: The route.
    func route<Input: Sendable>(
        _ method: Method, _ pattern: String, for role: AuthenticatedClient.Role,
        reading read: @escaping @Sendable (Request) throws(Problem) -> Input,
        answer: @escaping @Sendable (Call<Input>) async throws(StoreFailure) -> Response
    ) -> Route {
        route(method, pattern, forAnyOf: [role], reading: read, answer: answer)
    }

    /// Makes a route that clients of any of these roles may use; see the one for a single role.
    func route<Input: Sendable>(
        _ method: Method, _ pattern: String, forAnyOf roles: [AuthenticatedClient.Role],
        reading read: @escaping @Sendable (Request) throws(Problem) -> Input,
        answer: @escaping @Sendable (Call<Input>) async throws(StoreFailure) -> Response
    ) -> Route {
        Route(method, pattern) { request, path async throws(Problem) in
            let client = try await authentication.client(of: request)
            let input = try read(request)
            guard roles.contains(client.role) else { throw .forbidden }
            do throws(StoreFailure) {
                return try await answer(Call(caller: client, input: input, path: path))
            } catch {
                throw failures.problem(error, in: request)
            }
        }
    }
}

/// A request that went through the gate.
struct Call<Input: Sendable>: Sendable {
    let client: ID<Client>
    let role: AuthenticatedClient.Role
    let input: Input
    private let path: PathParameters

    fileprivate init(caller: AuthenticatedClient, input: Input, path: PathParameters) {
        client = caller.id
        role = caller.role
        self.input = input
        self.path = path
    }

    /// The ID in a gap, `{id}` or one of another name; `nil` for what is no UUID, which is the ID of
    /// nothing.
    func id<Entity>(_ name: String = "id") -> ID<Entity>? { ID(path[name]) }

    /// The text in the gap of that name, decoded.
    func text(_ name: String) -> String { path[name] }

    /// The positive number in the gap of that name; `nil` for anything else.
    func number(_ name: String) -> Int? {
        let text = path[name]
        guard text.utf8.count <= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// The customer in the gap `{customer_id}`; `nil` for what no customer can be called.
    func customerID() -> CustomerID? {
        do {
            return try CustomerID(path["customer_id"])
        } catch {
            return nil
        }
    }
}
