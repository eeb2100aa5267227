import Countersign
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// What others have reported of evidence that was lost, changed or could not be verified later, played on the
/// database with the program's own commands. The kinds that need no database are in `EvidenceTests`.
@Suite struct `Cases of evidence in a database` {
    private func play(
        _ kinds: [String], _ judge: (Case) async throws -> Judgement
    ) async throws {
        guard let cases = try Cases.domain("evidence") else { return }
        var deviating: [String] = []
        for kind in kinds {
            let ofKind = cases.filter { $0.faultKind == kind }
            #expect(!ofKind.isEmpty, "\(kind)")
            deviating += await ofKind.run("domain.jsonl evidence \(kind)", judge)
        }
        #expect(deviating == [])
    }

    @Test func `approvals at once are one chain`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            try await play(["concurrent_append"]) { try await append($0, bank, instance) }
        }
    }

    @Test func `what was signed is verified later`() async throws {
        try await play(["later_verification"]) { one in
            try await withBank { bank in try await verifyLater(one, bank) }
        }
    }

    @Test func `what a superuser changed is found`() async throws {
        try await withBank { bank in
            let log = try await TamperedLog(bank)
            try await play(["tamper_field", "tamper_delete", "tamper_reorder"]) {
                try await log.judge($0)
            }
        }
    }

    /// So many approvals of one customer with one key, all at once.
    private func append(
        _ one: Case, _ bank: TestBank, _ instance: ServiceInstance
    ) async throws -> Judgement {
        guard case .integer(let parallel)? = one.input("parallelApprovals"),
            case .integer(let rows)? = one.expect("rows")
        else { return .deviating("unread") }
        let customer = try await bank.customer(one.id, at: instance)
        let backend = try instance.backend()
        let questions = try await Array(0..<Int(parallel)).asyncMap { number in
            let created = try await backend.create(
                customer.transfer(reference: "\(number)"), idempotencyKey: "\(one.id)-\(number)")
            return try #require(created.question, "\(created.problem ?? "")")
        }
        let answers = try await questions.asyncMapConcurrently { question in
            try await instance.backend().approve(question.action, customer.approval(question))
        }
        let evidence = answers.compactMap { $0.text("evidence_id") }
        guard answers.allSatisfy({ $0.status == 200 }), Set(evidence).count == rows else {
            return .deviating("answered \(answers.map(\.status))")
        }
        // Positions, chains, roots and completeness; and it holds each of them.
        try await bank.auditLog(evidence)
        let chain = try await bank.sql(
            """
            SELECT (countersign.leaf_member(leaf, 'cseq'))::int AS number FROM countersign.evidence
             WHERE credential_id = '\(try credential(customer))' ORDER BY number
            """
        ).map { row -> Int in try row["number"] }
        return chain == Array(1...chain.count) && chain.count > Int(rows)
            ? .asExpected : .deviating("the key's chain is \(chain)")
    }

    private func credential(_ customer: BankCustomer) throws -> String {
        // Identifiers of the API have a prefix that the database has not.
        String(customer.credential.suffix(36))
    }

    /// A payment that is verified, then something changes, and it is verified again.
    private func verifyLater(_ one: Case, _ bank: TestBank) async throws -> Judgement {
        var instance = try await bank.serve()
        let customer = try await bank.customer("c-1", at: instance)
        let paid = try await InsistentClient(Shift(instance)).pay(from: customer, key: "k-1")
        try await until("it is executed") {
            try await instance.backend().action(paid.action).text("action", "execution")
                == "executed"
        }
        try await bank.auditLog([paid.evidence])
        let before = try await bundle(of: paid, at: instance)
        switch one.input("scenario")?.text ?? "" {
        case let text where text.hasPrefix("device row deleted"):
            try await change(
                bank, "DELETE FROM credential WHERE id = '\(try credential(customer))'",
                "SELECT 1 - count(*) FROM countersign.credential")
        case let text where text.hasPrefix("payee edited"):
            try await change(
                bank, "UPDATE payee SET name = 'Mallory'",
                "SELECT count(*) FROM countersign.payee WHERE name = 'Mallory'")
        case let text where text.hasPrefix("server TZ changed"):
            _ = try await instance.process.ended()
            let name = try #require(try await bank.text("SELECT current_database()"))
            try await bank.sql("ALTER DATABASE \(name) SET timezone = 'Asia/Kathmandu'")
            try await bank.sql(
                "ALTER ROLE countersign_service IN DATABASE \(name) SET timezone = 'Asia/Kathmandu'"
            )
            instance = try await bank.serve()
        default: return .deviating("a scenario that nobody knows")
        }
        let after = try await bundle(of: paid, at: instance)
        func bytes(_ bundle: EvidenceBundle) -> [BundleRole: [Bytes]] {
            bundle.entries.mapValues { [$0.leaf, $0.body?.bytes ?? []] }
        }
        guard bytes(after.bundle) == bytes(before.bundle) else {
            return .deviating("the evidence says something else")
        }
        let created = after.bundle.entries[.created]?.body.map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
        guard created?.contains(Cast.knownName) == true else {
            return .deviating("it does not show the payee as it was signed")
        }
        for one in [before, after] {
            if let complaint = try await verify(one.bytes, bank) { return .deviating(complaint) }
        }
        try await bank.auditLog([paid.evidence])
        return .asExpected
    }

    private func change(
        _ bank: TestBank, _ statement: String, _ count: String
    ) async throws {
        try await bank.script(
            """
            SET session_replication_role = replica;
            SET search_path = countersign;
            ALTER TABLE credential DISABLE TRIGGER ALL;
            ALTER TABLE payee DISABLE TRIGGER ALL;
            \(statement);
            """)
        #expect(try await bank.count(count) == 1)
    }

    private func bundle(
        of paid: Acknowledged, at instance: ServiceInstance
    ) async throws -> (bytes: Bytes, bundle: EvidenceBundle) {
        let answer = try await instance.auditor().get("/v1/evidence/\(paid.evidence)/bundle")
        let bundle = try #require(EvidenceBundle(decoding: answer.body), "\(answer.status)")
        return (answer.body, bundle)
    }

    /// What the program says against a bundle, without the database; `nil` when nothing.
    private func verify(_ bundle: Bytes, _ bank: TestBank) async throws -> String? {
        let (file, trust) = (bank.folder + "/bundle", bank.folder + "/trust")
        try TestBank.write(String(decoding: bundle, as: UTF8.self), to: file)
        try TestBank.write("log \(try bank.logKey().text)\nquorum none\n", to: trust)
        let (ending, text) = try await bank.verifyBundle(file, trust)
        return ending == .exited(0) ? nil : text
    }
}
