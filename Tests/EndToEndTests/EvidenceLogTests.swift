import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// The sequencer in real processes, of which one leads.
@Suite struct `The log of several instances` {
    /// How many approvals are made around each kill; more with `COUNTERSIGN_LOG_KILLS`.
    private static let kills =
        ProcessInfo.processInfo.environment["COUNTERSIGN_LOG_KILLS"].flatMap { Int($0) } ?? 1

    /// The mirror's is passed by those too that do not lead; see the log of instances that all sequence.
    @Test(arguments: Failpoint.Place.allCases.filter { $0.isOfLog && $0 != .logBeforeMirror })
    func `is one and whole, wherever its leader was killed`(place: Failpoint.Place) async throws {
        try await withBank { bank in
            var other = try await bank.serve()
            for kill in 0..<Self.kills {
                let customer = try await bank.customer("c-\(kill)", at: other)
                // It follows until the lead is free; whoever finds it dead starts another one.
                let first = try await bank.serve("--failpoint", "\(place.rawValue):2")
                let shift = Shift(first)
                other.process.signal(SIGKILL)
                let client = InsistentClient(shift)
                var paid: [Acknowledged] = []
                for number in 0..<4 {
                    paid.append(try await client.pay(from: customer, key: "\(kill)-\(number)"))
                    try await Task.sleep(for: .milliseconds(300))
                }
                #expect(try await first.process.ending() == .killed(signal: SIGKILL))
                other = try await shift.instance(after: first)
                try await bank.auditLog(
                    paid.map(\.evidence), spans: paid.compactMap(\.span))
            }
            try await bank.expectMirror()
        }
    }

    @Test func `puts what was told to one caller before what another began after that`()
        async throws
    {
        try await withBank { bank in
            let instances = [try await bank.serve(), try await bank.serve()]
            let customers = try await bank.customers(4, at: instances[0])
            let spans = try await withThrowingTaskGroup { group in
                for index in customers.indices {
                    group.addTask {
                        let client = InsistentClient(Shift(instances[index % 2]))
                        return try await Array(0..<6).asyncMap {
                            try await client.pay(from: customers[index], key: "\(index)-\($0)")
                                .span
                        }
                    }
                }
                return try await group.reduce(into: [Span]()) { $0 += $1.compactMap(\.self) }
            }
            let pairs = spans.flatMap { first in spans.filter { first.end < $0.begin } }
            #expect(spans.count == 24 && pairs.count > 100)
            try await bank.auditLog(spans.map(\.id), spans: spans)
        }
    }

