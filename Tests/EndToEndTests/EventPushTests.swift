import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The running service sends its feed to the bank.
@Suite struct `The feed of events that is sent` {
    private func flags(_ bank: TestBank) async -> [String] {
        ["--events-url", "http://127.0.0.1:\(await bank.core.port)/events"]
    }

    /// Makes events at the given instance, about three of each customer.
    private func makeEvents(
        _ customers: Range<Int>, at instance: ServiceInstance
    ) async throws {
        for number in customers {
            let customer = try await instance.bank.customer("c-\(number)", at: instance)
            let created = try await instance.backend().create(
                BankCustomer.contactChange(of: customer.id))
            guard let question = created.question else { throw Unexpected("not created") }
            let body = try customer.approval(question)
            _ = try await instance.backend().approve(question.action, body)
        }
    }

    /// All events, as the bank could have read them itself.
    private func feed(_ instance: ServiceInstance) async throws -> [JSON] {
        var events: [JSON] = []
        var cursor = "0"
        while true {
            let page = try await instance.backend().api.get(
                "/v1/events?limit=100&after=\(cursor)")
            guard case .array(let found)? = page.json["events"] else {
                throw Unexpected("the feed was answered \(page.status)")
            }
            if found.isEmpty { return events }
            events += found
            cursor = page.text("next_cursor") ?? ""
        }
    }

    @Test func `arrives whole and in order, whatever fails on the way and whoever sends`()
        async throws
    {
        try await withBank { bank in
            _ = try await bank.core.ending(after: SIGKILL)
            try await bank.core.start(
                eventFaults: "fail-before,fail-after,none,fail-after,none,die")
            let flags = await flags(bank)
            let first = try await bank.serve(flags)
            let second = try await bank.serve(flags)
            try await hurrying(bank) {
                try await makeEvents(0..<4, at: first)
                // An instance dies while it may hold the lease.
                first.process.signal(SIGKILL)
                #expect(try await first.process.ending() == .killed(signal: SIGKILL))
                try await makeEvents(4..<8, at: second)
                // The receiver dies in the middle of a batch, or is told to.
                if await bank.core.process?.isRunning == true {
                    _ = try await bank.core.ending(after: SIGKILL)
                }
                try await makeEvents(8..<10, at: second)
                try await bank.core.start()
                let third = try await bank.serve(flags)
                try await makeEvents(10..<12, at: third)
                let told = try await feed(third)
                #expect(told.count >= 24)
                try await until("all events have arrived") {
                    bank.receivedEvents().count == told.count
                }
            }
            // The same events, in the same words, in the same order, each once.
            #expect(bank.receivedEvents() == (try await feed(second)))
            let auditor = try second.auditor()
            try await until("the metrics say that none waits") {
                let metrics = String(
                    decoding: try await auditor.get("/metrics").body, as: UTF8.self)
                return metrics.contains("countersign_events_waiting 0\n")
                    && metrics.contains("countersign_event_push_lag_seconds 0\n")
            }
            #expect(!second.process.text.contains("c-1"))
        }
    }

    @Test func `waits for a receiver that does not answer, and tells how much`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve(
                ["--events-url", "http://127.0.0.1:9/events"])
            try await makeEvents(0..<1, at: instance)
            let auditor = try instance.auditor()
            try await until("the metrics tell of it") {
                let metrics = String(
                    decoding: try await auditor.get("/metrics").body, as: UTF8.self)
                return metrics.contains(
                    #"countersign_event_pushes_unsettled_total{cause="connection_failed"}"#)
                    && metrics.contains(#"countersign_event_pushes_total{outcome="retry"}"#)
                    && !metrics.contains("countersign_events_waiting 0\n")
            }
            #expect(instance.process.text.contains("events.retried"))
            // Orders go their own way.
            try await bank.settleOrders()
        }
    }

    /// Does `body`, while pauses and leases of the feed end at once.
    private func hurrying(
        _ bank: TestBank, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return true
            }
            group.addTask {
                while !Task.isCancelled {
                    // A lease is left alone but for that of somebody who is dead: see the test's words.
                    try await bank.sql(
                        """
                        UPDATE countersign.event_push SET next_at = least(next_at, clock_timestamp()),
                               lease_until = CASE WHEN lease_until IS NOT NULL THEN
                                   least(lease_until, clock_timestamp() + interval '3 s') END
                        """)
                    await pause(.milliseconds(100))
                }
                return false
            }
            defer { group.cancelAll() }
            while let isDone = try await group.next(), !isDone {}
        }
    }
}

extension TestBank {
    /// The events in core banking's books, in the order of its journal.
    func receivedEvents() -> [JSON] { ReceivedEvents.all(inJournal: folder + "/journal") }
}
