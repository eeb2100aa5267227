import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// What an audit believes about records whose month is kept elsewhere.
@Suite struct `Months that were detached` {
    private let log: TestLog

    init() throws { log = try TestLog() }

    private static func content(
        _ records: Int64 = 9, _ positions: ClosedRange<Int64>? = 3...20, kept: Int64? = 2
    ) -> ServiceEvidence.DetachedMonth {
        .init(
            records: records, positions: positions,
            kept: kept.flatMap { kept in
                Digest(Fixtures.bytes32(5)).map { .init(records: kept, digest: $0) }
            })
    }

    private func read(
        _ drafts: [EvidenceDraft], as subject: ID<Subject> = EvidenceSealer.serviceSubject
    ) throws -> DetachedMonths {
        let wrapped = log.keyEncryption.wrapFreshKey(for: subject, entropy: .openSSL)
        let sealed = try #require(
            log.sealer.seal(
                drafts, subject: subject, wrappedKey: wrapped, at: Fixtures.at,
                heads: ChainHeads()))
        return DetachedMonths(
            reading: sealed.map { StoredEvidence($0, wrappedKey: wrapped) },
            with: log.keyEncryption)
    }

    @Test func `are read from their records, with what was kept of them`() throws {
        let months = try read([
            ServiceEvidence.detached(month: "2019-12", Self.content(4, 21...30, kept: nil)),
            ServiceEvidence.detached(month: "2019-11", Self.content()),
        ])
        #expect(months.months.map(\.name) == ["2019-11", "2019-12"])
        #expect(months.months.first?.content == Self.content())
        #expect(months.end == "2020-01-01" && months.lastPosition == 30)
        #expect(months.records == 9 - 2 + 4 && months.kept == 2)
        let earlier = try read([ServiceEvidence.detached(month: "2019-01", Self.content())])
        #expect(earlier.end == "2019-02-01")
    }

    @Test func `are none where no record says so clearly`() throws {
        let good = ServiceEvidence.detached(month: "2019-11", Self.content())
        let bad: [EvidenceDraft] = [
            ServiceEvidence.detached(month: "2019-13", Self.content()),
            ServiceEvidence.detached(month: "2019", Self.content()),
            ServiceEvidence.detached(month: "2019-11", Self.content(1, nil)),
            ServiceEvidence.detached(month: "2019-11", Self.content(1, kept: 2)),
            good.with(body: good.body.setting("month", to: "2019-10")),
            good.with(body: good.body.setting("records", to: .integer(-1))),
            good.with(body: good.body.setting("kept_digest", to: "00")),
            good.with(body: good.body.setting("kept_digest", to: nil)),
            good.with(kind: .evidenceRead),
        ]
        for draft in bad { #expect(try read([draft]).months.isEmpty, "\(draft.body)") }
        #expect(try read([good], as: TestLog.subject).months.isEmpty)
        let none = try read([])
        #expect(none.end == nil && none.lastPosition == nil && none.records == 0)
    }

    /// The chains of five records of an action, of which some are not there.
    private func chain(
        without missing: [Int]
    ) throws -> (chains: EvidenceChains, records: [StoredEvidence]) {
        let records = try log.record(
            (0..<5).map {
                EvidenceDraft(.attemptFailed, action: Fixtures.id(1), body: ["n": .integer($0)])
            })
        let left = records.indices.filter { !missing.contains($0) }.map { records[$0] }
        return (EvidenceChains(left), records)
    }

    private func hash(_ record: StoredEvidence) -> String { Hex.encode(record.leafHash) }

    @Test func `hold the record before the first one that is left of a chain`() throws {
        let (chains, records) = try chain(without: [0, 1])
        #expect(chains.missing == [hash(records[1])])
        #expect(chains.broken(detached: [hash(records[1])]) == [])
        // Whoever deletes records that no month held is found out.
        #expect(chains.broken(detached: []) == [records[2].id])
        #expect(chains.broken(detached: [hash(records[0])]) == [records[2].id])
    }

    @Test func `may leave one in the middle of a chain behind`() throws {
        let (chains, records) = try chain(without: [0, 2])
        #expect(chains.missing == [hash(records[0]), hash(records[2])])
        #expect(chains.broken(detached: chains.missing) == [])
        #expect(chains.broken(detached: [hash(records[2])]) == [records[1].id])
    }

    @Test func `excuse no second record in one place`() throws {
        let records = try log.record([
            EvidenceDraft(.attemptFailed, action: Fixtures.id(1), body: [:])
        ])
        let others = try log.record([
            EvidenceDraft(.attemptFailed, action: Fixtures.id(1), body: [:])
        ])
        let chains = EvidenceChains(records + others)
        #expect(chains.missing == [])
        let all = Set((records + others).map { hash($0) })
        #expect(chains.broken(detached: all).count == 1)
    }
}
