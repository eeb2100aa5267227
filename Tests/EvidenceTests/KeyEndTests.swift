import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// Records of one key, of which the leaves alone are looked at; real signatures are in `EnrolmentCheckTests`.
@Suite struct `A key that has ended` {
    private static let credential = ID<Credential>(rawValue: 7)
    private static let ends: [EvidenceKind] = [.credentialRevoked, .credentialSuspended]
    /// All that the key can have signed.
    private static let signed: [EvidenceKind] = [
        .actionApproved, .actionRejected, .actionRefused, .credentialAuthorized, .requestReplayed,
    ]

    private let log: TestLog

    init() throws { log = try TestLog() }

    /// Which records an audit finds to be of a key that had ended, in the order in which it gets them.
    private func faults(
        _ kinds: [EvidenceKind], order: [Int]? = nil, isErased: Bool = false,
        of credential: ID<Credential>? = Self.credential
    ) throws -> [Int] {
        let drafts = kinds.enumerated().map { index, kind in
            EvidenceDraft(
                kind, action: Fixtures.id(100 + index), credential: credential,
                outcome: "x", body: ["signed": .bool(false)])
        }
        let records = try log.record(drafts)
        var audit = EvidenceAudit(verifier: verifier(isErased), migrated: [:])
        return (order ?? Array(records.indices)).filter { index in
            let record = records[index]
            do throws(EvidenceFault) {
                _ = try audit.check(isErased ? record.erased : record)
                return false
            } catch { return error == .keyEnded }
        }
    }

    private func verifier(_ isErased: Bool) -> EvidenceVerifier {
        guard isErased else { return log.verifier }
        let told = EvidenceDraft(
            .subjectErased, outcome: TestLog.subject.text,
            body: ["subject_id": .string(TestLog.subject.text), "service_records": []])
        let service = EvidenceSealer.serviceSubject
        let wrapped = log.keyEncryption.wrapFreshKey(for: service, entropy: .openSSL)
        let sealed = log.sealer.seal(
            [told], subject: service, wrappedKey: wrapped, at: Fixtures.at + Seconds(60),
            heads: ChainHeads())
        let records = (sealed ?? []).map {
            StoredEvidence($0, wrappedKey: wrapped).with(recordedAt: Fixtures.at + Seconds(61))
        }
        return EvidenceVerifier(
            keyEncryption: log.keyEncryption,
            erasures: Erasures(reading: records, with: log.keyEncryption))
    }

    /// Of a customer who was erased the leaves are all that there is.
    @Test func `signs nothing that an audit accepts`() throws {
        for end in Self.ends {
            for kind in Self.signed {
                #expect(try faults([.credentialEnrolled, kind, end]) == [], "\(kind)")
                #expect(
                    try faults([.credentialEnrolled, end, kind], isErased: true) == [2],
                    "\(end) \(kind)")
            }
        }
        #expect(try faults([.credentialRevoked, .actionRejected]) == [1])
    }

    @Test func `may fail, and end again`() throws {
        let kinds: [EvidenceKind] = [
            .actionApproved, .credentialSuspended, .attemptFailed, .credentialRevoked,
        ]
        #expect(try faults(kinds) == [])
        #expect(try faults(kinds + [.actionRejected]) == [4])
    }

    /// An ID tells when a record was begun: of two that were made at once, the chain tells which was first.
    @Test func `ended where its chain says so, whatever comes first in the order of IDs`() throws {
        let kinds: [EvidenceKind] = [.credentialEnrolled, .actionApproved, .credentialRevoked]
        #expect(try faults(kinds, order: [0, 2, 1]) == [])
        let late: [EvidenceKind] = [.credentialEnrolled, .credentialRevoked, .actionApproved]
        #expect(try faults(late, order: [0, 2, 1]) == [1])
    }

    @Test func `says nothing of rejections that nobody signed`() throws {
        #expect(try faults([.credentialRevoked, .actionRejected], of: nil) == [])
    }
}

extension StoredEvidence {
    /// The same record as an erasure leaves it.
    fileprivate var erased: StoredEvidence {
        StoredEvidence(
            id: id, kind: kind, action: action, subject: subject, credential: credential,
            leaf: leaf, leafHash: leafHash, bodyCommitment: bodyCommitment,
            recordedAt: recordedAt, body: nil, isErased: true)
    }
}
