import Countersign
import HTTP
import Testing

/// A server on a free port with a few routes that show what reached the handler.
enum TestServer {
    static let jsonBody = #"{"amount":"120.00","currency":"EUR"}"#
    static let health = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

    /// More than the buffers of a socket hold, so that sending waits for the client.
    static let large = Bytes(repeating: 0x61, count: 16 << 20)
    static let medium = Bytes(repeating: 0x61, count: 300_000)

    /// A POST that the echo route answers, after that many milliseconds.
    static func post(_ body: String = jsonBody, milliseconds: Int = 0, extra: String = "") -> String
    {
        "POST /echo?ms=\(milliseconds) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\(extra)\r\n\(body)"
    }

    static func router(metrics: Metrics = Metrics()) -> Router {
        Router(
            [
                Route(.get, "/healthz") { _, _ in .json(["status": "ok"]) },
                Route(.post, "/echo") { request, _ throws(Problem) in
                    let delay = Int(request.query?.first("ms") ?? "") ?? 0
                    if delay > 0 { try? await Task.sleep(for: .milliseconds(delay)) }
                    return Response(
                        status: 200, headers: ["Content-Type": "application/json"],
                        body: request.body)
                },
                Route(.get, "/v1/things/{id}") { _, parameters in
                    .json(["id": .string(parameters["id"])])
                },
                Route(.get, "/large") { _, _ in Response(status: 200, body: large) },
                Route(.get, "/medium") { _, _ in Response(status: 200, body: medium) },
                Route(.delete, "/nothing") { _, _ in Response(status: 204) },
                Route(.get, "/seen") { request, _ in
                    .json([
                        "id": .string(request.id), "traceparent": .optional(request.traceparent),
                        "peer": .string("\(request.peer)"),
                    ])
                },
            ], metrics: metrics)
    }

    /// A connection that is not closed for a reason of its own stays open for the test's time.
    static let patient = {
        var limits = ServerLimits()
        limits.idleTimeout = .seconds(3600)
        return limits
    }()

    static func make(
        limits: ServerLimits = ServerLimits(), tls: TLSOptions? = nil,
        handler: (@Sendable (Request) async -> Response)? = nil
    ) throws -> HTTPServer {
        let router = router()
        let options = ServerOptions(
            host: "127.0.0.1", port: 0, tls: tls, limits: limits, makeRequestID: { "made-here" })
        let server = try HTTPServer(
            options: options, handler: handler ?? { await router.respond(to: $0) })
        server.start()
        return server
    }
}

/// Runs a test against a server of its own, stops it, and checks that nothing is left of it.
func withServer(
    limits: ServerLimits = ServerLimits(), tls: TLSOptions? = nil,
    handler: (@Sendable (Request) async -> Response)? = nil,
    _ body: (HTTPServer) async throws -> Void
) async throws {
    let server = try TestServer.make(limits: limits, tls: tls, handler: handler)
    do {
        try await body(server)
    } catch {
        await server.stop(drain: .zero)
        throw error
    }
    await server.stop(drain: .seconds(5))
    #expect(server.connections == 0)
    #expect(server.inFlight == 0)
}
