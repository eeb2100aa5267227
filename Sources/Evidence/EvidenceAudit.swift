package import Countersign

/// Checks records one after another: that a key signed only after it was enrolled and before it ended, and as
/// what it was enrolled, that enough people were behind what takes several, that each decision is what its
/// policy says on the inputs that were recorded, and that holds lasted as they were decided.
package struct EvidenceAudit {
    private let verifier: EvidenceVerifier
    private var enrolled: [ID<Credential>: EnrolledKey] = [:]
    private var ends = KeyEndAudit()
    private var acts = ActAudit()
    private var policies: PolicyAudit
    private var inputs = InputAudit()
    private var holds = HoldAudit()
    /// What the records have said so far of the installation that they are of.
    package private(set) var installation = RecordedInstallation.unstated

    /// - Parameters:
    ///   - verifier: Checks each record by itself.
    ///   - migrated: The policies that came with a migration; see ``PolicyAudit``.
    package init(verifier: EvidenceVerifier, migrated: [Int: Digest]) {
        self.verifier = verifier
        policies = PolicyAudit(migrated: migrated)
    }

    /// Checks the next record.
    ///
    /// - Parameter record: Not older than the records before it: a key is enrolled before it signs.
    /// - Returns: What was checked.
    /// - Throws: ``EvidenceFault``, the first that applies.
    package mutating func check(
        _ record: StoredEvidence
    ) throws(EvidenceFault) -> EvidenceVerifier.Finding {
        let ended = Result { () throws(EvidenceFault) in try ends.check(record) }
        let (finding, body) = try verifier.examine(record)
        // Of a customer who is gone nothing is compared any more, and others' records name nothing of it.
        if finding == .erased {
            try ended.get()
            return finding
        }
        if record.kind == EvidenceKind.installationStated.rawValue { try installation.read(body) }
        // What has another fault has happened nevertheless: what follows is compared with it.
        let held = Result { () throws(EvidenceFault) in try holds.check(record, body) }
        let looked = Result { () throws(EvidenceFault) in try inputs.check(record, body) }
        let remark = try acts.check(record.kind, body, of: record.action)
        try ended.get()
        try checkKey(record, body)
        try policies.check(record.kind, record.leaf, body)
        try looked.get()
        try held.get()
        return remark.map { .remarkable($0) } ?? finding
    }

    private mutating func checkKey(
        _ record: StoredEvidence, _ body: JSON
    ) throws(EvidenceFault) {
        guard let credential = record.credential, body["public_key"]?.text != nil else { return }
        if record.kind == EvidenceKind.credentialEnrolled.rawValue {
            enrolled[credential] = EnrolledKey(enrolledBy: body)
        } else if body["signed"] == .bool(true) {
            guard let key = enrolled[credential] else { throw .notEnrolled }
            try key.demandIsWhatSigned(body)
        }
    }
}
