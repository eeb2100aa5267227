import Countersign
import HTTP
import TestSupport
import Testing

/// Answers that are made while they are sent.
@Suite struct `An answer in parts` {
    /// A server whose answer has so many parts of such a size; counts those that were made.
    private func with(
        parts count: Int, of size: Int, failsAt: Int? = nil,
        limits: ServerLimits = TestServer.patient,
        _ body: (HTTPServer, Recorder<Int>) async throws -> Void
    ) async throws {
        let made = Recorder<Int>()
        let handler: @Sendable (Request) async -> Response = { _ in
            let next = Recorder<Int>()
            return .streamed(contentType: "text/plain") { () async throws(StoreFailure) in
                let number = next.values.count
                if number == failsAt { throw .unavailable }
                guard number < count else { return nil }
                next.record(number)
                made.record(number)
                return Bytes(repeating: UInt8(truncatingIfNeeded: number), count: size)
            }
        }
        try await withServer(limits: limits, handler: handler) { server in
            try await body(server, made)
        }
    }

    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// What is in chunks (RFC 9112 §7.1), and whether the last one came.
    private func content(_ bytes: Bytes) -> (content: Bytes, isWhole: Bool) {
        var rest = bytes[...]
        var content: Bytes = []
        while let end = rest.firstRange(of: [0x0D, 0x0A]),
            let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16)
        {
            rest = rest[end.upperBound...]
            if size == 0 { return (content, true) }
            guard rest.count >= size + 2 else { break }
            content += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return (content, false)
    }

    private func head(and rest: Bytes) -> (head: String, body: Bytes) {
        guard let end = rest.firstRange(of: Bytes("\r\n\r\n".utf8)) else { return ("", []) }
        return (
            String(decoding: rest[..<end.lowerBound], as: UTF8.self), Bytes(rest[end.upperBound...])
        )
    }

    @Test func `arrives whole and in order, and its connection ends`() async throws {
        try await with(parts: 40, of: 10_000) { server, _ in
            let port = server.port
            let bytes = try await blocking {
                let client = try RawClient(port: port)
                client.send(Self.request)
                return try client.restUntilClosed()
            }
            let (head, body) = head(and: bytes)
            #expect(
                head.contains("Transfer-Encoding: chunked") && head.contains("Connection: close"))
            #expect(!head.contains("Content-Length"))
            let (content, isWhole) = content(body)
            #expect(isWhole)
            #expect(content == (0..<40).flatMap { Bytes(repeating: UInt8($0), count: 10_000) })
        }
    }

    @Test func `makes no part before the one before it has left`() async throws {
        // More than all buffers of a connection hold: whoever does not read stops the making.
        try await with(parts: 1000, of: 1 << 20) { server, made in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(Self.request)
                RawClient.pause(microseconds: 500_000)
                #expect(made.values.count < 32)
                client.reset()
            }
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
            try await expectAlive(server)
        }
    }

    @Test func `that cannot be made to its end is cut off before its end`() async throws {
        try await with(parts: 40, of: 100, failsAt: 3) { server, _ in
            let port = server.port
            let bytes = try await blocking {
                let client = try RawClient(port: port)
                client.send(Self.request)
                return try client.restUntilClosed()
            }
            let (content, isWhole) = content(head(and: bytes).body)
            #expect(!isWhole)
            #expect(content.count == 300)
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
        }
    }

    @Test func `that nobody reads ends at the deadline, and one that is read slowly does not`()
        async throws
    {
        var limits = TestServer.patient
        limits.writeDeadline = .milliseconds(400)
        try await with(parts: 60, of: 1 << 20, limits: limits) { server, made in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(Self.request)
                RawClient.pause(microseconds: 3_000_000)
                _ = client.isClosed()
            }
            #expect(made.values.count < 40)
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
        }
        // Six parts of a fifth of a second each take longer than one deadline.
        let next = Recorder<Int>()
        let handler: @Sendable (Request) async -> Response = { _ in
            .streamed(contentType: "text/plain") { () async throws(StoreFailure) in
                guard next.values.count < 6 else { return nil }
                next.record(0)
                try? await Task.sleep(for: .milliseconds(200))
                return [0x61]
            }
        }
        try await withServer(limits: limits, handler: handler) { server in
            let port = server.port
            let bytes = try await blocking {
                let client = try RawClient(port: port)
                client.send(Self.request)
                return try client.restUntilClosed()
            }
            #expect(content(head(and: bytes).body).isWhole)
        }
    }

    @Test func `ends with a client that goes away while a part is being made`() async throws {
        let isMade = Recorder<Int>()
        let handler: @Sendable (Request) async -> Response = { _ in
            .streamed(contentType: "text/plain") { () async throws(StoreFailure) in
                isMade.record(0)
                try? await Task.sleep(for: .milliseconds(300))
                return [0x61]
            }
        }
        try await withServer(handler: handler) { server in
            let port = server.port
            try await blocking {
                for round in 0..<10 {
                    let client = try RawClient(port: port)
                    client.send(Self.request)
                    RawClient.pause(microseconds: 20_000)
                    if round % 2 == 0 { client.reset() } else { client.close() }
                }
            }
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
            let count = isMade.values.count
            try await Task.sleep(for: .milliseconds(400))
            #expect(isMade.values.count == count)
        }
    }

    @Test func `has a head of its own for whoever asks for that`() async throws {
        try await with(parts: 3, of: 10) { server, made in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.response(toHead: true)
                #expect(answer.status == 200)
                #expect(answer.headers["content-length"] == nil)
            }
            #expect(made.values.isEmpty)
        }
    }
}