    @Test func `is not signed any more when the database was set back to yesterday`() async throws {
        try await withBank { bank in
            let first = try await bank.serve()
            let customer = try await bank.customer("c-1", at: first)
            let client = InsistentClient(Shift(first))
            _ = try await client.pay(from: customer, key: "k-1")
            try await bank.auditLog([])
            _ = try await first.process.ended()
            let restore = try await bank.backUp()
            let second = try await bank.serve()
            _ = try await InsistentClient(Shift(second)).pay(from: customer, key: "k-2")
            try await bank.auditLog([])
            try await bank.expectMirror()
            _ = try await second.process.ended()
            let held = bank.mirrored()
            try await restore()
            let third = try await bank.serve()
            try await until("it says why it does not sign") {
                third.process.text.contains("\"log.mismatch\"")
            }
            // Approvals go on.
            let later = try await InsistentClient(Shift(third)).pay(from: customer, key: "k-3")
            try await Task.sleep(for: .seconds(1))
            #expect(
                try await bank.count(
                    "SELECT count(*) FROM countersign.log_leaf WHERE evidence_id = '\(later.evidence)'"
                )
                    == 0)
            #expect(bank.mirrored() == held)
        }
    }

    @Test func `gives a stranger a bundle that proves a decision, and no other`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let client = InsistentClient(Shift(instance))
            let paid = try await client.pay(from: customer, key: "k-1")
            try await until("it is executed") {
                try await instance.backend().action(paid.action).text("action", "execution")
                    == "executed"
            }
            try await bank.auditLog([paid.evidence])
            let auditor = try instance.auditor()
            let answer = try await auditor.get("/v1/evidence/\(paid.evidence)/bundle")
            #expect(answer.status == 200 && answer.body.count <= 20_000, "\(answer.body.count)")
            let bundle = try #require(EvidenceBundle(decoding: answer.body))
            #expect(
                Set(bundle.entries.keys) == [.enrolled, .policy, .created, .approved, .executed])
            let trust = bank.folder + "/trust"
            let file = bank.folder + "/bundle"
            try TestBank.write("log \(try bank.logKey().text)\nquorum none\n", to: trust)
            try TestBank.write(String(decoding: answer.body, as: UTF8.self), to: file)
            let verified = try await bank.verifyBundle(file, trust)
            #expect(verified.0 == .exited(0), "\(verified.1)")
            // Any record of the action names the same bundle.
            let created = try #require(
                try await bank.text(
                    "SELECT id::text FROM countersign.evidence WHERE kind = 'action.created'"))
            let same = try await auditor.get("/v1/evidence/\(created)/bundle")
            #expect(EvidenceBundle(decoding: same.body)?.entries.keys == bundle.entries.keys)
            // Whoever trusts another log believes none of it.
            let other = VerifierKey(
                name: "bank.example/log", kind: .ed25519,
                publicKey: try Ed25519PrivateKey.generate().publicKey)
            try TestBank.write("log \(other.text)\nquorum none\n", to: trust)
            #expect(try await bank.verifyBundle(file, trust).0 == .exited(1))
            // What is about no action has none, and what is asked is told.
            let key = try #require(
                try await bank.text(
                    "SELECT id::text FROM countersign.evidence WHERE kind = 'log.key'"))
            #expect(try await auditor.get("/v1/evidence/\(key)/bundle").status == 404)
            #expect(try await auditor.get("/v1/evidence/x/bundle").status == 404)
            #expect(
                try await instance.backend().api.get("/v1/evidence/\(paid.evidence)/bundle").status
                    == 403)
            #expect(
                try await bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'evidence.read'") == 2)
        }
    }

    @Test func `is signed by an external command, and by two keys while they change`() async throws
    {
        try await withBank { bank in
            let (program, verifierKey) = try bank.signingProgram("hsm")
            let old = try await bank.serve()
            try await bank.auditLog([])
            _ = try await old.process.ended()
            let file = bank.configurationFile
            let text = try String(contentsOfFile: file, encoding: .utf8)
                .replacing("log.key =", with: "log.old_key =")
            try TestBank.write(
                text + "log.sign_command = \(program)\nlog.verifier_key = \(verifierKey.text)\n",
                to: file)
            let new = try await bank.serve()
            let customer = try await bank.customer("c-1", at: new)
            let paid = try await InsistentClient(Shift(new)).pay(from: customer, key: "k-1")
            try await bank.auditLog([paid.evidence])
            let answer = try await new.auditor().get("/log/checkpoint")
            #expect(answer.status == 200)
            let note = try #require(SignedNote(decoding: answer.body))
            #expect(note.signatures.count == 2 && verifierKey.verifies(note))
            // Each key is told once.
            #expect(
                try await bank.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'log.key'") == 2)
            // A command that signs with another key gets nothing published.
            _ = try await new.process.ended()
            try TestBank.write(
                try Ed25519PrivateKey.generate().pem, to: bank.folder + "/hsm.pem")
            let wrong = try await bank.serve()
            _ = try await InsistentClient(Shift(wrong)).pay(from: customer, key: "k-2")
            try await until("it says that nobody signed") {
                wrong.process.text.contains("\"log.unsigned\"")
            }
            let size = try #require(Checkpoint(text: note.text)).size
            let published = try await bank.count("SELECT published FROM countersign.log_state")
            #expect(published >= Int(size))
            #expect(
                try await bank.count("SELECT count(*) FROM countersign.evidence") > published)
        }
    }

    @Test func `goes from one external command to another`() async throws {
        try await withBank { bank in
            let (first, firstKey) = try bank.signingProgram("first")
            let (second, secondKey) = try bank.signingProgram("second")
            let file = bank.configurationFile
            let common =
                try String(contentsOfFile: file, encoding: .utf8)
                .split(separator: "\n").filter { !$0.hasPrefix("log.key") }.joined(separator: "\n")
                + "\n"
            func current(_ program: String, _ key: VerifierKey) -> String {
                "log.sign_command = \(program)\nlog.verifier_key = \(key.text)\n"
            }
            let old = "log.old_sign_command = \(first)\nlog.old_verifier_key = \(firstKey.text)\n"
            for (settings, keys) in [
                (current(first, firstKey), [firstKey]),
                (current(second, secondKey) + old, [secondKey, firstKey]),
                (current(second, secondKey), [secondKey]),
            ] {
                try TestBank.write(common + settings, to: file)
                let instance = try await bank.serve()
                // What the start records, such as the key, is enough to sign.
                _ = try await instance.auditor().get("/v1/evidence?limit=1")
                try await bank.auditLog([])
                try await until("these keys sign, and no other") {
                    let body = try await instance.auditor().get("/log/checkpoint").body
                    guard let note = SignedNote(decoding: body) else { return false }
                    return note.signatures.count == keys.count
                        && keys.allSatisfy { $0.verifies(note) }
                }
                _ = try await instance.process.ended()
            }
        }
    }
}

