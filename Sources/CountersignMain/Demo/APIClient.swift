import Countersign
import Crypto
import Delivery

/// Calls the HTTP API with one key, over real HTTP.
struct APIClient: Sendable {
    /// Scheme, host and port, without a slash at the end.
    let base: String
    /// The API key; `nil` calls as nobody.
    let key: String?
    private let transport: HTTPClient

    /// An answer, whatever its status.
    struct Answer: Sendable {
        let status: Int
        /// `null` when the body is empty or no JSON.
        let json: JSON
        /// `Idempotency-Replayed: true`: this was answered before.
        let isReplay: Bool
        /// As it came.
        let body: Bytes

        /// The text at the end of a path of members, such as `"action", "id"`.
        func text(_ path: String...) -> String? { value(path)?.text }

        /// The value at the end of a path of members.
        func value(_ path: [String]) -> JSON? {
            path.reduce(Optional(json)) { $0?[$1] }
        }

        /// The last part of a problem's `type`: `limit-exceeded`.
        var problem: String? {
            text("type")?.split(separator: "/").last.map(String.init)
        }
    }

    /// - Parameters:
    ///   - base: Scheme, host and port.
    ///   - key: The API key, when there is one.
    ///   - authorities: PEM of whom to believe about the service; `nil` for those of the system.
    ///   - certificate: What to show when the service asks for one.
    /// - Throws: ``CommandFailure`` when libcurl cannot be started.
    init(
        base: String, key: String?, authorities: String? = nil,
        certificate: HTTPClient.ClientCertificate? = nil
    ) throws(CommandFailure) {
        self.base = base
        self.key = key
        do throws(TransportFailure) {
            transport = try HTTPClient(
                HTTPClient.Options(
                    connectTimeout: .seconds(5), totalTimeout: .seconds(30),
                    bodyBytesMax: Self.bodyBytesMax, authoritiesFile: authorities,
                    clientCertificate: certificate, plainHTTP: .toLoopbackOnly, slots: 2))
        } catch {
            throw CommandFailure("libcurl cannot be started")
        }
    }

    /// A page of evidence is the longest answer.
    private static let bodyBytesMax = 4 << 20

    /// Reads something.
    ///
    /// - Throws: ``CommandFailure`` when there is no answer.
    func get(_ path: String) async throws(CommandFailure) -> Answer {
        try await send(.get, path, fields: [], body: [])
    }

    /// Ends or removes something.
    ///
    /// - Throws: ``CommandFailure`` when there is no answer.
    func delete(_ path: String) async throws(CommandFailure) -> Answer {
        try await send(.delete, path, fields: [], body: [])
    }

    /// Sends a JSON body.
    ///
    /// - Throws: ``CommandFailure`` when there is no answer.
    func post(
        _ path: String, _ body: JSON, idempotencyKey: String? = nil
    ) async throws(CommandFailure) -> Answer {
        var fields = [HTTPField("Content-Type", "application/json")]
        if let idempotencyKey {
            fields.append(HTTPField("Idempotency-Key", "\"\(idempotencyKey)\""))
        }
        return try await send(.post, path, fields: fields, body: body.encoded)
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, fields: [HTTPField], body: Bytes
    ) async throws(CommandFailure) -> Answer {
        guard let url = HTTPURL(base + path) else { throw CommandFailure("\(path) is no path") }
        var fields = fields
        if let key { fields.append(HTTPField("Authorization", "Bearer \(key)")) }
        do throws(TransportFailure) {
            let response = try await transport.send(
                HTTPRequest(method, url, fields: fields, body: body))
            return Answer(
                status: response.status, json: SignedJSON.decode(response.body) ?? .null,
                isReplay: response.field("Idempotency-Replayed") == "true", body: response.body)
        } catch {
            throw CommandFailure("\(method.rawValue) \(base)\(path) has no answer: \(error)")
        }
    }
}
