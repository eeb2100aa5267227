import Countersign
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// A bank whose first month is detached, with the program's own commands.
@Suite struct `A month of evidence that is detached` {
    private static let month = "2019-01"

    /// What there is on both sides of the month's end.
    private struct Story {
        let bank: TestBank
        let instance: ServiceInstance
        let customer: BankCustomer
        /// Asked for and taken back in the month.
        let over: String
        /// A record of it.
        let overRecord: String
        /// Approved after the month: what was asked for in it, and another one.
        let approved: [String]
    }

    /// Enrols in the month, and approves after it.
    private func tell(_ bank: TestBank) async throws -> Story {
        let first = try await bank.serve()
        let customer = try await bank.customer("c-1", at: first)
        let backend = try first.backend()
        let over = try await backend.create(customer.transfer("2.00"))
        let open = try await backend.create(customer.transfer("3.00"))
        let (ended, question) = (try #require(over.question), try #require(open.question))
        #expect(try await backend.cancel(ended.action, reason: "changed").status == 200)
        try await bank.settleAnnouncements()
        first.process.signal(SIGTERM)
        _ = try await first.process.ending()
        try await bank.backDate()
        let instance = try await bank.serve()
        let answer = try await instance.backend().approve(
            question.action, try customer.approval(question))
        let late = try #require(answer.text("evidence_id"), "\(answer.problem ?? "")")
        let paid = try await InsistentClient(Shift(instance)).pay(from: customer, key: "k-1")
        try await bank.settleOrders()
        try await bank.auditLog([late, paid.evidence])
        let record = try await bank.text(
            "SELECT max(id::text) FROM countersign.evidence WHERE action_id = '\(ended.action)'")
        return Story(
            bank: bank, instance: instance, customer: customer, over: ended.action,
            overRecord: try #require(record), approved: [late, paid.evidence])
    }

    private func verify(_ bank: TestBank) async throws -> (ServiceProcess.Ending, String) {
        try await bank.run(["evidence", "verify"], as: "countersign_auditor")
    }

    private func detach(_ story: Story) async throws {
        let (ending, text) = try await story.bank.run(
            ["evidence", "detach", Self.month], as: "countersign_operator")
        #expect(ending == .exited(0), "\(text)")
        #expect(text.contains("detached \(Self.month): "), "\(text)")
        try await story.bank.auditLog(story.approved)
    }

    /// Does what only a superuser without triggers can do, and takes it back after a look.
    private func tampering(
        _ bank: TestBank, _ table: String, _ statement: String
    ) async throws -> (ServiceProcess.Ending, String) {
        func script(_ text: String) async throws {
            try await bank.script(
                """
                SET search_path = countersign;
                ALTER TABLE \(table) DISABLE TRIGGER ALL;
                \(text);
                ALTER TABLE \(table) ENABLE TRIGGER ALL
                """)
        }
        let columns =
            "id, xid, kind, action_id, subject_id, credential_id, leaf, body_commit, recorded_at"
        try await bank.script("CREATE TABLE saved AS SELECT \(columns) FROM countersign.\(table)")
        try await script(statement)
        let found = try await verify(bank)
        try await script(
            "INSERT INTO \(table) (\(columns)) SELECT \(columns) FROM public.saved ON CONFLICT DO NOTHING"
        )
        try await bank.script("DROP TABLE public.saved")
        return found
    }

    @Test func `leaves evidence that verifies, and bundles that prove`() async throws {
        try await withBank { bank in
            let story = try await tell(bank)
            let (before, text) = try await verify(bank)
            #expect(before == .exited(0) && text.contains(" 0 detached, 0 faults"), "\(text)")
            try await detach(story)
            let (after, said) = try await verify(bank)
            #expect(after == .exited(0) && said.contains(" detached, 0 faults"), "\(said)")
            #expect(!said.contains(" 0 detached"), "\(said)")
            let auditor = try story.instance.auditor()
            let trust = bank.folder + "/trust"
            try TestBank.write("log \(try bank.logKey().text)\nquorum none\n", to: trust)
            for record in story.approved {
                let answer = try await auditor.get("/v1/evidence/\(record)/bundle")
                #expect(answer.status == 200, "\(answer.problem ?? "")")
                let file = bank.folder + "/bundle"
                try TestBank.write(String(decoding: answer.body, as: UTF8.self), to: file)
                let verified = try await bank.verifyBundle(file, trust)
                #expect(verified.0 == .exited(0), "\(verified.1)")
            }
            let gone = try await auditor.get("/v1/evidence/\(story.overRecord)/bundle")
            #expect(gone.status == 410 && gone.problem == "evidence-detached")
            // A policy that is kept is of no decided action, now as before.
            let policy = try #require(
                try await bank.text(
                    "SELECT max(id::text) FROM countersign.evidence_kept WHERE kind = 'policy.published'"
                ))
            #expect(try await auditor.get("/v1/evidence/\(policy)/bundle").status == 404)
            let (again, why) = try await bank.run(
                ["evidence", "detach", Self.month], as: "countersign_operator")
            #expect(again == .exited(1) && why.contains("no such month"), "\(why)")
        }
    }

    @Test func `excuses nobody who deletes a record`() async throws {
        try await withBank { bank in
            let story = try await tell(bank)
            let firstHere = """
                DELETE FROM evidence WHERE id = (SELECT id FROM evidence
                 WHERE kind = 'action.created' AND id > '0169' ORDER BY id LIMIT 1)
                """.replacing("'0169'", with: "'01690000-0000-0000-0000-000000000000'")
            // In its own month, and while nothing is detached.
            let (early, text) = try await tampering(
                bank, "evidence",
                "DELETE FROM evidence WHERE kind = 'action.created' AND action_id = '\(story.over)'"
            )
            #expect(early == .exited(1) && text.contains(EvidenceFault.chain.rawValue), "\(text)")
            try await detach(story)
            let (late, said) = try await tampering(bank, "evidence", firstHere)
            #expect(late == .exited(1) && said.contains(EvidenceFault.chain.rawValue), "\(said)")
            // What was kept, and the record without which no month is detached.
            let (kept, told) = try await tampering(
                bank, "evidence_kept",
                "DELETE FROM evidence_kept WHERE kind = 'credential.enrolled'")
            #expect(kept == .exited(1) && told.contains(EvidenceFault.kept.rawValue), "\(told)")
            #expect(told.contains(EvidenceFault.notEnrolled.rawValue), "\(told)")
            let (untold, reason) = try await tampering(
                bank, "evidence", "DELETE FROM evidence WHERE kind = 'evidence.detached'")
            #expect(
                untold == .exited(1) && reason.contains(EvidenceFault.kept.rawValue), "\(reason)")
            let (end, last) = try await verify(bank)
            #expect(end == .exited(0), "\(last)")
        }
    }

    @Test func `waits for no reader, and says so`() async throws {
        try await withBank { bank in
            let story = try await tell(bank)
            let reader = Database(DatabaseOptions(connection: bank.superuser, size: 1))
            async let reading: Void = reader.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        BEGIN; SELECT count(*) FROM countersign.evidence; SELECT pg_sleep(3); COMMIT
                        """)
            }
            // The first attempts are in vain; approvals go on meanwhile.
            async let detaching = bank.run(
                ["evidence", "detach", Self.month], as: "countersign_operator")
            _ = try await InsistentClient(Shift(story.instance)).pay(
                from: story.customer, key: "k-2")
            let (ending, text) = try await detaching
            try await reading
            await reader.close()
            #expect(ending == .exited(0), "\(text)")
        }
    }
}
