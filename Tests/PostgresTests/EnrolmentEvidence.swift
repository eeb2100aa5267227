import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport

/// Reads all evidence of a database as it lies there.
enum EvidenceReader {
    static func all(in test: TestDatabase) async throws -> [StoredEvidence] {
        try await test.sql(
            """
            SELECT e.*, b.salt, b.nonce, b.ciphertext, k.wrapped
              FROM countersign.evidence e
              JOIN countersign.evidence_body b ON b.evidence_id = e.id
              JOIN countersign.subject_key k ON k.subject_id = e.subject_id
             ORDER BY e.recorded_at, e.id
            """
        ).map { row in
            StoredEvidence(
                id: try row["id"], kind: try row["kind"], action: try row["action_id"],
                subject: try row["subject_id"], credential: try row["credential_id"],
                leaf: try row["leaf"], leafHash: try row["leaf_hash"],
                bodyCommitment: try row["body_commit"], recordedAt: try row["recorded_at"],
                body: StoredEvidence.EncryptedBody(
                    salt: try row["salt"], nonce: try row["nonce"],
                    ciphertext: try row["ciphertext"], wrappedKey: try row["wrapped"]))
        }
    }
}

extension EnrolmentWorld {
    /// Whether every record verifies and every chain is whole.
    func evidenceHolds() async throws -> Bool {
        let records = try await evidence()
        let verifier = EvidenceVerifier(keyEncryption: keyEncryption)
        for record in records { _ = try verifier.verify(record) }
        return EvidenceChains(records).broken(detached: []).isEmpty
    }

    /// The bodies of one kind, in the order in which they were written.
    func bodies(_ kind: EvidenceKind) async throws -> [JSON] {
        try await evidence().filter { $0.kind == kind.rawValue }.map { record in
            guard let opened = record.open(with: keyEncryption) else {
                throw Unexpected("a body that does not open")
            }
            let body = try JSONDecoder().decode(JSON.self, from: Data(opened.body))
            // As the API shows it.
            return body.setting(
                "attachment", to: opened.attachment.flatMap { JSON(recorded: $0) })
        }
    }

    /// How many records there are of each of these kinds.
    func recorded(_ kind: EvidenceKind) async throws -> Int {
        try await evidence().count { $0.kind == kind.rawValue }
    }
}
