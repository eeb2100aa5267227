import Countersign
import HTTP
import Testing

@Suite struct `Limits on what is read` {
    private static let limits = ServerLimits()

    private func exchange(_ text: String) async throws -> (RawResponse, isClosed: Bool) {
        let server = try TestServer.make()
        defer { Task { await server.stop(drain: .zero) } }
        let port = server.port
        return try await blocking {
            let client = try RawClient(port: port)
            client.send(text)
            let response = try client.response()
            client.send(TestServer.health)
            return (response, (try? client.response())?.status != 200)
        }
    }

    @Test func `a body of the limit reaches the handler`() async throws {
        let body = String(repeating: "x", count: Self.limits.bodyBytesMax)
        let (response, isClosed) = try await exchange(TestServer.post(body))
        #expect(response.status == 200)
        #expect(response.body.count == Self.limits.bodyBytesMax)
        #expect(!isClosed)
    }

    @Test func `one byte more is our 413, and the connection lives on`() async throws {
        let body = String(repeating: "x", count: Self.limits.bodyBytesMax + 1)
        let (response, isClosed) = try await exchange(TestServer.post(body))
        #expect(response.status == 413)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.text.contains("/problems/payload-too-large"))
        #expect(!isClosed)
    }

    @Test func `a chunked body counts as it arrives`() async throws {
        let chunk = "1000\r\n" + String(repeating: "y", count: 4096) + "\r\n"
        let text =
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 17)
            + "0\r\n\r\n"
        let (response, isClosed) = try await exchange(text)
        #expect(response.status == 413)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(!isClosed)
    }

    @Test(arguments: ["", "Expect: 100-continue\r\n"])
    func `a body beyond what is read at all is refused by its head`(_ extra: String) async throws {
        let (response, isClosed) = try await exchange(
            "POST /echo HTTP/1.1\r\nHost: a\r\n\(extra)"
                + "Content-Length: \(Self.limits.bodyBytesReadMax + 1)\r\n\r\n")
        #expect(response.status == 413)
        #expect(isClosed)
    }

    @Test func `a chunked body beyond what is read at all is cut off`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(
                    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = "1000\r\n" + String(repeating: "y", count: 4096) + "\r\n"
                for _ in 0...(Self.limits.bodyBytesReadMax / 4096) {
                    guard client.send(chunk) else { break }
                }
                #expect(client.isClosed())
            }
        }
    }

    @Test(arguments: [
        "X: " + String(repeating: "a", count: 20_000),
        (0..<1000).map { "X-\($0): aaaaaaaaaaaaaaaaaaaa" }.joined(separator: "\r\n"),
    ])
    func `a head beyond the limit is refused`(_ fields: String) async throws {
        let (response, isClosed) = try await exchange(
            "GET /healthz HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
        #expect([400, 413].contains(response.status))
        #expect(isClosed)
    }

    @Test func `a target beyond the limit is refused`() async throws {
        let target = "/healthz?" + String(repeating: "a", count: 20_000)
        let (response, isClosed) = try await exchange("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect([400, 413].contains(response.status))
        #expect(isClosed)
    }

    @Test func `a head without an end does not grow for ever`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")
                let piece = Bytes(repeating: 0x61, count: 4096)
                var sent = 0
                while sent < 8 << 20, client.send(piece) { sent += piece.count }
                #expect(sent < 8 << 20 || client.isClosed())
            }
        }
    }

    @Test func `100-continue is answered before the body`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                let text = TestServer.post(extra: "Expect: 100-continue\r\n")
                client.send(String(text.dropLast(TestServer.jsonBody.count)))
                #expect(try client.response().status == 100)
                client.send(TestServer.jsonBody)
                #expect(try client.response().text == TestServer.jsonBody)
            }
        }
    }

    @Test func `another expectation is refused`() async throws {
        let (response, _) = try await exchange(TestServer.post(extra: "Expect: 200-ok\r\n"))
        #expect(response.status == 417)
    }

    @Test func `connections beyond the limit wait until one closes`() async throws {
        var limits = ServerLimits()
        limits.connectionsMax = 3
        try await withServer(limits: limits) { server in
            let port = server.port
            let clients = try await blocking {
                var clients: [RawClient] = []
                for _ in 0..<3 {
                    let client = try RawClient(port: port)
                    client.send(TestServer.health)
                    #expect(try client.response().status == 200)
                    clients.append(client)
                }
                return Held(clients)
            }
            let late = try await blocking {
                let late = try RawClient(port: port)
                late.send(TestServer.health)
                return Held([late])
            }
            try await Task.sleep(for: .milliseconds(50))
            #expect(server.connections == 3)
            try await blocking {
                clients.all[0].close()
                let response = try late.all[0].response()
                #expect(response.status == 200)
            }
            #expect(server.connections == 3)
        }
    }
}

/// Clients that are handed from one blocking step to the next.
final class Held: @unchecked Sendable {
    let all: [RawClient]
    init(_ clients: [RawClient]) { all = clients }
}
