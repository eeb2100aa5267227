import Countersign
import Crypto
import Evidence
import Foundation
import Postgres

/// The last chapters: an auditor takes one file away, verifies it three ways, and finds what a database
/// administrator changed.
extension Story {
    private var bundleFile: String { bank.home.run + "/bundle.json" }
    private var trustFile: String { bank.home.run + "/trust-policy" }

    mutating func takeBundle() async throws {
        try await step("The auditor takes one decision away, and verifies it three ways")
        let id = memory.approved?.text("evidence_id") ?? ""
        asked("GET /v1/evidence/\(id)/bundle  the approval of 120.00 EUR")
        var answer = try await bank.auditor.get("/v1/evidence/\(id)/bundle")
        for _ in 0..<40 where answer.status == 503 {
            // The newest records are in a published checkpoint within about a second.
            try await Task.sleep(for: .milliseconds(100))
            answer = try await bank.auditor.get("/v1/evidence/\(id)/bundle")
        }
        came(answer, "\(answer.body.count) bytes")
        check("the bundle is one file of at most 20 KB", answer.body.count <= 20_000)
        try bank.home.write(answer.body, to: bundleFile)
        let key = try verifierKey()
        try bank.home.write("log \(key.text)\nquorum none\n", to: trustFile)
        say("whom the auditor trusts, told once by the bank: log \(key.text)")
        try await verifyBundle(
            "countersign", nil, ["evidence", "verify-bundle", bundleFile, "--trust", trustFile])
        let project = ProcessInfo.processInfo.environment[ReservedNames.project]
        let script = (project ?? ".") + "/docs/verify-bundle.py"
        if let python = Self.find("python3"), FileManager.default.fileExists(atPath: script) {
            try await verifyBundle("python3", python, [script, bundleFile, trustFile])
        } else {
            say("python3 is not on PATH, so it is not asked")
        }
        try await verifyCheckpoint(key)
    }

    private mutating func verifyBundle(
        _ name: String, _ program: String?, _ arguments: [String]
    ) async throws {
        Console.out("    $ \(name) \(arguments.joined(separator: " "))")
        let output = try await bank.processes.run(arguments, with: program)
        for line in output.text.split(separator: "\n") { Console.out("    ← \(line)") }
        check(
            "\(name) believes it, without database or network", output.status == 0,
            came: output.text)
    }

    /// The log's signature by hand, as `docs/auditor.md` shows.
    private mutating func verifyCheckpoint(_ key: VerifierKey) async throws {
        asked("GET /log/checkpoint")
        let answer = try await bank.auditor.get("/log/checkpoint")
        guard let note = SignedNote(decoding: answer.body), let line = note.signatures.first
        else {
            check("there is a checkpoint", answer, 200)
            return
        }
        came(
            answer,
            String(decoding: note.text, as: UTF8.self).split(separator: "\n")
                .joined(separator: " · "))
        guard let openssl = Self.find("openssl") else {
            say("openssl is not on PATH, so it is not asked")
            return
        }
        let folder = bank.home.run
        try bank.home.write(note.text, to: folder + "/checkpoint.text")
        try bank.home.write(line.signature, to: folder + "/checkpoint.signature")
        try bank.home.write(key.publicKey.pem, to: folder + "/log-key.pub.pem")
        let arguments = [
            "pkeyutl", "-verify", "-pubin", "-inkey", folder + "/log-key.pub.pem", "-rawin", "-in",
            folder + "/checkpoint.text", "-sigfile", folder + "/checkpoint.signature",
        ]
        Console.out("    $ openssl \(arguments.joined(separator: " "))")
        let output = try await bank.processes.run(arguments, with: openssl)
        Console.out("    ← \(output.text)")
        check("openssl finds the log's signature good", output.status == 0, came: output.text)
    }

    mutating func catchSuperuser() async throws {
        try await step("A database administrator changes one row, and is found")
        let whole = try await fsck()
        check("the log is whole before", whole.status == 0, came: whole.text)
        let id = memory.approved?.text("evidence_id") ?? ""
        let changed = "outcome\":\"refused\""
        try await changeLeaf(of: id, "outcome\":\"approved\"", changed)
        say("the superuser switched the triggers off and made \(id) say refused")
        let found = try await fsck()
        check(
            "fsck names the position of the changed record",
            found.status == 1 && found.text.contains("position"), came: found.text)
        try await changeLeaf(of: id, changed, "outcome\":\"approved\"")
        let mended = try await fsck()
        check("put back byte for byte, it is whole again", mended.status == 0, came: mended.text)
    }

    private func fsck() async throws -> Processes.Output {
        asked("countersign evidence fsck")
        let output = try await bank.processes.run([
            "evidence", "fsck", "--config", bank.home.configuration, "--database-url",
            try bank.database.url(as: "countersign_auditor"),
        ])
        for line in output.text.split(separator: "\n") { Console.out("    ← \(line)") }
        return output
    }

    private func changeLeaf(of id: String, _ old: String, _ new: String) async throws {
        try await bank.database.asSuperuser(
            """
            ALTER TABLE countersign.evidence DISABLE TRIGGER USER;
            UPDATE countersign.evidence SET leaf
                = convert_to(replace(convert_from(leaf, 'UTF8'), '\(old)', '\(new)'), 'UTF8')
             WHERE id = '\(id)';
            ALTER TABLE countersign.evidence ENABLE ALWAYS TRIGGER stamp,
                ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate
            """)
    }

    private func verifierKey() throws -> VerifierKey {
        let pem = try String(contentsOfFile: bank.home.logKey, encoding: .utf8)
        return VerifierKey(
            name: DemoHome.logOrigin, kind: .ed25519,
            publicKey: try Ed25519PrivateKey(pem: pem).publicKey)
    }
}
