import Countersign
import Crypto
import Evidence
import Foundation
import Testing

@testable import CountersignMain

/// I15: what was promised is in the log when it is due.
@Suite(.timeLimit(.minutes(5))) struct `A caller who was promised a record` {
    @Test func `can prove that it is in the log, or that it is not`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let signer = try bank.promiseSigner()
            var lines: [String] = []
            for number in 1...3 {
                let created = try await instance.backend().create(
                    customer.transfer("1.00", reference: "\(number)"), idempotencyKey: "k-\(number)"
                )
                let question = try #require(created.question)
                let body = try customer.approval(question)
                let answers = [
                    try await instance.backend().approve(question.action, body),
                    try await instance.backend().approve(question.action, body),
                ]
                let promises = answers.compactMap { $0.text("promise") }
                #expect(promises.count == 2 && promises.first == promises.last)
                #expect(answers.last?.isReplay == true)
                let text = try #require(promises.first)
                let note = try #require(SignedNote(decoding: Bytes(text.utf8)))
                let promise = try #require(
                    RecordPromise.read(note, signedBy: signer.verifierKey))
                #expect(promise.evidence.text == answers.first?.text("evidence_id"))
                #expect(promise.leafHash.hex == answers.first?.text("leaf_hash"))
                lines.append(bank.line(text))
            }
            try await bank.auditLog([])
            let kept = try await bank.checkPromises(lines, signer.verifierKey)
            #expect(
                kept.0 == .exited(0) && kept.1.contains("3 promises kept, 0 not due yet, 0 broken"))

            // Promised an hour ago or now, and never written.
            let forged = sha256([7])
            let now = systemTime()
            let old = ID<Countersign.Evidence>(
                at: Instant(milliseconds: now.milliseconds - 3_700_000),
                random: EntropySource.openSSL(10))
            let missing = bank.line(signer.promise(of: old, forged))
            let broken = try await bank.checkPromises(lines + [missing], signer.verifierKey)
            #expect(broken.0 == .exited(1))
            #expect(broken.1.contains("\(old)  is in no published checkpoint"))
            let fresh = ID<Countersign.Evidence>(at: now, random: EntropySource.openSSL(10))
            let pending = try await bank.checkPromises(
                [bank.line(signer.promise(of: fresh, forged))], signer.verifierKey)
            #expect(pending.0 == .exited(0) && pending.1.contains("1 not due yet"))
            // There, and with another leaf.
            let id = try #require(
                try await bank.text(
                    "SELECT id::text FROM countersign.evidence WHERE kind = 'action.approved' LIMIT 1"
                ))
            let evidence = try #require(ID<Countersign.Evidence>(id))
            let altered = try await bank.checkPromises(
                [bank.line(signer.promise(of: evidence, forged))], signer.verifierKey)
            #expect(altered.0 == .exited(1) && altered.1.contains("with another leaf"))
            // Signed by nobody who may, or nothing at all.
            let other = VerifierKey(
                name: signer.verifierKey.name, kind: .ed25519,
                publicKey: try Ed25519PrivateKey.generate().publicKey)
            #expect(try await bank.checkPromises(lines, other).0 == .exited(1))
            #expect(try await bank.checkPromises([], signer.verifierKey).0 == .exited(1))
            // The log names the key.
            let told = try await bank.text(
                """
                SELECT convert_from(leaf, 'UTF8')::jsonb ->> 'outcome' FROM countersign.evidence
                 WHERE kind = 'promise.key'
                """)
            #expect(told == signer.verifierKey.text)
        }
    }

    @Test func `has every line looked at, also of a key before`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let paid = try await InsistentClient(Shift(instance)).pay(from: customer, key: "k-1")
            try await bank.auditLog([paid.evidence])
            let now = try bank.promiseSigner()
            let before = PromiseSigner(
                key: try Ed25519PrivateKey.generate(), origin: "bank.example/log",
                within: Seconds(3600))
            let evidence = try #require(ID<Countersign.Evidence>(paid.evidence))
            let hash = try #require(
                try await bank.text(
                    "SELECT encode(leaf_hash, 'hex') FROM countersign.evidence WHERE id = '\(evidence)'"
                ).flatMap { Hex.decode($0) }.flatMap { Digest($0) })
            let lines = [
                bank.line(before.promise(of: evidence, hash)), bank.line(nil), "{}",
                bank.line(paid.promise),
            ]
            let one = try await bank.checkPromises(lines, now.verifierKey)
            #expect(one.0 == .exited(1) && one.1.contains("1 promises kept"))
            #expect(
                one.1.contains("3 lines without one") && one.1.contains("line 2 has no promise"))
            let both = try await bank.checkPromises(
                [lines[0], lines[3]], now.verifierKey, before.verifierKey)
            #expect(both.0 == .exited(0) && both.1.contains("2 promises kept"), "\(both.1)")
        }
    }
}
