import Countersign
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// F13 of the fault tests: every time that decides is the database's.
@Suite struct `An instance whose clock is off by ten minutes` {
    @Test(arguments: ["+600s", "-600s"])
    func `decides and records by the database's, beside one whose clock is right`(
        clock: String
    ) async throws {
        try await withBank { bank in
            let right = try await bank.serve()
            let wrong = try await bank.serve([], clock: clock)
            let customer = try await bank.customer("c-1", at: wrong)
            let client = InsistentClient(Shift(wrong))
            var paid: [Acknowledged] = []
            for number in 0..<3 {
                paid.append(try await client.pay(from: customer, key: "k-\(number)"))
                paid.append(
                    try await InsistentClient(Shift(right)).pay(
                        from: customer, key: "right-\(number)"))
            }
            try await bank.auditLog(paid.map(\.evidence))
            // IDs, leaves and questions, all of it by the database's clock.
            let off = try await bank.count(
                """
                SELECT count(*) FROM countersign.evidence
                 WHERE id NOT BETWEEN countersign.uuid7_floor(recorded_at - interval '1 minute')
                                  AND countersign.uuid7_floor(recorded_at + interval '1 minute')
                    OR abs(extract(epoch FROM countersign.leaf_member(leaf, 'at')::timestamptz
                                            - recorded_at)) > 60
                """)
            #expect(off == 0)
            // A question lives as long, whichever instance asks it.
            let apart = try await bank.count(
                """
                SELECT extract(epoch FROM max(expires_at - created_at) - min(expires_at - created_at))
                  FROM countersign.challenge
                """)
            #expect(apart < 60)
            // The program faketime waits for the instance as for a child, and would leave it behind.
            let id = wrong.process.id
            let child = try String(
                contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8)
            for number in child.split(separator: " ") { kill(try #require(Int32(number)), SIGTERM) }
            _ = try await wrong.process.ending()
        }
    }
}
