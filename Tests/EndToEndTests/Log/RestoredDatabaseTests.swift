import Countersign
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// F15 of the fault tests: what an operator restores is found out before anything is signed on it.
@Suite(.onAThreadOfItsOwn) struct `A database that is another than it was` {
    @Test func `is not signed on when it is yesterday's base backup, since the mirror has more`()
        async throws
    {
        try await withOwnPostgres { server in
            try await TestBank.open(on: try ConnectionInfo(server.url)) { bank in
                let first = try await bank.serve()
                let customer = try await bank.customer("c-1", at: first)
                try await pay(customer, "k-1", at: first)
                _ = try await first.process.ended()
                let copy = server.places.base + "/yesterday"
                try await server.stop()
                try await runProgram(["/bin/cp", "-a", server.places.data, copy])
                _ = try await server.start(.durable)
                let second = try await bank.serve()
                for number in 2...4 { try await pay(customer, "k-\(number)", at: second) }
                try await bank.auditLog([])
                try await bank.expectMirror()
                _ = try await second.process.ended()
                let held = bank.mirrored()
                let counter = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
                let before = try await bank.count(counter)
                try await server.stop()
                try server.places.discard(server.places.data)
                try server.places.rename(copy, to: server.places.data)
                _ = try await server.start(.durable)
                // The counter of transactions is that of yesterday, too.
                #expect(try await bank.count(counter) < before)
                let third = try await bank.serve()
                try await expectRefusal(third, "mirror")
                let later = try await pay(customer, "k-5", at: third)
                try await expectPaused(third)
                let positions = """
                    SELECT count(*) FROM countersign.log_leaf WHERE evidence_id = '\(later)'
                    """
                #expect(try await bank.count(positions) == 0)
                #expect(bank.mirrored() == held)
            }
        }
    }

    @Test func `is not signed on when it is a dump, whose transactions are counted anew`()
        async throws
    {
        try await withOwnPostgres { old in
            try await withOwnPostgres(isMigrated: false) { new in
                try await TestBank.open(on: try ConnectionInfo(old.url)) { bank in
                    // As many transactions as restoring the dump will not take.
                    try await count(5000, at: old.url)
                    let first = try await bank.serve()
                    let customer = try await bank.customer("c-1", at: first)
                    try await pay(customer, "k-1", at: first)
                    try await bank.auditLog([])
                    try await bank.expectMirror()
                    _ = try await first.process.ended()
                    let held = bank.mirrored()
                    try await restore(old.url, to: new.url, in: bank.folder)
                    let service = try ConnectionInfo(new.url)
                        .replacing(["user": "countersign_service"])
                    let second = try await bank.serve("--database-url", service.text)
                    // Approvals go on, and are what there would be to sign.
                    try await pay(customer, "k-2", at: second)
                    try await expectRefusal(second, "transactions")
                    try await expectPaused(second)
                    // What was recorded meanwhile is in no batch, so it stays refused when the counter has caught up.
                    try await count(6000, at: new.url)
                    try await expectPaused(second)
                    try await expectPaused(second)
                    #expect(bank.mirrored() == held)
                }
            }
        }
    }

    /// Has a server count so many transactions.
    private func count(_ transactions: Int, at url: String) async throws {
        try await runProgram([
            PrivatePostgresTools.programs + "/psql", "--quiet", "--dbname", url, "--command",
            """
            DO $$ BEGIN FOR i IN 1..\(transactions) LOOP
                PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$
            """,
        ])
    }

    private func restore(_ old: String, to new: String, in folder: String) async throws {
        let programs = PrivatePostgresTools.programs + "/"
        let (roles, dump) = (folder + "/roles.sql", folder + "/dump")
        try await runProgram(
            [programs + "pg_dumpall", "--roles-only", "--dbname", old, "--file", roles])
        try await runProgram(
            [programs + "pg_dump", "--format=custom", "--dbname", old, "--file", dump])
        // The superuser is there already.
        try await runProgram([programs + "psql", "--quiet", "--dbname", new, "--file", roles])
        try await runProgram([programs + "pg_restore", "--exit-on-error", "--dbname", new, dump])
    }

