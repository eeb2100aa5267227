import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// What the running service gives an auditor of a decision whose customer was erased since.
@Suite struct `A bundle of an erased customer` {
    /// The bundle, once everything that belongs into it is in a published checkpoint.
    private func bundle(_ evidence: String, _ instance: ServiceInstance) async throws -> Bytes {
        var answer = try await instance.auditor().get("/v1/evidence/\(evidence)/bundle")
        try await until("it is published") {
            answer = try await instance.auditor().get("/v1/evidence/\(evidence)/bundle")
            return answer.status != 503
        }
        #expect(answer.status == 200 && answer.body.count <= 20_480)
        return answer.body
    }

    @Test func `is believed with the record of that erasure, and not without`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve(bank.erasing)
            let client = InsistentClient(Shift(instance))
            var paid: [String] = []
            for id in ["c-1", "c-2"] {
                let customer = try await bank.customer(id, at: instance)
                let payment = try await client.pay(from: customer, key: id)
                try await until("it is executed") {
                    try await instance.backend().action(payment.action).text("action", "execution")
                        == "executed"
                }
                paid.append(payment.evidence)
            }
            let erasure = try await instance.privacy().post("/v1/customers/c-1/erasure", [:])
            #expect(erasure.status == 200)
            let bytes = try await bundle(paid[0], instance)
            let erased = try #require(EvidenceBundle(decoding: bytes))
            let roles: Set<BundleRole> = [.enrolled, .policy, .created, .approved, .executed]
            #expect(Set(erased.entries.keys) == roles.union([.erased]))
            #expect(erased.entries.filter { $0.value.body != nil }.map(\.key) == [.policy])
            // Of the other one nothing has changed.
            let other = try #require(
                EvidenceBundle(decoding: try await bundle(paid[1], instance)))
            #expect(Set(other.entries.keys) == roles)
            #expect(other.entries.values.allSatisfy { $0.body != nil })
            try await verify(bytes, in: bank)
        }
    }

    /// With the program and with the verifier in Python.
    private func verify(_ bytes: Bytes, in bank: TestBank) async throws {
        let (file, trust) = (bank.folder + "/bundle", bank.folder + "/trust")
        try TestBank.write("log \(try bank.logKey().text)\nquorum none\n", to: trust)
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/verify-bundle.py").standardizedFileURL.path
        // It is the last.
        let text = String(decoding: bytes, as: UTF8.self)
        let place = try #require(text.firstRange(of: #","erased":"#))
        for (name, text, status) in [
            ("with", text, 0), ("without", text[..<place.lowerBound] + "}}", 1),
        ] as [(String, String, Int32)] {
            try TestBank.write(text, to: file)
            let ours = try await bank.verifyBundle(file, trust)
            #expect(ours.0 == .exited(status), "\(name): \(ours.1)")
            #expect(
                ours.1.contains(
                    status == 0 ? "the customer was erased at" : "no record “erased”"), "\(ours.1)")
            let python = try ServiceProcess(
                "python-\(name)",
                words: ["/usr/bin/env", "python3", "-B", script, file, trust], in: bank.folder)
            #expect(try await python.ending() == .exited(status), "\(name): \(python.text)")
        }
    }
}
