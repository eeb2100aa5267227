import Countersign
import Foundation
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// Payees are imported by the commands of the program, in a database that is not for development.
@Suite struct `The commands that import payees` {
    private struct Team {
        let bank: TestBank
        let instance: ServiceInstance
        let anna: BankPerson
        let bert: BankPerson

        var source: String { bank.folder + "/payees" }
        var prepared: String { bank.folder + "/prepared" }
    }

    private func withTeam(_ body: (Team) async throws -> Void) async throws {
        try await withBank { bank in
            let migrating = try ServiceProcess(
                "migrate",
                ["migrate"] + bank.operating.prefix(2) + [
                    "--database-admin-url", bank.superuser.text, "--development=false",
                ], in: bank.folder)
            #expect(try await migrating.ending() == .exited(0), "\(migrating.text)")
            let instance = try await bank.serve()
            try await body(
                Team(
                    bank: bank, instance: instance,
                    anna: try await BankPerson.join("anna", instance),
                    bert: try await BankPerson.join("bert", instance)))
        }
    }

    private func line(_ number: Int, name: String = "Zoë Müller") -> String {
        #"{"customer_id": "c-\#(number)", "name": "\#(name)", "account": {"scheme": "bban", "#
            + #""value": "\#(number)"}, "alias": "Strom"}"# + "\n"
    }

