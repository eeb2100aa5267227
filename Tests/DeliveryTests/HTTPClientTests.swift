import Countersign
import Delivery
import Foundation
import HTTP
import Testing

@Suite struct `The HTTP client` {
    private typealias Reply = @Sendable (Request) async -> Response

    @Test func `returns status, fields and body, and sends what it was given`() async throws {
        let server = try serve { request in
            Response(
                status: 418,
                headers: [
                    "X-Method": request.method.rawValue, "X-Path": request.path,
                    "X-Fields": request.headers.fields.map { "\($0.name)=\($0.value)" }
                        .joined(separator: "|"),
                ], body: request.body.reversed())
        }
        let client = try client()
        let url = try url(server.port, "/a/../b//c%2F")
        let answer = try await client.send(
            HTTPRequest(
                .post, url,
                fields: [HTTPField("X-One", "1"), HTTPField("Content-Type", "text/plain")],
                body: [1, 2, 255, 3]))
        #expect(answer.status == 418)
        #expect(answer.body == [3, 255, 2, 1])
        #expect(answer.field("x-method") == "POST")
        #expect(answer.field("X-PATH") == "/a/../b//c%2F")
        let fields = answer.field("x-fields") ?? ""
        #expect(fields.contains("x-one=1"))
        #expect(fields.contains("content-type=text/plain"))
        #expect(fields.contains("content-length=4"))
        #expect(!fields.contains("expect="))
        #expect(!fields.contains("x-www-form-urlencoded"))
        let empty = try await client.send(HTTPRequest(.post, url))
        #expect(empty.field("x-fields")?.contains("content-length=0") == true)
        #expect(empty.field("x-fields")?.contains("content-type") == false)
        let get = try await client.send(HTTPRequest(.get, url))
        #expect(get.field("x-method") == "GET")
        await server.stop(drain: .zero)
    }

    @Test func `keeps its connection`() async throws {
        let server = try serve { _ in Response(status: 200) }
        let client = try client()
        for _ in 0..<5 { _ = try await client.send(HTTPRequest(.get, url(server.port))) }
        #expect(server.connections == 1)
        await server.stop(drain: .zero)
    }

