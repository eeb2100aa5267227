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
    /// Where the demo runs from a checkout, as the launcher does.
    private var docs: String {
        (ProcessInfo.processInfo.environment[ReservedNames.project] ?? ".") + "/docs"
    }

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
        try await verifyBundle(
            "python3", try Self.required("python3"),
            [docs + "/verify-bundle.py", bundleFile, trustFile])
        try await verifyByHand()
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

    /// The bundle by hand, with the very commands that `docs/auditor.md` shows.
    private mutating func verifyByHand() async throws {
        _ = try Self.required("openssl")
        let page = try String(contentsOfFile: docs + "/auditor.md", encoding: .utf8)
        let blocks = PageSection.blocks(of: page, under: "By hand")
        Console.out(
            "    $ the commands of docs/auditor.md, “By hand”, with sh, openssl and python3")
        let output = try await bank.processes.run(
            [
                "-eu", "-c",
                #"mkdir "$1"; cd "$1"; cp "$2" bundle.json; cp "$3" policy"# + "\n"
                    + blocks.joined(),
                "sh", bank.home.run + "/by-hand", bundleFile, trustFile,
            ], with: try Self.required("sh"))
        let lines = output.text.split(separator: "\n").map(String.init)
        for line in lines { Console.out("    ← \(line)") }
        check("every command agrees", output.status == 0 && !blocks.isEmpty, came: output.text)
        check(
            "openssl finds the log's signature under the bundle's own checkpoint good",
            lines.contains("Signature Verified Successfully"))
        let entries = try takenBundle().entries
        check(
            "from each record hashes lead up to the root that was signed",
            entries.allSatisfy { role, entry in
                lines.contains(
                    "same: the root above \(role.rawValue), position \(entry.position)")
                    && lines.contains("same: the body of \(role.rawValue)")
            })
        check("openssl finds the customer's signature good", lines.contains("Verified OK"))
    }

    /// What was taken away.
    private func takenBundle() throws -> EvidenceBundle {
        let bytes = Bytes(try Data(contentsOf: URL(filePath: bundleFile)))
        guard let bundle = EvidenceBundle(decoding: bytes) else {
            throw CommandFailure("\(bundleFile) is no bundle")
        }
        return bundle
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
        guard let position = try takenBundle().entries[.approved]?.position else {
            throw CommandFailure("the bundle has no approval")
        }
        check(
            "fsck names position \(position), where the bundle proves the changed record to be",
            found.status == 1 && found.text.contains("position \(position):"),
            expected: "position \(position)", came: found.text)
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
