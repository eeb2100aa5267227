import Countersign
import Glibc
import HTTP
import Testing

/// These run in processes of their own, since they count or limit what a whole process holds.
///
/// One after another: while such a process runs, the testing library blocks a thread of the pool, and
/// the other tests' handlers need one.
@Suite(.serialized) struct `File descriptors` {
    @Test func `that run out cost no processor time, and service returns`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer.make()
            let port = server.port
            // So that everything that is opened once is open, such as the timer of Swift's tasks.
            try await expectAlive(server)
            try await Task.sleep(for: .milliseconds(1))
            try OwnProcess.limitDescriptors(to: OwnProcess.openDescriptors + 40)
            // On one thread from beginning to end: Swift's own timers may need a descriptor too.
            try await blocking {
                let clients = try Self.fillUp(port)
                let before = OwnProcess.processorMicroseconds
                RawClient.pause(microseconds: 1_500_000)
                let used = OwnProcess.processorMicroseconds - before
                clients.closeAll()
                try OwnProcess.require(used < 300_000, "spun for \(used) µs")
            }
            try await expectAlive(server)
            await server.stop(drain: .seconds(1))
        }
    }

    /// Connects until nothing is left for the server to accept with.
    private static func fillUp(_ port: UInt16) throws -> Clients {
        let clients = Clients()
        while let client = try? RawClient(port: port) {
            client.send(TestServer.health)
            clients.add(client)
        }
        try OwnProcess.require(clients.count >= 20, "only \(clients.count) clients")
        return clients
    }

    @Test func `are kept free for the rest of the process`() async {
        await #expect(processExitsWith: .success) {
            let reserved = ServerLimits.descriptorsReserved
            try OwnProcess.limitDescriptors(to: reserved + 10)
            let server = try TestServer.make()
            let port = server.port
            try await blocking {
                let clients = Clients()
                for _ in 0..<20 { clients.add(try RawClient(port: port)) }
                RawClient.pause(microseconds: 300_000)
                try OwnProcess.require(server.connections == 10, "\(server.connections)")
            }
            await server.stop(drain: .zero)
        }
    }

    @Test func `are back at base after chaos, with nothing left in flight`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer.make()
            // A first round, so that everything that is opened once is open.
            try await Chaos(port: server.port, rounds: 100).run()
            _ = await eventually { server.connections == 0 }
            let base = OwnProcess.openDescriptors
            try await Chaos(port: server.port, rounds: 1500).run()
            try OwnProcess.require(
                await eventually { server.connections == 0 && server.inFlight == 0 },
                "\(server.connections) connections, \(server.inFlight) in flight")
            try OwnProcess.require(
                await eventually { OwnProcess.openDescriptors <= base },
                "\(OwnProcess.openDescriptors) descriptors, \(base) before")
            try await expectAlive(server)
            await server.stop(drain: .seconds(1))
            try OwnProcess.require(
                OwnProcess.openDescriptors < base, "the server left something open")
        }
    }

    @Test func `for ten thousand idle connections do not keep others from being served`() async {
        await #expect(processExitsWith: .success) {
            // Both ends are in this process.
            let wanted = 10_000
            let possible = (OwnProcess.raiseDescriptorLimit(to: 2 * wanted + 1000) - 500) / 2
            let count = min(wanted, possible)
            if count < wanted { print("idle connections: only \(count) of \(wanted) are possible") }
            let server = try TestServer.make()
            let port = server.port
            let clients = try await blocking {
                let clients = Clients()
                for _ in 0..<count {
                    let client = try RawClient(port: port)
                    client.send(TestServer.health)
                    try OwnProcess.require(try client.response().status == 200, "not answered")
                    clients.add(client)
                }
                return clients
            }
            try OwnProcess.require(server.connections == count, "\(server.connections) connections")
            try await expectAlive(server)
            clients.closeAll()
            try OwnProcess.require(await eventually { server.connections == 0 }, "not closed")
            await server.stop(drain: .seconds(1))
        }
    }
}

/// Clients that are all to stay open for a while.
final class Clients: @unchecked Sendable {
    // Sendable: used by one step of a test after another.
    private var all: [RawClient] = []

    var count: Int { all.count }

    func add(_ client: RawClient) { all.append(client) }

    func closeAll() { all = [] }
}

/// What this process holds and uses.
enum OwnProcess {
    struct Unmet: Error { let what: String }

    /// Like `#expect`, but ends an exit test with a failure.
    static func require(_ condition: Bool, _ what: String) throws {
        if !condition { throw Unmet(what: what) }
    }

    static var openDescriptors: Int {
        (0..<40_000).count { fcntl(Int32($0), F_GETFD) != -1 }
    }

    static var processorMicroseconds: Int {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return (user.tv_sec + system.tv_sec) * 1_000_000 + Int(user.tv_usec + system.tv_usec)
    }

    static func limitDescriptors(to count: Int) throws {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = rlim_t(count)
        let result = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try require(result == 0, "no limit")
    }

    /// The limit that was reached.
    static func raiseDescriptorLimit(to count: Int) -> Int {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let hard = max(limit.rlim_max, rlim_t(count))
        for wanted in [rlimit(rlim_cur: rlim_t(count), rlim_max: hard), limit] {
            var wanted = wanted
            wanted.rlim_cur = min(rlim_t(count), wanted.rlim_max)
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &wanted) == 0 {
                return Int(wanted.rlim_cur)
            }
        }
        return Int(limit.rlim_cur)
    }
}
