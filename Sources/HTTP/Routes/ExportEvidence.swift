import Countersign

extension APIRoutes {
    /// All records that match, oldest first, in one answer that is made while it is sent. That it was taken
    /// away is evidence before the first record leaves.
    var exportEvidence: Route {
        gate.route(
            .get, "/v1/evidence/export", for: .auditor,
            reading: { request throws(Problem) in
                let reader = try QueryReader(
                    request, allowing: EvidenceQuery.filters + ["format", "cursor"])
                return (
                    query: try EvidenceQuery(reader, limit: ExportFormat.pageRecords),
                    format: try reader.choice("format", ExportFormat.self) ?? .ndjson
                )
            },
            answer: { call async throws(StoreFailure) in
                let format = call.input.format
                let export = try await evidence.export(
                    call.input.query, format: format.rawValue, reader: call.client)
                let head = Locked(format.head)
                return .streamed(
                    contentType: format.contentType,
                    headers: ["Countersign-Complete-Until": export.completeUntil.text]
                ) { () async throws(StoreFailure) in
                    // What comes before the first record comes by itself, also when there is none.
                    let first = head.withLock { head in
                        defer { head = nil }
                        return head
                    }
                    if let first { return first }
                    return try await export.next()?.flatMap(format.line)
                }
            })
    }
}

/// How records are taken away; the raw value is the word for it in queries.
enum ExportFormat: String, CaseIterable, Sendable {
    /// One JSON object a line.
    case ndjson
    /// RFC 4180, with a line of names.
    case csv

    /// How many records are in memory at a time.
    static let pageRecords = 500

    var contentType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv; charset=utf-8; header=present"
        }
    }

    /// What comes before the first record.
    fileprivate var head: Bytes? {
        switch self {
        case .ndjson: nil
        case .csv: CSV.line(ExportFormat.columns)
        }
    }

    private static let columns = [
        "id", "kind", "at", "action_id", "customer_id", "credential_id", "leaf", "leaf_hash",
        "body",
    ]

    /// A record with its line end.
    func line(_ record: EvidenceRecord) -> Bytes {
        switch self {
        case .ndjson:
            return JSON.object(record.members).encoded + [UInt8(ascii: "\n")]
        case .csv:
            let values = Dictionary(
                record.members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            return CSV.line(ExportFormat.columns.map { CSV.text(values[$0] ?? .null) })
        }
    }
}

/// Comma-separated values. Source: RFC 4180.
enum CSV {
    /// A text that a spreadsheet would take for a formula gets an apostrophe before it, and then it does not.
    ///
    /// Source: OWASP, CSV injection.
    private static let formulaStarts = Bytes("=+-@\t\r\n".utf8)

    /// One line. Every field is in quotes: then nothing in it ends it, but a quote, which is doubled.
    static func line(_ fields: [String]) -> Bytes {
        var line: Bytes = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            line.append(UInt8(ascii: "\""))
            if let first = field.utf8.first, formulaStarts.contains(first) {
                line.append(UInt8(ascii: "'"))
            }
            for unit in field.utf8 {
                if unit == UInt8(ascii: "\"") { line.append(unit) }
                line.append(unit)
            }
            line.append(UInt8(ascii: "\""))
        }
        return line + [0x0D, 0x0A]
    }

    /// A value as a field: a text as it is, nothing for `null`, and JSON for everything else.
    static func text(_ value: JSON) -> String {
        switch value {
        case .string(let text): text
        case .null: ""
        case .bool, .integer, .fraction, .array, .object:
            String(decoding: value.encoded, as: UTF8.self)
        }
    }
}
