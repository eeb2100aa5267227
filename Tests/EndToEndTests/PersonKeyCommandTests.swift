import Countersign
import TestSupport
import Testing

@testable import CountersignMain

/// What the operator does with keys of people, as commands of the program.
@Suite struct `The operator's commands about keys of people` {
    private let reason = ["--reason", "left the bank"]

    @Test func `revoke a key, once, and say why in evidence`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let anna = try await BankPerson.join("anna", instance)
            let bert = try await BankPerson.join("bert", instance)
            let revoke = ["person-key", "revoke", anna.key]
            let (unreasoned, _) = try await bank.run(revoke, as: "countersign_operator")
            #expect(unreasoned == .exited(64))
            let (noID, _) = try await bank.run(
                ["person-key", "revoke", "anna"] + reason, as: "countersign_operator")
            #expect(noID == .exited(64))
            for role in ["countersign_service", "countersign_auditor"] {
                let (ending, text) = try await bank.run(revoke + reason, as: role)
                #expect(ending == .exited(1), "\(text)")
            }
            #expect(try await keys(bert) == ["active", "active"])
            let (ending, text) = try await bank.run(revoke + reason, as: "countersign_operator")
            #expect(ending == .exited(0) && text.contains("revoked \(anna.key)"), "\(text)")
            #expect(try await keys(bert) == ["revoked", "active"])
            let (again, said) = try await bank.run(revoke + reason, as: "countersign_operator")
            #expect(again == .exited(1) && said.contains("revoked"), "\(said)")
            #expect(try await told("person.key_revoked", bank) == 1)
            let shown = try await instance.auditor().get("/v1/evidence?kind=person.key_revoked")
            let body = String(decoding: shown.body, as: UTF8.self)
            #expect(body.contains("left the bank") && body.contains("operator"))
        }
    }

    @Test func `open the founding of a role again, when nobody is left to admit`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let anna = try await BankPerson.join("anna", instance)
            _ = try await BankPerson.join("bert", instance)
            let refound = ["person-key", "refound", "--role", "risk"]
            for words in [["person-key", "refound", "--role", "backend"] + reason, refound] {
                let (ending, _) = try await bank.run(words, as: "countersign_operator")
                #expect(ending == .exited(64))
            }
            let (early, why) = try await bank.run(refound + reason, as: "countersign_operator")
            #expect(early == .exited(1) && why.contains("two people"), "\(why)")
            let revoked = try await HttpMessage(
                "DELETE", "/v1/person-keys/\(anna.key)",
                fields: ["Authorization: Bearer \(anna.api.key ?? "")"]
            ).send(to: instance.port)
            #expect(revoked.status == 200)
            #expect(try await BankPerson.apply("cara", instance).status == "pending")
            let (wrong, _) = try await bank.run(refound + reason, as: "countersign_service")
            #expect(wrong == .exited(1))
            #expect(try await told("person.founding_reopened", bank) == 0)
            let (ending, text) = try await bank.run(refound + reason, as: "countersign_operator")
            #expect(ending == .exited(0) && text.contains("is open until"), "\(text)")
            #expect(try await told("person.founding_reopened", bank) == 1)
            #expect(try await BankPerson.apply("dora", instance).status == "active")
            #expect(try await BankPerson.apply("emil", instance).status == "pending")
            let (audit, found) = try await bank.run(
                ["evidence", "verify"], as: "countersign_auditor")
            #expect(audit == .exited(0), "\(found)")
        }
    }

    private func keys(_ person: BankPerson) async throws -> [String?] {
        guard case .array(let keys)? = try await person.api.get("/v1/person-keys").json["keys"]
        else { throw Unexpected("no keys") }
        return keys.map { $0["status"]?.text }
    }

    private func told(_ kind: String, _ bank: TestBank) async throws -> Int {
        try await bank.count("SELECT count(*) FROM countersign.evidence WHERE kind = '\(kind)'")
    }
}
