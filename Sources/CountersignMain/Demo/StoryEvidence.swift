import Countersign
import Crypto
import Foundation

/// Chapters about what is left for the auditor.
extension Story {
    mutating func listEvidence() async throws {
        try await step("The auditor reads what was recorded")
        asked("GET /v1/evidence?customer_id=\(customer)  as the backend")
        let forbidden = try await bank.backend.api.get("/v1/evidence?customer_id=\(customer)")
        came(forbidden)
        check("the backend may not", forbidden, 403, "forbidden")
        var entries: [JSON] = []
        var cursor = ""
        repeat {
            asked("GET /v1/evidence?customer_id=\(customer)&limit=100\(cursor)")
            let page = try await bank.auditor.get(
                "/v1/evidence?customer_id=\(customer)&limit=100\(cursor)")
            came(page, "\(page.evidence.count) records")
            entries += page.evidence
            cursor = page.text("next_cursor").map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        let kinds = entries.compactMap { $0["kind"]?.text }
        for kind in Set(kinds).sorted() {
            let count = kinds.count { $0 == kind }
            say("\(kind.padding(toLength: 22, withPad: " ", startingAt: 0))\(count)")
        }
        let ofExecuted = entries.filter { $0["action_id"]?.text == memory.executed }
            .compactMap { $0["kind"]?.text }
        check(
            "the executed transfer has its whole life on record",
            ofExecuted.joined(separator: ", "),
            is: "action.created, challenge.issued, action.approved, order.executed")
        let told = ["action.rejected", "action.cancelled", "action.refused", "attempt.failed"]
        check(
            "every no is on record too", told.allSatisfy(kinds.contains),
            expected: told.joined(separator: ", "),
            came: Set(kinds).sorted().joined(separator: ", "))
    }

    mutating func verifyEvidence() async throws {
        try await step("Everything is verified again, from raw bytes")
        asked("countersign evidence verify --config \(bank.home.configuration)")
        let text = try await bank.tools.run(["evidence", "verify"], as: "countersign_auditor")
        Console.out("    ← \(text)")
        check("nothing is missing or changed", text.hasSuffix(" 0 faults"), came: text)
        try await verifyWithOpenSSL()
    }

    /// One approval by a program that has nothing to do with this one.
    private mutating func verifyWithOpenSSL() async throws {
        let id = memory.approved?.text("evidence_id") ?? ""
        asked("GET /v1/evidence/\(id)  the approval of 120.00 EUR")
        let answer = try await bank.auditor.get("/v1/evidence/\(id)")
        came(answer, "message, signature and public key")
        guard let message = answer.text("evidence", "message").flatMap({ Base64.decodeURL($0) }),
            let signature = answer.text("evidence", "assertion", "signature")
                .flatMap({ Base64.decode($0) }),
            let spki = answer.text("evidence", "assertion", "public_key")
                .flatMap({ Base64.decode($0) })
        else {
            check("the record holds message, signature and key", answer, 200)
            return
        }
        check("the key is the phone's", spki == phone.publicKey.spki)
        let folder = bank.home.run
        try bank.home.write(message, to: folder + "/message")
        try bank.home.write(signature, to: folder + "/signature")
        try bank.home.write(try P256PublicKey(spki: spki).pem, to: folder + "/key.pem")
        let openssl = try Self.required("openssl")
        let arguments = [
            "dgst", "-sha256", "-verify", folder + "/key.pem", "-signature", folder + "/signature",
            folder + "/message",
        ]
        Console.out("    $ openssl \(arguments.joined(separator: " "))")
        let output = try await bank.processes.run(arguments, with: openssl)
        Console.out("    ← \(output.text)")
        check("openssl agrees", output.status == 0, came: output.text)
    }

    /// Where a program is that the story cannot do without: what is not asked has verified nothing.
    ///
    /// - Throws: ``CommandFailure`` when it is not on `PATH`.
    static func required(
        _ program: String, path: String? = ProcessInfo.processInfo.environment["PATH"]
    ) throws(CommandFailure) -> String {
        let found = (path ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(program)" }
            .first(where: FileManager.default.isExecutableFile)
        guard let found else {
            throw CommandFailure("\(program) is not on PATH, and the demo verifies with it")
        }
        return found
    }
}
