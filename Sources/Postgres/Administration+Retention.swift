package import Countersign
package import Evidence

extension Administration {
    /// What came of detaching a month.
    package enum Detaching: Hashable, Sendable {
        case detached(ServiceEvidence.DetachedMonth)
        case refused(DetachingRefusal)
    }

    /// Why a month stays; the raw value is what the command prints.
    package enum DetachingRefusal: String, Hashable, Sendable {
        case unknown = "there is no such month of evidence, or there is an older one"
        case retention = "the retention of this month is not over"
        case unsequenced = "a record of this month is in no published checkpoint of the log"
        case legalHold = "there is a legal hold on a customer with a record in this month"
        /// Nothing is wrong: it can be tried again.
        case busy = "a long transaction has the table of evidence: end it, or try again later"
    }

    /// Detaches the oldest month of evidence, with evidence of that.
    ///
    /// Whoever has the table for longer than half a second is not waited for, since everybody who writes evidence
    /// would wait too: see ``DetachingRefusal/busy``.
    ///
    /// - Parameters:
    ///   - month: As `2026-01`.
    ///   - retentionDays: How long after its end it is kept. The database knows the law's least.
    /// - Returns: What was detached, or why nothing was.
    /// - Throws: ``StoreFailure``.
    package func detachEvidence(
        of month: String, retentionDays: Int
    ) async throws(StoreFailure) -> Detaching {
        for _ in 0..<Self.racesMax {
            let content = try await database.query(.evidenceMonth, [.text(month + "-01")]) {
                rows throws(PostgresError) in
                guard let row = try rows.single() else { throw .malformedColumn("records") }
                return try ServiceEvidence.DetachedMonth(row)
            }
            let evidence = try await service.seal([
                ServiceEvidence.detached(month: month, content)
            ])
            let status = try await database.status(
                .detachEvidenceMonth,
                [
                    .text(month + "-01"), .int(retentionDays), .int64(content.records),
                    .int64(content.positions?.lowerBound), .int64(content.positions?.upperBound),
                    .int64(content.kept?.records), .digest(content.kept?.digest), .json(evidence),
                ])
            switch status {
            case "detached": return .detached(content)
            case "unknown": return .refused(.unknown)
            case "retention": return .refused(.retention)
            case "unsequenced": return .refused(.unsequenced)
            case "legal_hold": return .refused(.legalHold)
            case "busy": return .refused(.busy)
            case "lost_race": continue
            default: throw .internalFailure(code: "status")
            }
        }
        throw .unavailable
    }
}

extension ServiceEvidence.DetachedMonth {
    fileprivate init(_ row: Row) throws(PostgresError) {
        let first: Int64? = try row["first_position"]
        let last: Int64? = try row["last_position"]
        var positions: ClosedRange<Int64>?
        if let first, let last, first <= last { positions = first...last }
        self.init(
            records: try row["records"], positions: positions,
            kept: Kept(records: try row["kept"], digest: try row["kept_digest"]))
    }
}
