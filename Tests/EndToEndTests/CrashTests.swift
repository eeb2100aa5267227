import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The real program, killed as by `kill -9`, started again, and asked again by its callers.
@Suite struct `After a crash of the service` {
    @Test(arguments: Failpoint.Place.allCases.filter { !$0.rawValue.hasPrefix("log.") })
    func `between two steps, nothing is lost and nothing happens twice`(
        place: Failpoint.Place
    ) async throws {
        try await withBank { bank in
            let first = try await bank.serve("--failpoint", place.rawValue)
            let shift = Shift(first)
            let client = InsistentClient(shift)
            let customer = try await bank.customer("c-1", at: first)
            let payment = try await client.pay("12.50", from: customer, key: "k-1")
            #expect(payment.wasCreatedBefore == (place == .createAfterCommit))
            if first.process.isRunning || place.rawValue.hasPrefix("delivery") {
                // The answer to the approval may have been quicker than the delivery.
                #expect(try await first.process.ending() == .killed(signal: SIGKILL))
                try await expect(bank, asAfter: place)
                _ = try await shift.instance(after: first)
            } else {
                #expect(payment.isReplay == (place == .approveAfterCommit))
            }
            #expect(await shift.restarts == 1)
            // The lease of the dead process runs on; its time is not waited for.
            try await bank.endLeases()
            try await bank.audit([payment])
            #expect(try await bank.count("SELECT count(*) FROM countersign.action") == 1)
            let again = try await client.insist { try await $0.action(payment.action) }
            #expect(again.text("action", "execution") == "executed")
        }
    }

    /// What the dead process of a delivery left.
    private func expect(_ bank: TestBank, asAfter place: Failpoint.Place) async throws {
        #expect(try bank.bookings().count == (place == .deliveryAfterClaim ? 0 : 1))
        let execution = try await bank.text("SELECT execution FROM countersign.action")
        #expect(execution == (place == .deliveryAfterSettle ? "executed" : "ready"))
    }

    @Test(arguments: [
        "approve.before-commit:7", "approve.after-commit:11", "create.after-commit:9",
        "delivery.after-push:5",
    ])
    func `under load, nothing is lost and nothing happens twice`(failpoint: String) async throws {
        try await withBank { bank in
            let first = try await bank.serve("--failpoint", failpoint)
            let customers = try await bank.customers(4, at: first)
            let shift = Shift(first)
            let progress = Progress()
            try await progress.rush(customers, payments: 4, through: [shift])
            if await shift.restarts == 0 { _ = try await shift.instance(after: first) }
            try await bank.endLeases()
            try await bank.audit(await progress.acknowledged)
            #expect(try await bank.count("SELECT count(*) FROM countersign.action") == 16)
        }
    }

    @Test func `at any moment and again, nothing is lost and nothing happens twice`() async throws {
        try await withBank { bank in
            let shift = Shift(try await bank.serve())
            let customers = try await bank.customers(6, at: await shift.instance)
            let progress = Progress()
            async let rush: Void = progress.rush(customers, payments: 6, through: [shift])
            for kills in 1...3 {
                try await progress.reaches(kills * 8)
                let victim = await shift.instance
                victim.process.signal(SIGKILL)
                _ = try await shift.instance(after: victim)
                try await bank.endLeases()
            }
            try await rush
            #expect(await shift.restarts == 3)
            try await bank.endLeases()
            try await bank.audit(await progress.acknowledged)
            #expect(try await bank.count("SELECT count(*) FROM countersign.action") == 36)
        }
    }
}

extension TestBank {
    /// Some customers, enrolled at once.
    func customers(_ count: Int, at instance: ServiceInstance) async throws -> [BankCustomer] {
        try await withThrowingTaskGroup(of: BankCustomer.self) { group in
            for number in 1...count {
                group.addTask { try await self.customer("c-\(number)", at: instance) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
