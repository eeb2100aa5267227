internal import CPostgres

/// Where and as whom to connect: a parsed libpq connection string. Never printed: it may hold a password.
///
/// Several hosts, certificates, `target_session_attrs` and all else that libpq knows are welcome.
@safe package struct ConnectionInfo: Sendable {
    /// Keyword and value of everything that was given, in libpq's order.
    private(set) var settings: [(keyword: String, value: String)] = []

    /// - Parameter text: `postgres://…`, or `host=… dbname=…`.
    /// - Throws: ``PostgresError/other(sqlState:)`` with 22023 when libpq cannot read it.
    package init(_ text: String) throws(PostgresError) {
        guard let options = unsafe PQconninfoParse(text, nil) else {
            throw .other(sqlState: "22023")
        }
        defer { unsafe PQconninfoFree(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe settings.append((String(cString: keyword), String(cString: value)))
            }
            unsafe option += 1
        }
    }

    /// The same with another value for some keywords of libpq.
    package func replacing(_ values: [String: String]) -> Self {
        var copy = self
        copy.settings.removeAll { values[$0.keyword] != nil }
        copy.settings += values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return copy
    }

    /// The connection string, password and all, to hand to another program.
    package var text: String {
        settings.map { keyword, value in
            let escaped = value.unicodeScalars.map { scalar in
                scalar == "'" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
            }
            return "\(keyword)='\(escaped.joined())'"
        }.joined(separator: " ")
    }
}

extension ConnectionInfo: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<connection>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
