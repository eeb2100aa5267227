import Countersign
import HTTP
import Testing

@Suite struct `A conversation on one connection` {
    /// Sends everything at once and reads that many answers.
    private func answers(_ text: String, count: Int) async throws -> [RawResponse] {
        var responses: [RawResponse] = []
        try await withServer { server in
            let port = server.port
            responses = try await blocking {
                let client = try RawClient(port: port)
                client.send(text)
                return try (0..<count).map { _ in try client.response() }
            }
        }
        return responses
    }

    @Test func `answers come in the order of the requests`() async throws {
        let delays = [60, 0, 20, 0]
        let text = delays.enumerated().map { index, delay in
            TestServer.post("\(index)", milliseconds: delay)
        }
        let responses = try await answers(text.joined() + TestServer.health, count: 5)
        #expect(responses.map(\.text) == ["0", "1", "2", "3", #"{"status":"ok"}"#])
    }

    @Test func `a refusal of the route leaves the connection open`() async throws {
        let notFound = "GET /nope HTTP/1.1\r\nHost: a\r\n\r\n"
        let withBody =
            "POST /nope HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        let responses = try await answers(notFound + withBody + TestServer.health, count: 3)
        #expect(responses.map(\.status) == [404, 404, 200])
        #expect(responses[0].text.contains(#""instance":"made-here""#))
    }

    @Test func `the body of a GET is not the next request`() async throws {
        let get = "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde"
        let responses = try await answers(get, count: 1)
        // Either it is read with its body (415, since it is no JSON), or refused.
        #expect([400, 415].contains(responses[0].status))
    }

    @Test func `HEAD gets the head of GET and no body`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send("HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + TestServer.health)
                let head = try client.response(toHead: true)
                #expect(head.status == 200)
                #expect(head.headers["content-length"] == "15")
                #expect(head.headers["content-type"] == "application/json")
                #expect(try client.response().text == #"{"status":"ok"}"#)
            }
        }
    }

    @Test func `204 has neither a length nor a body`() async throws {
        let text = "DELETE /nothing HTTP/1.1\r\nHost: a\r\n\r\n" + TestServer.health
        let responses = try await answers(text, count: 2)
        #expect(responses.map(\.status) == [204, 200])
        #expect(responses[0].headers["content-length"] == nil)
    }

    @Test func `every answer forbids storing and names the request`() async throws {
        let text = ["/healthz", "/nope", "/medium"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
        for response in try await answers(text.joined(), count: 3) {
            #expect(response.headers["cache-control"] == "no-store")
            #expect(response.headers["x-request-id"] == "made-here")
            #expect(response.headers["content-length"] == String(response.body.count))
            #expect(response.headers["date"] != nil)
        }
    }

    @Test(arguments: [
        ("abc-1.2_3", "abc-1.2_3"), (String(repeating: "a", count: 64), nil),
        (String(repeating: "a", count: 65), "made-here"), ("a b", "made-here"),
        ("", "made-here"), ("a\r\nX-Request-ID: b", "made-here"), ("ä", "made-here"),
    ])
    func `a request id is the caller's when it is acceptable`(_ sent: String, _ expected: String?)
        async throws
    {
        let text = "GET /seen HTTP/1.1\r\nHost: a\r\nX-Request-ID: \(sent)\r\n\r\n"
        let response = try await answers(text, count: 1)[0]
        #expect(response.headers["x-request-id"] == expected ?? sent)
        #expect(response.text.contains(#""id":"\#(expected ?? sent)""#))
    }

    @Test func `a traceparent is carried through when it is well-formed`() async throws {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let text = [good, good.uppercased()].map {
            "GET /seen HTTP/1.1\r\nHost: a\r\ntraceparent: \($0)\r\n\r\n"
        }
        let responses = try await answers(text.joined(), count: 2)
        #expect(responses.map { $0.headers["traceparent"] } == [good, nil])
        #expect(responses[0].text.contains(#""traceparent":"\#(good)""#))
        #expect(responses[1].text.contains(#""traceparent":null"#))
    }

    @Test func `a value with a line break adds no header field`() async throws {
        try await withServer(handler: { _ in
            Response(status: 200, headers: ["X-A": "1\r\nX-B: 2", "X-C": "3"])
        }) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.health)
                let headers = try client.response().headers
                #expect(headers["x-b"] == nil)
                #expect(headers["x-c"] == "3")
            }
        }
    }

    @Test func `fields of the server are not a handler's to write`() async throws {
        let headers: HeaderFields = [
            "Content-Length": "1", "cache-control": "public", "Connection": "close",
            "X-Request-ID": "x", "traceparent": "y", "Transfer-Encoding": "chunked",
        ]
        try await withServer(handler: { _ in
            Response(status: 200, headers: headers, body: Bytes("abc".utf8))
        }) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.health + TestServer.health)
                let first = try client.response()
                #expect(first.text == "abc")
                #expect(first.headers["cache-control"] == "no-store")
                #expect(first.headers["x-request-id"] == "made-here")
                #expect(first.headers["traceparent"] == nil)
                #expect(first.headers["transfer-encoding"] == nil)
                #expect(try client.response().status == 200)
            }
        }
    }

    @Test func `Connection close is honoured`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try client.response().headers["connection"] == "close")
                #expect(try client.restUntilClosed().isEmpty)
            }
        }
    }

    @Test func `HTTP 1.0 stays open only on request`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                let keep = "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                client.send(keep)
                #expect(try client.response().text == #"{"status":"ok"}"#)
                client.send(keep)
                #expect(try client.response().status == 200)
            }
        }
    }

    @Test func `it goes on over IPv6 and by name`() async throws {
        for host in ["::1", "localhost"] {
            let options = ServerOptions(host: host, port: 0, tls: nil, makeRequestID: { "a" })
            let server = try HTTPServer(options: options) { _ in Response(status: 200) }
            #expect(server.port != 0)
            await server.stop(drain: .zero)
        }
    }

    @Test func `an unknown host and a port in use are failures`() async throws {
        let unknown = ServerOptions(
            host: "256.0.0.1", port: 0, tls: nil, makeRequestID: { "a" })
        #expect(throws: ServerFailure.addressUnknown(host: "256.0.0.1")) {
            _ = try HTTPServer(options: unknown) { _ in Response(status: 200) }
        }
        try await withServer { server in
            let taken = ServerOptions(
                host: "127.0.0.1", port: server.port, tls: nil, makeRequestID: { "a" })
            #expect(throws: ServerFailure.self) {
                _ = try HTTPServer(options: taken) { _ in Response(status: 200) }
            }
        }
    }
}
