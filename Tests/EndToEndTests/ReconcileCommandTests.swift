import Countersign
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// `countersign evidence reconcile` against lists that core banking could give.
@Suite struct `The command that compares with core banking` {
    private static let list = """
        SELECT string_agg(json_build_object('action_id', r.action_id, 'evidence_id', d.evidence_id,
            'reference', r.reference, 'status', r.status, 'amount', a.amount, 'currency', a.currency)::text,
            E'\\n' ORDER BY r.action_id)
          FROM countersign.receipt r JOIN countersign.decision d USING (action_id)
          JOIN countersign.action a ON a.id = r.action_id
        """

    @Test func `succeeds for the same list, and fails with what differs`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let client = InsistentClient(Shift(instance))
            let paid = [
                try await client.pay(from: customer, key: "k-1"),
                try await client.pay("2.50", from: customer, key: "k-2"),
            ]
            try await bank.settleOrders()
            let lines = try #require(try await bank.text(Self.list)).split(separator: "\n")
            #expect(lines.count == 2)
            let file = bank.folder + "/bookings"
            func reconcile(_ lines: [Substring]) async throws -> (ServiceProcess.Ending, String) {
                try TestBank.write(lines.map { $0 + "\n" }.joined(), to: file)
                return try await bank.run(
                    ["evidence", "reconcile", file], as: "countersign_auditor")
            }
            let (same, said) = try await reconcile(lines)
            #expect(same == .exited(0), "\(said)")
            #expect(
                said.contains("2 executed here, 2 the same there, 0 differences"), "\(said)")
            let (missing, told) = try await reconcile(Array(lines.dropLast()))
            let last = try #require(paid.map(\.action).max())
            #expect(missing == .exited(1) && told.contains("only here   \(last)"), "\(told)")
            let (other, why) = try await reconcile([
                lines[0], Substring(lines[1].replacing("executed", with: "refused")),
            ])
            #expect(other == .exited(1) && why.contains("\(last)"), "\(why)")
            #expect(
                try await bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'evidence.read'") == 3)
        }
    }
}
