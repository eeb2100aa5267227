import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// F10 of the fault tests. The lead spares instances each other's work; here three real processes sequence without
/// it, and each is killed at every place of a tick.
@Suite struct `The log of instances that all sequence at once` {
    /// How often each instance is killed at each place; more with `COUNTERSIGN_LOG_KILLS`.
    private static let rounds =
        ProcessInfo.processInfo.environment["COUNTERSIGN_LOG_KILLS"].flatMap { Int($0) } ?? 1
    private static let places = Failpoint.Place.allCases.filter(\.isOfLog)

    @Test func `is one, wherever they are killed`() async throws {
        #expect(Self.places.count >= 5)
        try await withBank { bank in
            let first = try await bank.serve()
            let customers = try await bank.customers(3, at: first)
            try await bank.auditLog([])
            _ = try await first.process.ended()
            let shifts = try await Array(0..<3).asyncMap { try await begin(bank, $0) }
            // Nobody leads: what keeps the log one is not the lock.
            let leads = """
                SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7003 AND database =
                    (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            #expect(try await bank.count(leads) == 0)
            let notes = PublishedNotes()
            let collecting = Task { await notes.collect(from: shifts, and: bank) }
            let paid = try await withThrowingTaskGroup { group in
                for (customer, shift) in zip(customers, shifts) {
                    group.addTask { try await pay(customer, until: shift) }
                }
                return try await group.reduce(into: [Acknowledged]()) { $0 += $1 }
            }
            #expect(try await bank.count(leads) == 0)
            for shift in shifts { _ = try await shift.instance.process.ended() }
            collecting.cancel()
            await collecting.value
            #expect(await notes.found.count > 1, "there are notes to compare")
            let last = try await bank.serve()
            try await bank.auditLog(
                paid.map(\.evidence), notes: await notes.found, spans: paid.compactMap(\.span))
            try await bank.expectMirror()
            _ = try await last.process.ended()
            print(
                "killed \(3 * Self.places.count * Self.rounds) times without the lead: "
                    + "\(paid.count) approvals, \(await notes.found.count) published notes, a record "
                    + "waited for its position for \(await notes.longestWaitMilliseconds) ms at most"
            )
        }
    }

    /// The flags of the instances of one shift, in turn: each dies at another place, and the last does not. The
    /// shifts begin at different places.
    private func flags(_ index: Int) -> [[String]] {
        let places = (0..<Self.places.count * Self.rounds).map {
            Self.places[($0 + 2 * index) % Self.places.count]
        }
        return places.map { ["--failpoint", "\($0.rawValue):2:unled"] }
            + [["--failpoint", "log.after-publish:1000000:unled"]]
    }

    private func begin(_ bank: TestBank, _ index: Int) async throws -> Shift {
        var flags = flags(index)
        return Shift(try await bank.serve(flags.removeFirst()), then: flags)
    }

    /// Pays until the instances of a shift were killed at all their places.
    private func pay(_ customer: BankCustomer, until shift: Shift) async throws -> [Acknowledged] {
        let client = InsistentClient(shift)
        var paid: [Acknowledged] = []
        while await shift.restarts < Self.places.count * Self.rounds {
            paid.append(try await client.pay(from: customer, key: "\(customer.id)-\(paid.count)"))
        }
        return paid
    }
}

/// Everything that was served as the newest checkpoint, by any instance and in the mirror.
private actor PublishedNotes {
    private(set) var found: Set<Bytes> = []
    /// For how long a record was seen to wait for its position.
    private(set) var longestWaitMilliseconds = 0

    private static let wait = """
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - recorded_at)) * 1000, 0)
          FROM countersign.audit_unsequenced
        """

    /// Looks again and again until the task is cancelled; an instance that is dead serves nothing.
    func collect(from shifts: [Shift], and bank: TestBank) async {
        while !Task.isCancelled {
            for shift in shifts {
                let answer = try? await shift.instance.auditor().get("/log/checkpoint")
                if let answer, answer.status == 200 { found.insert(answer.body) }
            }
            if let mirrored = bank.mirrored() { found.insert(mirrored) }
            if let wait = try? await bank.count(Self.wait) {
                longestWaitMilliseconds = max(longestWaitMilliseconds, wait)
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
