import Countersign

/// Checks records one after another, and that a key signed only after it was enrolled.
package struct EvidenceAudit {
    private let verifier: EvidenceVerifier
    private var enrolled: [ID<Credential>: EnrolledKey] = [:]
    private var acts = ActAudit()

    /// A key and the one format in which it signs.
    private struct EnrolledKey: Equatable {
        let publicKey: String
        let format: SignatureFormat?
    }

    package init(verifier: EvidenceVerifier) { self.verifier = verifier }

    /// Checks the next record.
    ///
    /// - Parameter record: Not older than the records before it: a key is enrolled before it signs.
    /// - Returns: What was checked.
    /// - Throws: ``EvidenceFault``, the first that applies.
    package mutating func check(
        _ record: StoredEvidence
    ) throws(EvidenceFault) -> EvidenceVerifier.Finding {
        let (finding, body) = try verifier.examine(record)
        try acts.check(record.kind, body)
        guard let credential = record.credential, let publicKey = body["public_key"]?.text else {
            return finding
        }
        let key = EnrolledKey(publicKey: publicKey, format: body.signatureFormat)
        if record.kind == EvidenceKind.credentialEnrolled.rawValue {
            enrolled[credential] = key
        } else if body["signed"] == .bool(true), enrolled[credential] != key {
            throw .notEnrolled
        }
        return finding
    }
}
