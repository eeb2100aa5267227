import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The commands that show evidence.
@Suite struct `Whoever shows evidence by a command` {
    @Test func `is told of in evidence, before anything is shown`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let paid = try await InsistentClient(Shift(instance)).pay(from: customer, key: "k-1")
            func readings() async throws -> Int {
                try await bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'evidence.read'")
            }
            #expect(try await readings() == 0)
            let list = try await bank.run(
                ["evidence", "list", "--customer", "c-1"], as: "countersign_auditor")
            #expect(list.0 == .exited(0) && list.1.contains(paid.evidence), "\(list.1)")
            #expect(try await readings() == 1)
            let shown = try await bank.run(
                ["evidence", "show", paid.evidence], as: "countersign_auditor")
            #expect(shown.0 == .exited(0) && shown.1.contains("action.approved"), "\(shown.1)")
            #expect(try await readings() == 2)
            // What there is not is not shown.
            let none = try await bank.run(
                ["evidence", "show", "00000000-0000-7000-8000-000000000000"],
                as: "countersign_auditor")
            #expect(none.0 == .exited(1), "\(none.1)")
            #expect(try await readings() == 2)
        }
    }
}
