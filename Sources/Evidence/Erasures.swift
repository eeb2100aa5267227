import Countersign

/// Who was erased, as records tell: what an audit believes about bodies that are missing.
package struct Erasures: Sendable {
    private var subjects: [ID<Subject>: ID<Countersign.Evidence>] = [:]
    private var serviceRecords: [ID<Countersign.Evidence>: ID<Countersign.Evidence>] = [:]

    /// Nobody was.
    package init() {}

    /// Reads the records `subject.erased`; those with a fault tell nothing.
    ///
    /// - Parameters:
    ///   - records: Of that kind, all there are.
    ///   - keyEncryption: Opens their bodies.
    package init(reading records: [StoredEvidence], with keyEncryption: KeyEncryptionKey) {
        let verifier = EvidenceVerifier(keyEncryption: keyEncryption)
        for record in records where record.kind == EvidenceKind.subjectErased.rawValue {
            do throws(EvidenceFault) {
                let body = try verifier.examine(record).body
                guard let leaf = EvidenceLeaf(decoding: record.leaf),
                    let erased = ErasedSubject(leaf, body)
                else { continue }
                subjects[erased.subject] = record.id
                for id in erased.serviceRecords { serviceRecords[id] = record.id }
            } catch { continue }
        }
    }

    /// Whether that subject had been erased when the record was made: then nothing could be recorded of it.
    func wasErased(_ subject: ID<Subject>, before id: ID<Countersign.Evidence>) -> Bool {
        subjects[subject].map { id.rawValue > $0.rawValue } ?? false
    }

    /// Whether an erasure is why this record has no body: of its subject, whose key is gone too, or of a
    /// record of the service itself that the erasure names.
    func explain(_ record: StoredEvidence) -> Bool {
        if let erasure = subjects[record.subject] {
            return record.isErased && record.id.rawValue < erasure.rawValue
        }
        return record.subject == EvidenceSealer.serviceSubject
            && serviceRecords[record.id].map { record.id.rawValue < $0.rawValue } ?? false
    }
}

/// What a record `subject.erased` says: in its leaf, for whoever has the log alone, and in its body.
struct ErasedSubject {
    let subject: ID<Subject>
    /// Records of the service itself whose bodies went too.
    let serviceRecords: [ID<Countersign.Evidence>]

    /// Whom a leaf alone names; `nil` when it does not say that clearly, or says it of the service itself.
    static func subject(in leaf: EvidenceLeaf) -> ID<Subject>? {
        guard leaf.subject == EvidenceSealer.serviceSubject,
            let subject = leaf.outcome.flatMap({ ID<Subject>($0) }), subject.text == leaf.outcome,
            subject != EvidenceSealer.serviceSubject
        else { return nil }
        return subject
    }

    /// `nil` for a record whose leaf or body does not say clearly whom it has erased.
    init?(_ leaf: EvidenceLeaf, _ body: JSON) {
        guard let subject = Self.subject(in: leaf), body["subject_id"]?.text == leaf.outcome,
            case .array(let named)? = body["service_records"]
        else { return nil }
        let records = named.compactMap { $0.text.flatMap { ID<Countersign.Evidence>($0) } }
        guard records.count == named.count else { return nil }
        self.subject = subject
        serviceRecords = records
    }
}
