import Countersign

extension APIRoutes {
    /// Stores an action and returns it with its first challenge.
    var createAction: Route {
        gate.route(
            .post, "/v1/actions", for: .backend,
            reading: { request throws(Problem) in try ActionRequest(request, sha256) },
            answer: { call async throws(StoreFailure) in
                switch try await actions.create(call.input.command(from: call.client)) {
                case .created(let answer, let replayed): created(answer, replayed: replayed)
                case .refused(let refusal): Problem(refusal).response
                }
            })
    }

    /// The stored answer, byte for byte.
    private func created(_ answer: Bytes, replayed: Bool) -> Response {
        var response = Response(
            status: 201, headers: ["Content-Type": "application/json"], body: answer)
        if let id = ActionAnswer.actionID(of: answer) {
            response.headers.append("Location", "/v1/actions/\(id.text)")
        }
        if replayed { response.headers.append("Idempotency-Replayed", "true") }
        return response
    }
}

/// Looks into an answer that is only at hand as bytes, and too often made to be parsed again.
enum ActionAnswer {
    private static let opening = Bytes(#"{"action":{"id":""#.utf8)

    /// The ID of its action, which is the first thing that it says.
    static func actionID(of answer: Bytes) -> ID<Action>? {
        guard answer.starts(with: opening) else { return nil }
        return ID(String(decoding: answer.dropFirst(opening.count).prefix(36), as: UTF8.self))
    }
}

/// What a caller says about an action to create.
private struct ActionRequest: Sendable {
    private struct Body {
        let customerID: CustomerID
        let content: ActionContent
        let externalID: ExternalID?
        let risk: JSON?
    }

    private let idempotencyKey: String
    private let body: Body

    init(_ request: Request, _ sha256: Hasher256) throws(Problem) {
        guard let key = try request.idempotencyKey() else { throw .idempotencyKeyRequired }
        idempotencyKey = key
        body = try request.body { reader throws(BodyRefusal) -> Body? in
            let customerID = try reader.value("customer_id") { text throws(InvalidValue) in
                try CustomerID(text)
            }
            let content = try reader.actionContent(sha256)
            let externalID = try reader.optionalValue("external_id") { text throws(InvalidValue) in
                try ExternalID(text)
            }
            let risk = try reader.risk()
            guard let customerID, let content else { return nil }
            return Body(
                customerID: customerID, content: content, externalID: externalID, risk: risk)
        }
    }

    func command(from client: ID<Client>) -> CreateActionCommand {
        CreateActionCommand(
            client: client, customerID: body.customerID, content: body.content,
            externalID: body.externalID, risk: body.risk, idempotencyKey: idempotencyKey)
    }
}
