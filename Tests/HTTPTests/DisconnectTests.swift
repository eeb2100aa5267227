import Countersign
import HTTP
import Testing

@Suite struct `A client that goes away` {
    @Test(arguments: [false, true])
    func `during the handler takes nothing with it`(_ resets: Bool) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                for _ in 0..<50 {
                    let client = try RawClient(port: port)
                    client.send(TestServer.post(milliseconds: 50))
                    if resets { client.reset() } else { client.close() }
                }
            }
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
            try await expectAlive(server)
        }
    }

    @Test func `in the middle of a request takes nothing with it`() async throws {
        let text = TestServer.post()
        try await withServer { server in
            let port = server.port
            try await blocking {
                for length in stride(from: 1, to: text.utf8.count, by: 7) {
                    let client = try RawClient(port: port)
                    client.send(Bytes(text.utf8.prefix(length)))
                    if length % 2 == 0 { client.reset() }
                }
            }
            #expect(await eventually { server.connections == 0 })
            try await expectAlive(server)
        }
    }

    @Test func `with requests in the pipeline takes nothing with it`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                for round in 0..<20 {
                    let client = try RawClient(port: port)
                    client.send(
                        String(repeating: TestServer.post(milliseconds: 5), count: 1 + round % 8))
                    RawClient.pause(microseconds: 3000)
                    client.reset()
                }
            }
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
            try await expectAlive(server)
        }
    }

    @Test func `in one direction only still gets its answer`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.post(milliseconds: 30))
                client.finishSending()
                #expect(try client.response().status == 200)
                #expect(client.isClosed())
            }
        }
    }

    @Test func `while a large answer is sent ends the exchange`() async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                for _ in 0..<5 {
                    let client = try RawClient(port: port)
                    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                    RawClient.pause(microseconds: 5000)
                    client.reset()
                }
            }
            #expect(await eventually { server.connections == 0 && server.inFlight == 0 })
        }
    }
}

func expectAlive(_ server: HTTPServer) async throws {
    let port = server.port
    try await blocking {
        let client = try RawClient(port: port)
        client.send(TestServer.health)
        #expect(try client.response().status == 200)
    }
}
