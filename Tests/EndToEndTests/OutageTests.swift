import Countersign
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

@Suite struct `When Postgres or core banking fails` {
    /// A server of its own, since it is killed; it waits for the disk as in production.
    @Test func `Postgres killed under load loses no acknowledged approval`() async throws {
        try await withOwnPostgres { server in
            let superuser = try ConnectionInfo(server.url)
            try await TestBank.open(on: superuser) { bank in
                let instance = try await bank.serve()
                let customers = try await bank.customers(6, at: instance)
                let progress = Progress()
                async let rush: Void = progress.rush(
                    customers, payments: 8, through: [Shift(instance)])
                for kills in 1...2 {
                    try await progress.reaches(kills * 12)
                    try await kill(server)
                    _ = try await server.start(.durable)
                }
                try await rush
                #expect(instance.process.isRunning)
                try await bank.endLeases()
                try await bank.audit(await progress.acknowledged)
                #expect(try await bank.count("SELECT count(*) FROM countersign.action") == 48)
            }
        }
    }

    @Test func `two instances deliver each order once`() async throws {
        try await withBank { bank in
            let instances = [try await bank.serve(), try await bank.serve()]
            let customers = try await bank.customers(6, at: instances[0])
            let progress = Progress()
            try await progress.rush(customers, payments: 5, through: instances.map { Shift($0) })
            try await bank.audit(await progress.acknowledged)
            #expect(try await bank.count("SELECT count(*) FROM countersign.receipt") == 30)
            // Where nothing failed, no lease was taken from the other one, and nothing sent twice. On a
            // busy machine something may fail.
            let failures = try await instances.asyncMap { try await $0.failedDeliveries() }
            let attempts = try await bank.count(
                "SELECT max(attempt) FROM countersign.execution_order")
            #expect(attempts == 1 || failures.reduce(0, +) > 0)
        }
    }

    /// The first order meets each fault in turn, or several orders share them.
    @Test(arguments: [1, 3])
    func `core banking that fails before, after and in the middle books once`(
        count: Int
    ) async throws {
        try await withBank(faults: "fail-before,fail-after,delay=300,fail-after,die") { bank in
            let shift = Shift(try await bank.serve())
            let customers = try await bank.customers(count, at: await shift.instance)
            let progress = Progress()
            try await progress.rush(customers, payments: 2, through: [shift])
            // Pauses between attempts are at least a second; they are not what is tested.
            let ending = try await hurrying(bank) { try await bank.core.ending() }
            #expect(ending == .killed(signal: SIGKILL))
            try await bank.core.start()
            try await hurrying(bank) { try await bank.settleOrders() }
            try await bank.audit(await progress.acknowledged)
        }
    }

    /// The slow worker's answer comes when the other one has long settled.
    @Test func `a worker that was slower than its lease changes nothing`() async throws {
        try await withBank(faults: "delay=4000") { bank in
            let slow = try await bank.serve()
            let customer = try await bank.customer("c-1", at: slow)
            let payment = try await InsistentClient(Shift(slow)).pay(from: customer, key: "k-1")
            try await until("the order is booked") { try bank.bookings().count == 1 }
            let quick = try await bank.serve()
            try await bank.endLeases()
            try await bank.settleOrders()
            let receipt = "SELECT evidence_id FROM countersign.receipt"
            let evidence = try await bank.text(receipt)
            slow.process.signal(SIGTERM)
            // It ends only when it has tried to settle what it sent.
            #expect(try await slow.process.ending() == .exited(0))
            #expect(try await bank.text(receipt) == evidence)
            try await bank.audit([payment])
            #expect(quick.process.isRunning)
        }
    }

    /// Does `body`, while pauses and leases end at once.
    private func hurrying<Value: Sendable>(
        _ bank: TestBank, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    try await bank.endPauses()
                    await pause(.milliseconds(50))
                }
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else { throw CancellationError() }
            return value
        }
    }
}

extension TestBank {
    /// Ends every pause between two attempts, and no lease.
    fileprivate func endPauses() async throws {
        try await sql(
            """
            UPDATE countersign.execution_order SET available_at = clock_timestamp()
             WHERE settled_at IS NULL AND attempt > 0 AND available_at > clock_timestamp()
            """)
    }
}

extension ServiceInstance {
    /// How many attempts at a delivery have settled nothing, as the metrics tell.
    fileprivate func failedDeliveries() async throws -> Int {
        let text = String(decoding: try await auditor().get("/metrics").body, as: UTF8.self)
        // A series that has counted nothing is not there.
        let counts = text.matches(
            of: /deliveries_total\{outcome="(?:retry|queue_failed|lease_lost)"\} ([0-9]+)/)
        return counts.reduce(0) { $0 + (Int($1.1) ?? 0) }
    }
}
