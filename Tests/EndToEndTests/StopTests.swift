import Countersign
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

@Suite struct `A service that is asked to stop` {
    @Test func `answers what is under way, takes nothing new and exits with 0`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customers = try await bank.customers(3, at: instance)
            let approvals = try await customers.asyncMap { customer in
                let created = try await instance.backend().create(customer.transfer())
                let question = try #require(created.question)
                return (question, try customer.approval(question))
            }
            let lock = CustomersLock()
            async let held: Void = lock.hold(bank)
            try await lock.isHeld()
            async let answers = approvals.asyncMapConcurrently { question, body in
                try await instance.backend().approve(question.action, body)
            }
            try await until("three approvals wait for the customer") {
                try await bank.count(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                       AND wait_event_type = 'Lock' AND usename = 'countersign_service'
                    """) >= 3
            }
            instance.process.signal(SIGTERM)
            try await instance.process.logged("service.draining")
            try await until("new connections are refused") {
                (try? await HttpMessage("GET", "/healthz").send(to: instance.port)) == nil
            }
            lock.release()
            try await held
            #expect(try await answers.map(\.status) == [200, 200, 200])
            #expect(try await instance.process.ending() == .exited(0))
            #expect(instance.process.hasLogged("service.stopped"))
            // The next instance has everything that was acknowledged.
            _ = try await bank.serve()
            try await bank.settleOrders()
            #expect(try bank.bookings().count == 3)
        }
    }

    @Test func `settles the delivery that is under way`() async throws {
        try await withBank(faults: "delay=1500") { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let payment = try await InsistentClient(Shift(instance)).pay(from: customer, key: "k-1")
            try await until("the order is booked") { try bank.bookings().count == 1 }
            instance.process.signal(SIGTERM)
            #expect(try await instance.process.ending() == .exited(0))
            try await bank.audit([payment], logIsKept: false)
        }
    }

    @Test func `at once when nothing is under way, also by SIGINT`() async throws {
        try await withBank { bank in
            for signal in [SIGTERM, SIGINT] {
                let instance = try await bank.serve()
                instance.process.signal(signal)
                #expect(try await instance.process.ending() == .exited(0))
            }
        }
    }

    @Test func `does not start with a failpoint outside development`() async throws {
        try await withBank { bank in
            let (ending, output) = try await bank.run(
                ["serve", "--failpoint", "approve.after-load", "--development=false"],
                as: "countersign_service")
            #expect(ending == .exited(64))
            #expect(output.contains("failpoint is for development only"))
        }
    }
}

/// Holds every customer's row, so that whatever writes has to wait.
private final class CustomersLock: @unchecked Sendable {
    // Sendable: the flags are touched only under the lock.
    private let lock = NSLock()
    private var held = false
    private var released = false

    func hold(_ bank: TestBank) async throws {
        try await bank.onConnection { [self] connection throws(PostgresError) in
            try connection.transaction { connection throws(PostgresError) in
                try connection.run(script: "SELECT FROM countersign.customer FOR UPDATE")
                lock.withLock { held = true }
                while !lock.withLock({ released }) { usleep(5000) }
            }
        }
    }

    func isHeld() async throws {
        try await until("the customers are locked") { lock.withLock { held } }
    }

    func release() { lock.withLock { released = true } }
}

extension Array where Element: Sendable {
    /// One after another.
    func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }

    /// All at once, in the order of the elements.
    func asyncMapConcurrently<Value: Sendable>(
        _ body: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            for (index, element) in enumerated() {
                group.addTask { (index, try await body(element)) }
            }
            var values: [(Int, Value)] = []
            for try await value in group { values.append(value) }
            return values.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