    @Test func `makes as many exchanges at once as it has slots`() async throws {
        let server = try serve { _ in
            try? await Task.sleep(for: .milliseconds(50))
            return Response(status: 200)
        }
        let client = try client(slots: 4)
        let url = try url(server.port)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<12 {
                group.addTask { try await client.send(HTTPRequest(.get, url)).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(server.connections == 4)
        await server.stop(drain: .zero)
    }

    @Test func `follows no redirect`() async throws {
        let server = try serve { request in
            request.path == "/"
                ? Response(status: 302, headers: ["Location": "/target"]) : Response(status: 200)
        }
        let answer = try await client().send(HTTPRequest(.get, url(server.port)))
        #expect(answer.status == 302)
        await server.stop(drain: .zero)
    }

    @Test func `reads a body up to its limit and not a byte more`() async throws {
        let server = try serve { request in
            Response(
                status: 200,
                body: Bytes(repeating: 0x61, count: request.path == "/fits" ? 65_536 : 65_537))
        }
        let client = try client()
        let answer = try await client.send(HTTPRequest(.get, url(server.port, "/fits")))
        #expect(answer.body.count == 65_536)
        let long = try url(server.port, "/long")
        await #expect(throws: TransportFailure.answerTooLarge) {
            try await client.send(HTTPRequest(.get, long))
        }
        await server.stop(drain: .zero)
    }

    @Test(arguments: ["a body without a length", "an endless head", "a chunked body"])
    func `refuses an answer that is too large, however it is framed`(framing: String) async throws {
        let long = String(repeating: "x", count: 70_001)
        let text =
            switch framing {
            case "an endless head":
                "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Long: y\r\n", count: 4000) + "\r\n"
            case "a chunked body":
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11171\r\n\(long)\r\n0\r\n\r\n"
            default: "HTTP/1.1 200 OK\r\n\r\n\(long)"
            }
        let server = try RawServer(.text(text))
        let url = try url(server.port)
        let client = try client()
        await #expect(throws: TransportFailure.answerTooLarge) {
            try await client.send(HTTPRequest(.get, url))
        }
        server.stop()
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "not HTTP\r\n\r\n", "HTTP/1.1 20",
    ])
    func `reports a broken answer as broken`(text: String) async throws {
        let server = try RawServer(.text(text))
        let url = try url(server.port)
        let client = try client()
        let failure = await #expect(throws: TransportFailure.self) {
            try await client.send(HTTPRequest(.post, url, body: [1]))
        }
        guard case .other = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        server.stop()
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx"])
    func `gives up after its total timeout`(text: String) async throws {
        let server = try RawServer(.textThenSilence(text))
        let url = try url(server.port)
        let client = try client(totalTimeout: .milliseconds(200))
        await #expect(throws: TransportFailure.timeout) {
            try await client.send(HTTPRequest(.get, url))
        }
        server.stop()
    }

    @Test func `takes the last head after an interim answer`() async throws {
        let server = try RawServer(
            .text(
                "HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-B:  2 \r\n"
                    + "Content-Length: 0\r\n\r\n"))
        let answer = try await client().send(HTTPRequest(.get, url(server.port)))
        #expect(answer.status == 200)
        #expect(answer.fields == [HTTPField("X-B", "2"), HTTPField("Content-Length", "0")])
        server.stop()
    }

    @Test func `reports that nobody listens`() async throws {
        let server = try serve { _ in Response(status: 200) }
        let url = try url(server.port)
        await server.stop(drain: .zero)
        let client = try client()
        await #expect(throws: TransportFailure.connectionFailed) {
            try await client.send(HTTPRequest(.get, url))
        }
    }

    @Test func `sends plain HTTP to this machine only, unless it may`() async throws {
        let remote = try #require(HTTPURL("http://core.invalid/"))
        let careful = try client()
        await #expect(throws: TransportFailure.notAllowed) {
            try await careful.send(HTTPRequest(.get, remote))
        }
        let careless = try client(plainHTTP: .toAnyHost)
        await #expect(throws: TransportFailure.connectionFailed) {
            try await careless.send(HTTPRequest(.get, remote))
        }
    }

    @Test(arguments: [
        ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\0b"), ("X", ""), ("X Y", "a"), ("X:", "a"),
        ("", "a"), ("X\r\nY", "a"),
    ])
    func `sends no field that could become two`(name: String, value: String) async throws {
        let client = try client()
        let url = try url(1)
        await #expect(throws: TransportFailure.notAllowed) {
            try await client.send(
                HTTPRequest(.get, url, fields: [HTTPField(name, value)]))
        }
    }

    @Test func `uses no proxy of the environment`() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, "http://127.0.0.1:1", 1)
            }
            let server = try RawServer(.text("HTTP/1.1 204 No Content\r\n\r\n"))
            let url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/"))
            let client = try HTTPClient(
                .init(
                    connectTimeout: .seconds(60), totalTimeout: .seconds(60), authoritiesFile: nil,
                    clientCertificate: nil, plainHTTP: .toLoopbackOnly, slots: 1))
            let status = try await client.send(HTTPRequest(.get, url)).status
            exit(status == 204 ? 0 : 1)
        }
    }

    @Test func `verifies the peer's certificate and name, and shows its own`() async throws {
        let files = try Certificates()
        func tls(_ name: String) -> TLSOptions {
            TLSOptions(
                certificateChainFile: files.path("\(name).crt"),
                privateKeyFile: files.path("\(name).key"), clientCAFile: files.path("ca.crt"),
                clientCertificate: .required)
        }
        let reply: Reply = { Response(status: 200, body: Bytes("\($0.peer)".utf8)) }
        let server = try serve(tls: tls("server"), reply)
        let impostor = try serve(tls: tls("other-name"), reply)
        let own = HTTPClient.ClientCertificate(
            certificateFile: files.path("client.crt"), keyFile: files.path("client.key"))
        let good = try client(authorities: files.path("ca.crt"), certificate: own)
        let url = try #require(HTTPURL("https://localhost:\(server.port)/"))
        let answer = try await good.send(HTTPRequest(.get, url))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("countersign.bank.example"))

        let unknown = try client(authorities: files.path("foreign-ca.crt"), certificate: own)
        let systems = try client(certificate: own)
        let wrongFile = try client(authorities: files.path("absent.crt"), certificate: own)
        let otherName = try #require(HTTPURL("https://localhost:\(impostor.port)/"))
        for (client, url) in [(unknown, url), (systems, url), (wrongFile, url), (good, otherName)] {
            await #expect(throws: TransportFailure.tls) {
                try await client.send(HTTPRequest(.get, url))
            }
        }
        let anonymous = try client(authorities: files.path("ca.crt"))
        await #expect(throws: TransportFailure.self) {
            try await anonymous.send(HTTPRequest(.get, url))
        }
        await server.stop(drain: .zero)
        await impostor.stop(drain: .zero)
    }

    // MARK: Helpers

    private func client(
        totalTimeout: Duration = .seconds(60), authorities: String? = nil,
        certificate: HTTPClient.ClientCertificate? = nil,
        plainHTTP: HTTPClient.PlainHTTP = .toLoopbackOnly, slots: Int = 1
    ) throws -> HTTPClient {
        try HTTPClient(
            .init(
                connectTimeout: .seconds(60), totalTimeout: totalTimeout,
                authoritiesFile: authorities, clientCertificate: certificate,
                plainHTTP: plainHTTP, slots: slots))
    }

    private func url(_ port: UInt16, _ target: String = "/") throws -> HTTPURL {
        try #require(HTTPURL("http://127.0.0.1:\(port)\(target)"))
    }

    private func serve(tls: TLSOptions? = nil, _ reply: @escaping Reply) throws -> HTTPServer {
        let server = try HTTPServer(
            options: ServerOptions(
                host: "127.0.0.1", port: 0, tls: tls, makeRequestID: { "made-here" }),
            handler: reply)
        server.start()
        return server
    }
}
