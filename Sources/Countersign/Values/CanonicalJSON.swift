/// JSON objects whose values are all strings, in the canonical form of RFC 8785 (JCS).
///
/// This is all of JCS that signed messages and evidence leaves need: members sorted by UTF-16 code
/// units, no white space, the shortest escapes. There are no numbers, so none can be rounded.
package enum CanonicalJSON {
    /// The canonical UTF-8 bytes of `members`.
    package static func encode(_ members: [String: String]) -> Bytes {
        var out: Bytes = [UInt8(ascii: "{")]
        // The order of ASCII is the same by any unit, and nearly all names are ASCII.
        let isASCII = members.keys.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        let sorted = members.sorted {
            isASCII
                ? $0.key < $1.key : $0.key.utf16.lexicographicallyPrecedes($1.key.utf16)
        }
        for (index, member) in sorted.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            append(member.key, to: &out)
            out.append(UInt8(ascii: ":"))
            append(member.value, to: &out)
        }
        out.append(UInt8(ascii: "}"))
        return out
    }

    /// Reads bytes that are *exactly* the canonical form of a flat object of strings, else `nil`.
    ///
    /// Reading again what was written and comparing the bytes is the whole check: another spelling
    /// of the same object is not the message that was signed.
    package static func decode(_ bytes: Bytes) -> [String: String]? {
        guard let members = parse(bytes), encode(members) == bytes else { return nil }
        return members
    }

    /// Reads a flat object of strings in any spelling, for whoever writes what it means again and compares
    /// that with the bytes; `nil` for everything else.
    static func parse(_ bytes: Bytes) -> [String: String]? {
        var cursor = Cursor(bytes: bytes)
        return cursor.object()
    }

    static func append(_ text: String, to out: inout Bytes) {
        out.append(UInt8(ascii: "\""))
        // Nearly all text is copied as it is, and evidence is long.
        if text.utf8.allSatisfy({
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }) {
            out += text.utf8
        } else {
            appendEscaped(text, to: &out)
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ text: String, to out: inout Bytes) {
        for unit in text.utf8 {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), unit]
            case 0x08: out += Bytes("\\b".utf8)
            case 0x09: out += Bytes("\\t".utf8)
            case 0x0A: out += Bytes("\\n".utf8)
            case 0x0C: out += Bytes("\\f".utf8)
            case 0x0D: out += Bytes("\\r".utf8)
            case 0..<0x20: out += Bytes("\\u00".utf8) + Bytes(Hex.encode([unit]).utf8)
            default: out.append(unit)
            }
        }
    }
}

/// Reads a flat object of strings; leniency does not matter, since the result is encoded again.
private struct Cursor {
    let bytes: Bytes
    var position = 0

    init(bytes: Bytes) { self.bytes = bytes }

    mutating func object() -> [String: String]? {
        var members: [String: String] = [:]
        guard take("{") else { return nil }
        if take("}") { return position == bytes.count ? members : nil }
        repeat {
            guard let key = string(), take(":"), let value = string(),
                members.updateValue(value, forKey: key) == nil
            else { return nil }
        } while take(",")
        return take("}") && position == bytes.count ? members : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
            return false
        }
        position += 1
        return true
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\""),
            bytes[position] != UInt8(ascii: "\\")
        {
            position += 1
        }
        // Nearly all text has no escapes.
        var units = Bytes(bytes[start..<position])
        while position < bytes.count {
            let unit = bytes[position]
            position += 1
            if unit == UInt8(ascii: "\"") { return String(validating: units, as: UTF8.self) }
            guard unit == UInt8(ascii: "\\") else {
                units.append(unit)
                continue
            }
            guard let escaped = escape() else { return nil }
            units.append(escaped)
        }
        return nil
    }

    /// Only escapes of ASCII occur in canonical form.
    private mutating func escape() -> UInt8? {
        guard position < bytes.count else { return nil }
        let unit = bytes[position]
        position += 1
        switch unit {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return unit
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "u"):
            guard position + 4 <= bytes.count,
                let value = Hex.decode(
                    String(decoding: bytes[position..<position + 4], as: UTF8.self)),
                value[0] == 0
            else { return nil }
            position += 4
            return value[1]
        default: return nil
        }
    }
}
