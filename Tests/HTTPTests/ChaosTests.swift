import HTTP
import Testing

@Suite struct `Many clients at once` {
    @Test func `that do everything wrong leave the server as it was`() async throws {
        try await withServer { server in
            try await Chaos(port: server.port, rounds: 1000).run()
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
            try await expectAlive(server)
        }
    }

    @Test func `that do everything wrong before TLS leave the server as it was`() async throws {
        let certificates = try await TestCertificates.shared()
        try await withServer(tls: certificates.options(.optional)) { server in
            let port = server.port
            try await Chaos(port: port, rounds: 500).run()
            #expect(await eventually { server.connections == 0 })
            try await blocking {
                let client = try TLSClient(port: port, certificates)
                try client.send(TestServer.health)
                #expect(client.receive(until: "}").contains("200"))
            }
        }
    }

    @Test func `that are cut off by a stop leave nothing behind`() async throws {
        for _ in 0..<5 {
            let server = try TestServer.make()
            let port = server.port
            async let chaos: Void = Chaos(port: port, rounds: 300).run()
            try await Task.sleep(for: .milliseconds(30))
            await server.stop(drain: .milliseconds(20))
            #expect(server.connections == 0)
            try await chaos
            #expect(await eventually { server.inFlight == 0 })
        }
    }
}
