package import Countersign

/// One parameter of a statement; every factory takes an optional, and `nil` is NULL.
///
/// Values travel as text that the server reads as the type it infers for the parameter, except
/// ``bytes(_:)``, which travels as it is and so must stand where the server infers `bytea`.
package struct Parameter: Hashable, Sendable {
    /// What is sent; `nil` is NULL.
    let content: Bytes?
    /// Whether ``content`` is in the binary format of the parameter's type.
    let isBinary: Bool

    private init(text: String?) {
        content = text.map { Bytes($0.utf8) }
        isBinary = false
    }

    private init(content: Bytes?, isBinary: Bool) {
        self.content = content
        self.isBinary = isBinary
    }

    /// SQL NULL.
    package static let null = Parameter(content: nil, isBinary: false)

    /// Text of any kind. U+0000 cannot be stored: such a statement fails with SQLSTATE 22021.
    package static func text(_ value: String?) -> Self { Parameter(text: value) }

    /// `bytea`.
    package static func bytes(_ value: Bytes?) -> Self {
        Parameter(content: value, isBinary: value != nil)
    }

    /// `bytea` of 32 bytes.
    package static func digest(_ value: Digest?) -> Self { bytes(value?.bytes) }

    /// `int8`, or a smaller integer when it fits; otherwise the server refuses it (22003).
    package static func int64(_ value: Int64?) -> Self { Parameter(text: value.map { String($0) }) }

    /// An integer; see ``int64(_:)``.
    package static func int(_ value: Int?) -> Self { Parameter(text: value.map { String($0) }) }

    /// `boolean`.
    package static func bool(_ value: Bool?) -> Self {
        Parameter(text: value.map { $0 ? "true" : "false" })
    }

    /// `timestamptz`, in milliseconds.
    package static func instant(_ value: Instant?) -> Self { Parameter(text: value?.text) }

    /// `uuid`.
    package static func id<Entity>(_ value: ID<Entity>?) -> Self { Parameter(text: value?.text) }

    /// `json` or `jsonb`: UTF-8 of a JSON text. `jsonb` cannot hold `\u0000` (22P05).
    package static func json(_ value: Bytes?) -> Self { Parameter(content: value, isBinary: false) }

    /// `text[]`.
    package static func textArray(_ values: [String?]) -> Self {
        Parameter(text: array(values.map { $0.map(quoted) }))
    }

    /// `bigint[]` or another array of integers.
    package static func int64Array(_ values: [Int64?]) -> Self {
        Parameter(text: array(values.map { $0.map { String($0) } }))
    }

    /// `date[]`; each value is `YYYY-MM-DD`.
    package static func dateArray(_ values: [String?]) -> Self {
        Parameter(text: array(values.map { $0.map(quoted) }))
    }

    /// `uuid[]`.
    package static func idArray<Entity>(_ values: [ID<Entity>?]) -> Self {
        Parameter(text: array(values.map { $0?.text }))
    }

    /// Array literal of elements that are already quoted. Source: PostgreSQL 15 manual, §8.15.6.
    private static func array(_ elements: [String?]) -> String {
        "{" + elements.map { $0 ?? "NULL" }.joined(separator: ",") + "}"
    }

    /// In quotes nothing but a quote and a backslash is special, not even `NULL` or a brace.
    private static func quoted(_ element: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append("\"")
        for scalar in element.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
            scalars.append(scalar)
        }
        scalars.append("\"")
        return String(scalars)
    }
}
