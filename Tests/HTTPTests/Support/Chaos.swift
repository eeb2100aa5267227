import Countersign
import HTTP
import Testing

/// Clients that do everything wrong at once, in an order that a seed decides.
struct Chaos: Sendable {
    let port: UInt16
    /// Connections in all.
    let rounds: Int
    var clients = 12

    func run() async throws {
        try await withThrowingTaskGroup { group in
            for client in 0..<clients {
                group.addTask {
                    try await blocking {
                        var random = SplitMix(seed: UInt64(client))
                        for _ in 0..<(rounds / clients) {
                            misbehave(&random)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func misbehave(_ random: inout SplitMix) {
        guard let client = try? RawClient(port: port, waitMilliseconds: 50) else { return }
        let post = TestServer.post(milliseconds: random.below(10))
        switch random.below(10) {
        case 0:
            client.send(post)
            _ = try? client.response()
        case 1:
            let count = 1 + random.below(8)
            client.send(String(repeating: post, count: count) + TestServer.health)
            RawClient.pause(microseconds: UInt32(random.below(20_000)))
        case 2: client.send(Bytes(post.utf8.dropLast(1 + random.below(30))))
        case 3: client.send(Bytes(post.utf8.prefix(1 + random.below(60))))
        case 4:
            client.send(post)
            RawClient.pause(microseconds: UInt32(random.below(10_000)))
        case 5:
            let garbage = (0..<(1 + random.below(300))).map { _ in UInt8(random.below(256)) }
            client.send(garbage + Bytes("\r\n\r\n".utf8))
            _ = try? client.response()
        case 6:
            client.send(
                String(repeating: TestServer.health, count: 3)
                    + "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + post)
            _ = try? client.restUntilClosed()
        case 7:
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
            client.send(Bytes(repeating: 0x78, count: random.below(200_000)))
        case 8:
            client.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                    + (random.below(2) == 0 ? "0\r\n\r\n" : "zz\r\n"))
            _ = try? client.response()
        default:
            client.send("GET /medium HTTP/1.1\r\nHost: a\r\n\r\n")
            client.finishSending()
        }
        if random.below(2) == 0 { client.reset() }
    }
}

/// A small generator, so that a run can be repeated.
struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
