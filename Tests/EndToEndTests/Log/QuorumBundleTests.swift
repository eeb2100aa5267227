import Countersign
import Crypto
import Evidence
import Foundation
import Testing

@testable import CountersignMain

/// Witnesses see a checkpoint every ten seconds, while the log grows twice a second.
@Suite(.timeLimit(.minutes(5))) struct `A bundle for whoever demands a quorum of witnesses` {
    @Test func `has one while the log grows, and when the witnesses are away`() async throws {
        try await Peer.witness { witness in
            try await withBank { bank in
                let instance = try await bank.serve(try await bank.flags(of: witness))
                let customer = try await bank.customer("c-1", at: instance)
                let client = InsistentClient(Shift(instance))
                let paid = try await client.pay(from: customer, key: "k-1")
                let quorum = """
                    SELECT coalesce(max(q.size), 0) FROM countersign.log_quorum q
                     WHERE q.size > (SELECT position FROM countersign.log_leaf
                                      WHERE evidence_id = '\(paid.evidence)')
                    """
                try await until("the witness has cosigned it") { try await bank.count(quorum) > 0 }
                try await witness.call("down")
                let later = try await client.pay(from: customer, key: "k-2")
                let published = "SELECT published FROM countersign.log_state"
                let size = try await bank.count(quorum)
                try await until("the log has grown past that") {
                    try await bank.count(published) > size
                }
                let auditor = try instance.auditor()
                func verified(_ evidence: String) async throws -> ServiceProcess.Ending {
                    let answer = try await auditor.get("/v1/evidence/\(evidence)/bundle")
                    let file = bank.folder + "/bundle"
                    try TestBank.write(String(decoding: answer.body, as: UTF8.self), to: file)
                    return try await bank.verifyBundle(file, bank.folder + "/policy").0
                }
                #expect(try await verified(paid.evidence) == .exited(0))
                // A monitor is shown what has the quorum.
                let shown = try #require(
                    SignedNote(decoding: try await auditor.get("/log/checkpoint").body))
                #expect(shown.signatures.count == 2)
                // What nobody has cosigned yet does not pass for it.
                try await until("the newest is sequenced") {
                    try await bank.count(
                        """
                        SELECT count(*) FROM countersign.log_leaf
                         WHERE evidence_id = '\(later.evidence)' AND position < (\(published))
                        """) == 1
                }
                #expect(try await verified(later.evidence) == .exited(1))
                try await witness.call("up")
                try await until("the witness has cosigned that, too") {
                    try await bank.count(
                        quorum.replacing(paid.evidence, with: later.evidence)) > 0
                }
                #expect(try await verified(later.evidence) == .exited(0))
            }
        }
    }
}

extension TestBank {
    /// Writes the policy that takes this witness, and gives the flag for it.
    func flags(of witness: Peer) async throws -> [String] {
        let verifierKey = try logKey().text
        try await witness.call("trust", ["key": .string(verifierKey)])
        let witnessKey = try #require(try await witness.call("key").text)
        let witnessURL = try #require(try await witness.call("url").text)
        try Self.write(
            "log \(verifierKey)\nwitness audit \(witnessKey) \(witnessURL)\nquorum audit\n",
            to: folder + "/policy")
        return ["--log-witness-policy", folder + "/policy"]
    }
}