    private func prepare(_ count: Int, _ team: Team) async throws {
        try TestBank.write((0..<count).map { line($0) }.joined(), to: team.source)
        #expect(
            await run(["payee", "prepare", team.source, "--out", team.prepared]) == .success)
    }

    /// Lets both sign the prepared file.
    private func sign(_ team: Team) async throws -> String {
        let propose = ["payee", "propose", team.prepared, "--reason", "moved"]
        try await sign(propose, as: team.anna, team)
        let act = try await team.bank.text(
            "SELECT id FROM countersign.act ORDER BY id DESC LIMIT 1")
        try await sign(["payee", "approve", team.prepared, act ?? ""], as: team.bert, team)
        return act ?? ""
    }

    /// Runs a command that asks, and answers in place of the browser.
    private func sign(_ words: [String], as person: BankPerson, _ team: Team) async throws {
        let question = team.bank.folder + "/question"
        let asking = words + ["--question-out", question] + person.access(team.instance)
        guard await run(asking) == .success else { throw Unexpected("\(words) failed") }
        let options = try #require(FileManager.default.contents(atPath: question))
        let challenge = try await team.bank.text(
            "SELECT id FROM countersign.act_challenge WHERE state = 'live'")
        let act = try await team.bank.text(
            "SELECT act_id FROM countersign.act_challenge WHERE state = 'live'")
        let assertion = team.bank.folder + "/assertion"
        try TestBank.write(
            String(
                decoding: try person.answer(StrictJSON.parse(Bytes(options))).encoded,
                as: UTF8.self), to: assertion)
        let signing = [
            "policy", "sign", act ?? "", "--challenge", challenge ?? "", "--assertion", assertion,
        ]
        guard await run(signing + person.access(team.instance)) == .success else {
            throw Unexpected("the signature was refused")
        }
    }

    private func run(_ words: [String]) async -> CountersignMain.ExitStatus {
        await Main.run(words, environment: [:], commands: Command.all)
    }

    private func importing(
        _ path: String, _ act: String?, _ team: Team
    ) async throws -> (ServiceProcess.Ending, String) {
        try await team.bank.run(
            ["payee", "import", path] + (act.map { ["--act", $0] } ?? []),
            as: "countersign_operator")
    }

    private func payees(_ team: Team) async throws -> Int {
        try await team.bank.count("SELECT count(*) FROM countersign.payee")
    }

    @Test func `take what two people signed, and nothing else`() async throws {
        try await withTeam { team in
            try await prepare(3, team)
            let (unsigned, why) = try await importing(team.source, nil, team)
            #expect(unsigned == .exited(1) && why.contains("development only"), "\(why)")
            let act = try await sign(team)
            let text = String(
                decoding: try #require(FileManager.default.contents(atPath: team.prepared)),
                as: UTF8.self)
            let tampered = team.bank.folder + "/tampered"
            let lines = text.split(separator: "\n").map { String($0) + "\n" }
            for wrong in [
                text.replacing("Müller", with: "Muller", maxReplacements: 1),
                text.replacing("c-2", with: "c-3"), lines.dropLast().joined(),
                text + lines[0].replacing("c-0", with: "c-9"),
            ] {
                try TestBank.write(wrong, to: tampered)
                let (ending, said) = try await importing(tampered, act, team)
                #expect(ending == .exited(1) && said.contains("other rows"), "\(said)")
                #expect(
                    await run(
                        ["payee", "approve", tampered, act] + team.bert.access(team.instance))
                        == .failure)
            }
            #expect(try await payees(team) == 0)
            let (ending, said) = try await importing(team.prepared, act, team)
            #expect(ending == .exited(0), "\(said)")
            #expect(said.contains("imported 3, already there 0"))
            let (again, told) = try await importing(team.prepared, act, team)
            #expect(again == .exited(0) && told.contains("imported 0, already there 3"), "\(told)")
            let (noAct, _) = try await importing(team.prepared, "act", team)
            #expect(noAct == .exited(64))
            let (audit, found) = try await team.bank.run(
                ["evidence", "verify"], as: "countersign_auditor")
            #expect(audit == .exited(0), "\(found)")
        }
    }

    @Test func `wait for the second person, and need the prepared file`() async throws {
        try await withTeam { team in
            try await prepare(2, team)
            let propose = ["payee", "propose", team.source, "--reason", "moved"]
            #expect(await run(propose + team.anna.access(team.instance)) == .failure)
            #expect(
                await run(["payee", "prepare", team.prepared, "--out", team.source]) == .failure)
            let malformed = try await team.anna.api.post(
                "/v1/acts",
                ["kind": "payee.import", "document": ["reason": "moved", "rows": ["00"]]])
            #expect(malformed.status == 422)
            #expect(String(decoding: malformed.body, as: UTF8.self).contains("/document/rows/0"))
            #expect(try await team.bank.count("SELECT count(*) FROM countersign.act") == 0)
            try await sign(
                ["payee", "propose", team.prepared, "--reason", "moved"], as: team.anna, team)
            let act = try await team.bank.text("SELECT id FROM countersign.act")
            let (ending, said) = try await importing(team.prepared, act, team)
            #expect(ending == .exited(1) && said.contains("have not signed"), "\(said)")
            #expect(try await payees(team) == 0)
        }
    }

    @Test func `import the rest after they were killed between two rows`() async throws {
        try await withTeam { team in
            try await prepare(200, team)
            let act = try await sign(team)
            // The row of account 100 takes longer than anybody waits.
            try await team.bank.script(
                """
                CREATE FUNCTION public.wait_here() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_sleep(600); RETURN new; END $$;
                CREATE TRIGGER wait_here BEFORE INSERT ON countersign.payee FOR EACH ROW
                    WHEN (new.account = 'bban:100') EXECUTE FUNCTION public.wait_here();
                """)
            let process = try ServiceProcess(
                "killed",
                ["payee", "import", team.prepared, "--act", act] + team.bank.operating,
                in: team.bank.folder)
            try await until("half of them are imported") { try await payees(team) == 100 }
            process.signal(SIGKILL)
            // On a busy machine it may have given the row up by itself, which leaves the same behind.
            let killed = try await process.ending()
            #expect(killed == .killed(signal: SIGKILL) || killed == .exited(1))
            try await team.bank.sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND usename = 'countersign_operator'
                """)
            try await team.bank.script("DROP TRIGGER wait_here ON countersign.payee")
            let (ending, said) = try await importing(team.prepared, act, team)
            #expect(ending == .exited(0), "\(said)")
            #expect(said.contains("imported 100, already there 100"), "\(said)")
            #expect(try await payees(team) == 200)
            #expect(
                try await team.bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'payee.imported'")
                    == 200)
        }
    }
}
