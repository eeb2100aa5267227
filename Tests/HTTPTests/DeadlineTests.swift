import Countersign
import HTTP
import Testing

@Suite struct `A client that takes its time` {
    /// Short enough to wait for; the idle time-out is long where a deadline is to be seen alone.
    private static func limits(idle: Duration = .seconds(60)) -> ServerLimits {
        var limits = ServerLimits()
        limits.readDeadline = .milliseconds(300)
        limits.writeDeadline = .milliseconds(300)
        limits.handshakeDeadline = .milliseconds(300)
        limits.idleTimeout = idle
        return limits
    }

    private func expectCutOff(
        limits: ServerLimits, tls: TLSOptions? = nil, first: Bytes, drip: Bytes = []
    ) async throws {
        try await withServer(limits: limits, tls: tls) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(first)
                #expect(client.dripUntilClosed(drip, every: 20_000))
            }
            #expect(await eventually { server.connections == 0 })
        }
    }

    @Test func `is cut off when it connects and says nothing`() async throws {
        try await expectCutOff(limits: Self.limits(idle: .milliseconds(200)), first: [])
    }

    @Test func `is cut off when it stops in the request line`() async throws {
        try await expectCutOff(limits: Self.limits(), first: Bytes("GET /hea".utf8))
    }

    @Test func `is cut off when it drips the head`() async throws {
        try await expectCutOff(
            limits: Self.limits(), first: Bytes("GET /healthz HTTP/1.1\r\nX: ".utf8),
            drip: Bytes("a".utf8))
    }

    @Test func `is cut off when it drips the body`() async throws {
        let head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n"
        try await expectCutOff(
            limits: Self.limits(), first: Bytes(head.utf8), drip: Bytes("a".utf8))
    }

    @Test func `is cut off when it drips a second request`() async throws {
        try await withServer(limits: Self.limits()) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.health + "GET /hea")
                #expect(try client.response().status == 200)
                #expect(client.dripUntilClosed(Bytes("a".utf8), every: 20_000))
            }
        }
    }

    @Test func `is cut off when it is idle after a request`() async throws {
        try await withServer(limits: Self.limits(idle: .milliseconds(200))) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.health)
                #expect(try client.response().status == 200)
                #expect(client.isClosed())
            }
        }
    }

    @Test func `is cut off when it does not read the answer`() async throws {
        try await withServer(limits: Self.limits()) { server in
            let port = server.port
            let client = try await blocking {
                let client = try RawClient(port: port)
                client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                return Held([client])
            }
            #expect(await eventually { server.connections == 1 })
            #expect(await eventually { server.connections == 0 })
            #expect(server.inFlight == 0)
            client.all[0].close()
        }
    }

    @Test func `keeps its connection as long as each request is in time`() async throws {
        try await withServer(limits: Self.limits()) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                for _ in 0..<8 {
                    client.send(TestServer.post(milliseconds: 20))
                    #expect(try client.response().status == 200)
                    RawClient.pause(microseconds: 60_000)
                }
            }
        }
    }

    @Test func `waits for a handler that is slower than every deadline`() async throws {
        try await withServer(limits: Self.limits(idle: .milliseconds(200))) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.post(milliseconds: 800))
                #expect(try client.response().status == 200)
            }
        }
    }

    @Test func `is cut off when it is silent in the TLS handshake`() async throws {
        try await expectCutOff(
            limits: Self.limits(), tls: try await TestCertificates.shared().options(.off), first: []
        )
    }

    @Test func `is cut off when it drips the TLS handshake`() async throws {
        // The header of a record of 512 bytes, and of a ClientHello in it.
        try await expectCutOff(
            limits: Self.limits(), tls: try await TestCertificates.shared().options(.off),
            first: [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03],
            drip: [0x41])
    }
}
