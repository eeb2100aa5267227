package import Countersign

/// The months of evidence that are kept elsewhere, as records in the log tell: what an audit believes about
/// records that are missing.
///
/// Months are detached oldest first, so that the newest one bounds them all.
package struct DetachedMonths: Sendable {
    /// One month, and what stayed of it.
    package struct Month: Hashable, Sendable {
        /// As `2026-01`.
        package let name: String
        package let content: ServiceEvidence.DetachedMonth
        /// The record that tells of it.
        package let record: ID<Countersign.Evidence>
    }

    /// In the order of the months, each as it was detached last.
    package let months: [Month]

    /// Reads the records `evidence.detached`; those with a fault tell nothing.
    ///
    /// - Parameters:
    ///   - records: Of that kind, all that have their position in the log.
    ///   - keyEncryption: Opens their bodies.
    package init(reading records: [StoredEvidence], with keyEncryption: KeyEncryptionKey) {
        let verifier = EvidenceVerifier(keyEncryption: keyEncryption)
        var found: [String: Month] = [:]
        for record in records where record.kind == EvidenceKind.evidenceDetached.rawValue {
            do throws(EvidenceFault) {
                let body = try verifier.examine(record).body
                guard record.subject == EvidenceSealer.serviceSubject,
                    let name = EvidenceLeaf(decoding: record.leaf)?.outcome,
                    body["month"]?.text == name, Self.isMonth(name),
                    let content = ServiceEvidence.DetachedMonth(recorded: body)
                else { continue }
                found[name] = Month(name: name, content: content, record: record.id)
            } catch { continue }
        }
        months = found.values.sorted { $0.name < $1.name }
    }

    static func isMonth(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts[0].utf8.count == 4, parts[1].utf8.count == 2,
            Int(parts[0]) != nil, let month = Int(parts[1])
        else { return false }
        return 1...12 ~= month
    }

    /// The first day after them, as `2026-02-01`; `nil` when there are none.
    package var end: String? {
        guard let last = months.last?.name, let year = Int(last.prefix(4)),
            let month = Int(last.suffix(2))
        else { return nil }
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return "\(next.0)-\(next.1 < 10 ? "0" : "")\(next.1)-01"
    }

    /// The last position of a record in them; `nil` when they hold none.
    package var lastPosition: Int64? { months.compactMap(\.content.positions?.upperBound).max() }

    /// How many records are kept elsewhere.
    package var records: Int64 {
        months.reduce(0) { $0 + $1.content.records } - kept
    }

    /// How many records of theirs stay.
    package var kept: Int64 { months.reduce(0) { $0 + ($1.content.kept?.records ?? 0) } }
}
