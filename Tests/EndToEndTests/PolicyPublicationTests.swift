import Countersign
import Crypto
import Foundation
import HTTP
import TestSupport
import Testing

@testable import CountersignMain

/// People publish a policy at the running program.
@Suite struct `A policy of two people` {
    private func changed(_ seconds: Int64, _ person: BankPerson) async throws -> JSON {
        let active = try await person.api.get("/v1/policies/active")
        guard let document = active.json["policy"]?["document"] else {
            throw Unexpected("the policy was answered \(active.status)")
        }
        return document.setting("payee.cooling_off_s", to: .integer(seconds))
    }

    @Test func `is in force when both have signed, and evidence proves who`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let anna = try await BankPerson.join("anna", instance)
            let bert = try await BankPerson.join("bert", instance)
            let asked = try await anna.api.post(
                "/v1/acts",
                [
                    "kind": "policy.publish",
                    "document": ["policy": try await changed(90_000, anna)],
                ])
            #expect(asked.status == 201)
            let act = try #require(asked.text("act", "id"))
            let proposed = try await anna.sign(asked)
            #expect(proposed.status == 200 && proposed.text("act", "state") == "open")
            // The proposer is one person, however often.
            let again = try await anna.api.post("/v1/acts/\(act)/challenge", [:])
            #expect(again.problem == "act-already-signed")
            let signed = try await bert.sign(
                try await bert.api.post("/v1/acts/\(act)/challenge", [:]))
            #expect(signed.status == 200 && signed.text("act", "state") == "done")
            try await until("version 2 is in force") {
                try await bert.api.get("/v1/policies/active").json["policy"]?["version"]
                    == .integer(2)
            }
            let auditor = try instance.auditor()
            #expect(try await auditor.get("/v1/policies/2").status == 200)
            #expect(try await auditor.get("/v1/acts/\(act)").problem == "forbidden")
            let told = try await auditor.get("/v1/evidence?kind=policy.approved")
            #expect(String(decoding: told.body, as: UTF8.self).contains(act))
            let (ending, text) = try await bank.run(
                ["evidence", "verify"], as: "countersign_auditor")
            #expect(ending == .exited(0), "\(text)")
        }
    }

    @Test func `is proposed, approved and signed by commands`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let anna = try await BankPerson.join("anna", instance)
            let bert = try await BankPerson.join("bert", instance)
            let file = bank.folder + "/policy.json"
            try TestBank.write(
                String(decoding: try await changed(90_000, anna).encoded, as: UTF8.self), to: file)
            #expect(await run(["policy", "validate", file]) == .success)
            #expect(await run(["policy", "diff", "1", file], as: anna, instance) == .success)
            let question = bank.folder + "/question"
            #expect(
                await run(
                    ["policy", "propose", file, "--question-out", question], as: anna, instance)
                    == .success)
            let list = try await anna.api.get("/v1/acts?state=open")
            guard case .array(let acts)? = list.json["acts"], acts.count == 1,
                let act = acts[0]["id"]?.text
            else { throw Unexpected("the acts were answered \(list.status)") }
            for (person, command) in [(anna, "propose"), (bert, "approve")] {
                if command == "approve" {
                    #expect(
                        await run(
                            ["policy", "approve", act, "--question-out", question], as: person,
                            instance) == .success)
                }
                let challenge = try await bank.text(
                    "SELECT id FROM countersign.act_challenge WHERE state = 'live'")
                let assertion = bank.folder + "/assertion"
                let options = try #require(FileManager.default.contents(atPath: question))
                try TestBank.write(
                    String(
                        decoding: try person.answer(StrictJSON.parse(Bytes(options))).encoded,
                        as: UTF8.self), to: assertion)
                let words = [
                    "policy", "sign", act, "--challenge", challenge ?? "", "--assertion",
                    assertion,
                ]
                #expect(await run(words, as: person, instance) == .success)
            }
            #expect(await run(["policy", "show", "2"], as: bert, instance) == .success)
            #expect(await run(["policy", "show", "3"], as: bert, instance) == .failure)
            #expect(await run(["policy", "approve", act], as: bert, instance) == .failure)
            try TestBank.write(#"{"version":"countersign/policy/1"}"#, to: file)
            #expect(await run(["policy", "validate", file]) == .failure)
        }
    }

    private func run(
        _ words: [String], as person: BankPerson? = nil, _ instance: ServiceInstance? = nil
    ) async -> CountersignMain.ExitStatus {
        let access = instance.flatMap { person?.access($0) } ?? []
        return await Main.run(words + access, environment: [:], commands: Command.all)
    }
}
