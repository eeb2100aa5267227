import Countersign
import HTTP
import Testing

@Suite struct `Stopping` {
    @Test func `lets a request finish, says close, and refuses new clients`() async throws {
        let server = try TestServer.make()
        let port = server.port
        let client = try await blocking {
            let client = try RawClient(port: port)
            client.send(TestServer.post(milliseconds: 200) + TestServer.health)
            return Held([client])
        }
        #expect(await eventually { server.inFlight == 1 })
        async let stopped: Void = server.stop(drain: .seconds(5))
        #expect(await refusesConnections(port))
        try await blocking {
            let response = try client.all[0].response()
            #expect(response.status == 200)
            #expect(response.headers["connection"] == "close")
            // The request that followed in the pipeline is not begun.
            #expect(try client.all[0].restUntilClosed().isEmpty)
        }
        await stopped
        #expect(server.connections == 0)
        #expect(server.inFlight == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `closes idle connections at once`() async throws {
        let server = try TestServer.make(limits: TestServer.patient)
        let port = server.port
        let client = try await blocking {
            let client = try RawClient(port: port)
            client.send(TestServer.health)
            #expect(try client.response().status == 200)
            return Held([client])
        }
        await server.stop(drain: .seconds(3600))
        try await blocking { #expect(client.all[0].isClosed()) }
    }

    @Test func `cuts off what is not finished when the time is over`() async throws {
        let gate = Gate()
        let server = try TestServer.make(handler: { _ in
            await gate.wait()
            return Response(status: 200)
        })
        let port = server.port
        let client = try await blocking {
            let client = try RawClient(port: port)
            client.send(TestServer.health)
            return Held([client])
        }
        #expect(await eventually { server.inFlight == 1 })
        await server.stop(drain: .milliseconds(50))
        #expect(server.connections == 0)
        try await blocking { #expect(client.all[0].isClosed()) }
        // The handler answers into nothing.
        await gate.open()
        #expect(await eventually { server.inFlight == 0 })
    }

    @Test func `waits for a handler whose client is gone`() async throws {
        let gate = Gate()
        let server = try TestServer.make(handler: { _ in
            await gate.wait()
            return Response(status: 200)
        })
        let port = server.port
        try await blocking {
            let client = try RawClient(port: port)
            client.send(TestServer.health)
            client.reset()
        }
        #expect(await eventually { server.inFlight == 1 })
        async let stopped: Void = server.stop(drain: .seconds(20))
        try await Task.sleep(for: .milliseconds(50))
        #expect(server.inFlight == 1)
        await gate.open()
        await stopped
        #expect(server.inFlight == 0)
    }

    @Test func `waits for half a request no longer than for its time`() async throws {
        // Only the drain may cut this client off, however long a busy machine keeps the test.
        var limits = ServerLimits()
        limits.readDeadline = .seconds(600)
        let server = try TestServer.make(limits: limits)
        let port = server.port
        let client = try await blocking {
            let client = try RawClient(port: port)
            client.send("GET /hea")
            return Held([client])
        }
        #expect(await eventually { server.connections == 1 })
        await server.stop(drain: .milliseconds(100))
        try await blocking { #expect(client.all[0].isClosed()) }
    }

    @Test func `may be asked for many times, and before the start`() async throws {
        let server = try TestServer.make()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { await server.stop(drain: .seconds(1)) } }
        }
        await server.stop(drain: .zero)
        let options = ServerOptions(host: "127.0.0.1", port: 0, tls: nil, makeRequestID: { "a" })
        let never = try HTTPServer(options: options) { _ in Response(status: 200) }
        await never.stop(drain: .zero)
        #expect(await refusesConnections(never.port))
    }

    @Test func `happens by itself when the server is dropped`() async throws {
        let port = try TestServer.make().port
        #expect(await refusesConnections(port))
    }

    private func refusesConnections(_ port: UInt16) async -> Bool {
        await eventually { (try? RawClient(port: port)) == nil }
    }
}

/// Holds handlers back until it is opened.
private actor Gate {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isOpen = false

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