extension TestBank {
    /// Writes a program that signs as an HSM's tool does, with a key in the file `NAME.pem`.
    fileprivate func signingProgram(_ name: String) throws -> (path: String, key: VerifierKey) {
        let key = try Ed25519PrivateKey.generate()
        let path = folder + "/sign-" + name
        try Self.write(key.pem, to: "\(folder)/\(name).pem")
        // openssl signs a file only, as many tools do.
        try Self.write(
            """
            #!/bin/sh
            set -e
            text=$(mktemp)
            trap 'rm -f "$text"' EXIT
            cat > "$text"
            openssl pkeyutl -sign -rawin -inkey '\(folder)/\(name).pem' -in "$text"

            """, to: path, mode: 0o700)
        let verifierKey = VerifierKey(
            name: "bank.example/log", kind: .ed25519, publicKey: key.publicKey)
        return (path, verifierKey)
    }

    /// Runs one statement that no transaction may hold, on the database `postgres`.
    private func administer(_ statement: String) async throws {
        let database = Database(
            DatabaseOptions(connection: superuser.replacing(["dbname": "postgres"]), size: 1))
        do {
            try await database.query(Statement("test", .write, Bytes(statement.utf8)))
            await database.close()
        } catch {
            await database.close()
            throw error
        }
    }

    /// Keeps a copy of the database as it is; nobody may be connected.
    ///
    /// - Returns: Puts the database back to that copy.
    func backUp() async throws -> @Sendable () async throws -> Void {
        let name = try #require(try await text("SELECT current_database()"))
        let copy = name + "_copy"
        try await administer("CREATE DATABASE \(copy) TEMPLATE \(name)")
        return { [self] in
            try await administer("DROP DATABASE \(name) WITH (FORCE)")
            try await administer("ALTER DATABASE \(copy) RENAME TO \(name)")
        }
    }

    /// Where a record stands; `nil` while it has no position.
    func position(of evidence: String) async throws -> Int64? {
        try await sql(
            "SELECT position FROM countersign.log_leaf WHERE evidence_id = '\(evidence)'"
        ).first?["position"]
    }

    /// What verifies the log's signatures.
    func logKey() throws -> VerifierKey {
        let pem = try String(contentsOfFile: folder + "/log.pem", encoding: .utf8)
        return VerifierKey(
            name: "bank.example/log", kind: .ed25519,
            publicKey: try Ed25519PrivateKey(pem: pem).publicKey)
    }

    /// The newest checkpoint in the mirror; `nil` when it has none.
    func mirrored() -> Bytes? {
        FileManager.default.contents(atPath: mirror + "/checkpoint").map { Bytes($0) }
    }

    /// Waits until the mirror has all that is published, and makes the log again from its files alone.
    func expectMirror() async throws {
        try await until("the mirror has all") {
            guard let note = mirrored().flatMap({ SignedNote(decoding: $0) }),
                let size = Checkpoint(text: note.text)?.size
            else { return false }
            return try await count("SELECT published FROM countersign.log_state") == Int(size)
        }
        let note = try #require(mirrored().flatMap { SignedNote(decoding: $0) })
        let checkpoint = try #require(Checkpoint(text: note.text))
        var edge = TreeEdge()
        for path in LogMirror.paths(from: 0, to: checkpoint.size) {
            let content = Bytes(try Data(contentsOf: URL(filePath: mirror + "/" + path.text)))
            guard case .entries = path else { continue }
            _ = edge.append(
                try #require(EntryTile(decoding: content)).entries
                    .map { EvidenceSealer.leafHash($0) })
        }
        #expect(edge.size == checkpoint.size && edge.root == checkpoint.root)
    }
}
