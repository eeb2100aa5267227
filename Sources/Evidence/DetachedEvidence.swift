package import Countersign

extension ServiceEvidence {
    /// A month of evidence that is kept elsewhere from now on; the leaf names it, as `2026-01`.
    package static func detached(month: String, _ content: DetachedMonth) -> EvidenceDraft {
        var body: [JSON.Member] = [
            .init("month", .string(month)), .init("records", .integer(content.records)),
            .init("first_position", content.positions.map { .integer($0.lowerBound) } ?? .null),
            .init("last_position", content.positions.map { .integer($0.upperBound) } ?? .null),
        ]
        if let kept = content.kept {
            body.append(.init("kept", .integer(kept.records)))
            body.append(.init("kept_digest", .string(kept.digest.hex)))
        }
        return EvidenceDraft(.evidenceDetached, outcome: month, body: .object(body))
    }

    /// What a month of evidence holds.
    package struct DetachedMonth: Hashable, Sendable {
        package let records: Int64
        /// The first and the last position in the log; `nil` for a month without a record.
        package let positions: ClosedRange<Int64>?
        /// What of it later records rest on, and stays; `nil` in records of before V0036.
        package let kept: Kept?

        /// Records that stay when their month is detached.
        package struct Kept: Hashable, Sendable {
            package let records: Int64
            /// SHA-256 over their leaf hashes in the order of IDs.
            package let digest: Digest

            package init(records: Int64, digest: Digest) {
                self.records = records
                self.digest = digest
            }
        }

        package init(records: Int64, positions: ClosedRange<Int64>?, kept: Kept?) {
            self.records = records
            self.positions = positions
            self.kept = kept
        }
    }
}

extension ServiceEvidence.DetachedMonth {
    /// Reads the body of a record `evidence.detached`; `nil` for one that does not say clearly what it means.
    init?(recorded body: JSON) {
        func number(_ name: String) -> Int64? {
            guard case .integer(let number)? = body[name], number >= 0 else { return nil }
            return number
        }
        guard let records = number("records") else { return nil }
        var positions: ClosedRange<Int64>?
        if let first = number("first_position"), let last = number("last_position") {
            guard first <= last else { return nil }
            positions = first...last
        }
        var kept: Kept?
        if body["kept"] != nil {
            guard let count = number("kept"), count <= records,
                let digest = body["kept_digest"]?.text.flatMap({ Hex.decode($0) })
                    .flatMap({ Digest($0) })
            else { return nil }
            kept = Kept(records: count, digest: digest)
        }
        guard positions != nil || records == 0 else { return nil }
        self.init(records: records, positions: positions, kept: kept)
    }
}
