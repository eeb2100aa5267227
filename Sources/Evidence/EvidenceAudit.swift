package import Countersign

/// Checks records one after another: that a key signed only after it was enrolled, and as what it was
/// enrolled, that enough people were behind what takes several, that each decision is what its policy says on
/// the inputs that were recorded, and that holds lasted as they were decided.
package struct EvidenceAudit {
    private let verifier: EvidenceVerifier
    private var enrolled: [ID<Credential>: EnrolledKey] = [:]
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
        let (finding, body) = try verifier.examine(record)
        // Of a customer who is gone nothing is compared any more, and others' records name nothing of it.
        if finding == .erased { return finding }
        if record.kind == EvidenceKind.installationStated.rawValue { try installation.read(body) }
        // What has another fault has happened nevertheless: what follows is compared with it.
        let held = Result { () throws(EvidenceFault) in try holds.check(record, body) }
        let looked = Result { () throws(EvidenceFault) in try inputs.check(record, body) }
        let remark = try acts.check(record.kind, body, of: record.action)
        try checkKey(record, body)
        try policies.check(record.kind, record.leaf, body)
        try looked.get()
        try held.get()
        return remark.map { .remarkable($0) } ?? finding
    }

    private mutating func checkKey(
        _ record: StoredEvidence, _ body: JSON
    ) throws(EvidenceFault) {
        guard let credential = record.credential, let publicKey = body["public_key"]?.text else {
            return
        }
        if record.kind == EvidenceKind.credentialEnrolled.rawValue {
            enrolled[credential] = EnrolledKey(publicKey, enrolledBy: body)
        } else if body["signed"] == .bool(true) {
            guard let key = enrolled[credential], key.publicKey == publicKey,
                key.format == body.signatureFormat
            else { throw .notEnrolled }
            guard key.isWhatDecided(body) else { throw .keyTraits }
        }
    }
}

/// A key, the one format in which it signs, and what a policy looks at in it: fixed when it was enrolled.
private struct EnrolledKey {
    let publicKey: String
    let format: SignatureFormat?
    let profiles: Set<String>
    let isBackupEligible: Bool

    /// Reads the body of an enrolment. One that says nothing of profiles, or of copies, gave none.
    init(_ publicKey: String, enrolledBy body: JSON) {
        self.publicKey = publicKey
        format = body.signatureFormat
        profiles = body["attestation"]?["profiles"]?.names ?? []
        isBackupEligible = body["backup_eligible"]?.truth ?? false
    }

    /// Whether a decision took the key for what it is: a profile that was added in the database since, or
    /// a copy that is hidden there, lets a policy allow what it forbids.
    ///
    /// What a decision does not say did not count in it: records of before policies asked have neither.
    func isWhatDecided(_ body: JSON) -> Bool {
        let inputs = body["policy"]?["inputs"]
        return [body["profiles"], inputs?["credential_profiles"]].compactMap(\.self)
            .allSatisfy { $0.names == profiles }
            && (inputs?["credential_backup_eligible"]).map { $0.truth == isBackupEligible } ?? true
    }
}

extension JSON {
    /// Names as an array of texts, or as one text with commas between; `nil` for anything else.
    fileprivate var names: Set<String>? {
        switch self {
        case .string(let text): return Set(text.split(separator: ",").map(String.init))
        case .array(let values):
            let names = values.compactMap(\.text)
            return names.count == values.count ? Set(names) : nil
        case .object, .integer, .fraction, .bool, .null: return nil
        }
    }

    /// A truth value, or its word; `nil` for anything else.
    fileprivate var truth: Bool? {
        switch self {
        case .bool(let value): value
        case .string(let word): Bool(word)
        case .object, .array, .integer, .fraction, .null: nil
        }
    }
}
