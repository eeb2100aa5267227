import Countersign
import Crypto
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// A risk team tries a draft on what customers do, with the program's commands.
@Suite struct `A draft beside the policy in force` {
    @Test func `is evaluated by whichever instance is there, and changes nothing`() async throws {
        try await withBank { bank in
            let first = try await bank.serve()
            let second = try await bank.serve()
            let key = APIKey.make(for: .risk)
            try await bank.administer { administration in
                _ = try await administration.addClient(
                    ID(at: systemTime(), random: EntropySource.openSSL(10)), name: "anna",
                    role: .risk, keyDigest: sha256(Bytes(key.utf8)), subjectAlternativeName: nil)
            }
            try TestBank.write(key + "\n", to: bank.folder + "/anna.key")
            let anna = try APIClient(base: first.base, key: key)
            let active = try await anna.get("/v1/policies/active")
            let draft = try #require(active.json["policy"]?["document"])
                .setting("currencies.EUR.single_max", to: "5.00")
            try TestBank.write(
                String(decoding: draft.encoded, as: UTF8.self), to: bank.folder + "/draft")
            let end = (systemTime() + Seconds(3600)).text
            let access = [
                "--service", second.base, "--client-key-file", bank.folder + "/anna.key",
            ]
            func run(_ words: String...) async -> CountersignMain.ExitStatus {
                await Main.run(
                    ["policy", "shadow"] + words + access, environment: [:], commands: Command.all)
            }
            let file = bank.folder + "/draft"
            #expect(await run(file, "--until", end, "--label", "five") == .success)
            #expect(await run(file, "--until", "2020-01-01T00:00:00Z", "--label", "x") == .failure)
            let id = try #require(
                try await bank.text("SELECT id FROM countersign.policy_shadow"))

            let customer = try await bank.customer("c-1", at: first)
            let client = InsistentClient(Shift(first))
            for (number, amount) in ["1.00", "2.00", "9.00"].enumerated() {
                _ = try await client.pay(amount, from: customer, key: "k-\(number)")
            }
            try await until("the shadow has decided them") {
                try await anna.get("/v1/policies/shadows/\(id)").json["report"]?["decided"]
                    == .integer(3)
            }
            let report = try await anna.get("/v1/policies/shadows/\(id)").json["report"]
            #expect(report?["changed"] == .integer(1))
            #expect(
                report?["rules"]?["single_max"] == ["after": .integer(1), "before": .integer(0)])
            // A crash of one instance is nothing to the shadow.
            first.process.signal(SIGKILL)
            _ = try await first.process.ending()
            _ = try await InsistentClient(Shift(second)).pay("8.00", from: customer, key: "k-9")
            let other = try APIClient(base: second.base, key: key)
            try await until("the other instance goes on") {
                try await other.get("/v1/policies/shadows/\(id)").json["report"]?["changed"]
                    == .integer(2)
            }
            #expect(await run("list") == .success)
            #expect(await run("show", id) == .success)
            #expect(await run("end", id) == .success)
            #expect(await run("end", "x") == .usage)
            let ended = try await other.get("/v1/policies/shadows/\(id)").json["shadow"]
            #expect(ended?["state"] == "ended" && ended?["ended_by"] == "anna")
            try await bank.settleOrders()
            let (ending, text) = try await bank.run(
                ["evidence", "verify"], as: "countersign_auditor")
            #expect(ending == .exited(0), "\(text)")
            let metrics = String(
                decoding: try await second.auditor().get("/metrics").body, as: UTF8.self)
            #expect(
                metrics.contains(
                    #"countersign_shadow_verdicts_total{before="allowed",after="refused"}"#))
        }
    }
}
