package import Countersign

/// A type of value that a column can be read as.
package protocol ColumnValue {
    /// Reads the server's text form.
    ///
    /// - Parameters:
    ///   - column: The text, or `nil` for NULL.
    ///   - type: The column's type; a type that is not meant to be read so gives `nil`.
    init?(column: ArraySlice<UInt8>?, type: ColumnType)
}

/// The type of a column. Source: `pg_type.dat` of PostgreSQL 15.
package struct ColumnType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    static let bool = Self(rawValue: 16)
    static let bytea = Self(rawValue: 17)
    static let name = Self(rawValue: 19)
    static let int8 = Self(rawValue: 20)
    static let int2 = Self(rawValue: 21)
    static let int4 = Self(rawValue: 23)
    static let text = Self(rawValue: 25)
    static let json = Self(rawValue: 114)
    static let bpchar = Self(rawValue: 1042)
    static let varchar = Self(rawValue: 1043)
    static let date = Self(rawValue: 1082)
    static let timestamptz = Self(rawValue: 1184)
    static let numeric = Self(rawValue: 1700)
    static let uuid = Self(rawValue: 2950)
    static let jsonb = Self(rawValue: 3802)
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard let column else {
            self = Optional<Wrapped>.none
            return
        }
        guard let value = Wrapped(column: column, type: type) else { return nil }
        self = .some(value)
    }
}

extension String: ColumnValue {
    /// Text of any kind, and what has no type of its own here: `date` (`YYYY-MM-DD`) and `numeric`.
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        let types: [ColumnType] = [.text, .varchar, .bpchar, .name, .json, .jsonb, .date, .numeric]
        guard let column, types.contains(type) else { return nil }
        self.init(validating: column, as: UTF8.self)
    }
}

extension Int64: ColumnValue {
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard let column, [.int8, .int4, .int2].contains(type) else { return nil }
        self.init(String(decoding: column, as: UTF8.self))
    }
}

extension Int: ColumnValue {
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard let value = Int64(column: column, type: type) else { return nil }
        self.init(exactly: value)
    }
}

extension Bool: ColumnValue {
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard type == .bool else { return nil }
        switch column {
        case [UInt8(ascii: "t")]: self = true
        case [UInt8(ascii: "f")]: self = false
        default: return nil
        }
    }
}

extension Bytes: ColumnValue {
    /// `bytea`, or the UTF-8 of `json` and `jsonb`.
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard let column else { return nil }
        switch type {
        case .json, .jsonb: self = Bytes(column)
        case .bytea:
            guard column.starts(with: "\\x".utf8),
                let bytes = Hex.decode(String(decoding: column.dropFirst(2), as: UTF8.self))
            else { return nil }
            self = bytes
        default: return nil
        }
    }
}

extension Digest: ColumnValue {
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard type == .bytea, let bytes = Bytes(column: column, type: type) else { return nil }
        self.init(bytes)
    }
}

extension ID: ColumnValue {
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard let column, type == .uuid else { return nil }
        self.init(String(decoding: column, as: UTF8.self))
    }
}

extension Instant: ColumnValue {
    /// `timestamptz` as a session in UTC with date style ISO writes it, such as
    /// `2025-01-31 12:00:00.123456+00`; microseconds are cut off, never rounded up into the future.
    package init?(column: ArraySlice<UInt8>?, type: ColumnType) {
        guard let column, type == .timestamptz, column.suffix(3) == Bytes("+00".utf8)[...] else {
            return nil
        }
        var text = Bytes(column.dropLast(3))
        guard text.count >= 19, text[10] == UInt8(ascii: " ") else { return nil }
        text[10] = UInt8(ascii: "T")
        if text.count > 19 {
            guard text[19] == UInt8(ascii: "."), text.count <= 26 else { return nil }
            // The server drops trailing zeros of the fraction.
            text += Bytes(repeating: UInt8(ascii: "0"), count: 26 - text.count)
            text.removeLast(3)
        }
        self.init(text: String(decoding: text, as: UTF8.self) + "Z")
    }
}