    @Test(arguments: [
        ("transactions", "snapshot = '99999999999:99999999999:'"), ("edge", "edge = '{}'"),
        ("edge", "edge[1] = substr(edge[1], 1, 7)"), ("signature", "root = sha256('x')"),
        ("origin", "origin = 'other.example/log'"),
    ])
    func `is not signed on when somebody changed the log's state`(
        anchor: String, change: String
    ) async throws {
        try await withBank { bank in
            let first = try await bank.serve()
            let customer = try await bank.customer("c-1", at: first)
            try await bank.auditLog([])
            try await bank.expectMirror()
            _ = try await first.process.ended()
            try await bank.script(
                """
                SET session_replication_role = replica;
                ALTER TABLE countersign.log_state DISABLE TRIGGER ALL;
                UPDATE countersign.log_state SET \(change)
                """)
            let held = bank.mirrored()
            let second = try await bank.serve()
            try await pay(customer, "k-1", at: second)
            try await expectRefusal(second, anchor)
            #expect(bank.mirrored() == held)
        }
    }

    @Test
    func `cannot be told while the mirror is unreadable, and an operator is told where to read on`()
        async throws
    {
        try await withBank { bank in
            let first = try await bank.serve()
            let customer = try await bank.customer("c-1", at: first)
            try await bank.auditLog([])
            try await bank.expectMirror()
            _ = try await first.process.ended()
            try TestBank.write("no note", to: bank.mirror + "/checkpoint")
            let second = try await bank.serve()
            try await pay(customer, "k-1", at: second)
            try await until("it says what it cannot read") {
                second.process.hasLogged("log.anchor_unread")
            }
            let line = try #require(second.lines("log.anchor_unread").first)
            #expect(line.contains(#""level":"alarm""#) && line.contains(Self.runbook))
            #expect(line.contains(#""anchor":"mirror""#) && line.contains(#""cause":"damaged""#))
        }
    }

    private static let runbook =
        #""runbook":"docs/operations.md#the-log-is-another-than-it-was""#

    @discardableResult
    private func pay(
        _ customer: BankCustomer, _ key: String, at instance: ServiceInstance
    ) async throws -> String {
        try await InsistentClient(Shift(instance)).pay(from: customer, key: key).evidence
    }

    /// The alarm with its runbook, and the counter that pages somebody.
    private func expectRefusal(
        _ instance: ServiceInstance, _ anchor: String
    ) async throws {
        try await until("it says why it does not sign") {
            instance.lines("log.mismatch").contains { $0.contains("\"anchor\":\"\(anchor)\"") }
        }
        let line = try #require(instance.lines("log.mismatch").first)
        #expect(line.contains(#""level":"alarm""#) && line.contains(Self.runbook))
        let metrics = String(
            decoding: try await instance.auditor().get("/metrics").body, as: UTF8.self)
        let refusals = metrics.firstMatch(of: /\ncountersign_log_refusals_total ([0-9]+)\n/)
        #expect(refusals.flatMap { Int($0.1) } ?? 0 > 0)
        // It is no failure that the next tick may mend.
        #expect(instance.lines("log.failed") == [])
    }

    /// Signing pauses: it looks again after a while, and refuses again.
    private func expectPaused(_ instance: ServiceInstance) async throws {
        let before = instance.lines("log.mismatch").count
        try await until("it has looked again") {
            instance.lines("log.mismatch").count > before
        }
    }
}

extension ServiceInstance {
    /// What was logged under one name.
    func lines(_ event: String) -> [String] {
        process.text.split(separator: "\n").map(String.init)
            .filter { $0.contains("\"event\":\"\(event)\"") }
    }
}
