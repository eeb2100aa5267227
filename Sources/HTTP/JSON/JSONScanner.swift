import Countersign

/// Walks over JSON text by the grammar of RFC 8259 and refuses all that leaves room for doubt.
///
/// It makes no values: `JSONDecoder` does, from ``bytes`` once ``document()`` has returned.
struct JSONScanner {
    /// The text, in which numbers that are no 64-bit integers have been replaced by `0.5`.
    ///
    /// The decoder would round such a number or read `1.0` as 1. Nothing may use its value, so all
    /// of them become one that is unmistakably a fraction. The replacement is not longer.
    private(set) var bytes: Bytes
    private var position = 0
    private var pointer = JSONPointer.root
    private var depth = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    /// Scans one value with nothing but white space around it.
    mutating func document() throws(MalformedJSON) {
        guard !bytes.isEmpty else { throw malformed("The body is empty.") }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw malformed("The body begins with a byte order mark.")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw malformed("The body is not UTF-8.")
        }
        try value()
        skipSpace()
        guard position == bytes.count else { throw malformed("Something follows the JSON value.") }
    }

    private mutating func value() throws(MalformedJSON) {
        skipSpace()
        switch position < bytes.count ? bytes[position] : 0 {
        case UInt8(ascii: "{"):
            try descend()
            try object()
            depth -= 1
        case UInt8(ascii: "["):
            try descend()
            try array()
            depth -= 1
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw malformed("A JSON value is missing here.")
        }
    }

    private mutating func descend() throws(MalformedJSON) {
        position += 1
        depth += 1
        guard depth <= StrictJSON.depthMax else {
            throw malformed("The body is nested more than \(StrictJSON.depthMax) levels deep.")
        }
    }

    private mutating func object() throws(MalformedJSON) {
        // Strings are equal here when they are canonically equivalent, which covers equal code
        // units. The wider sense is needed: the decoder keeps only one of two equivalent names.
        var names: Set<String> = []
        guard !takeAfterSpace("}") else { return }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw malformed("A member name in double quotes is missing here.")
            }
            let name = try string()
            guard name.utf8.count <= StrictJSON.nameBytesMax else {
                throw malformed("A member name is too long.")
            }
            pointer.enter(name)
            guard names.insert(name).inserted else {
                throw malformed("The object has two members of this name.")
            }
            guard takeAfterSpace(":") else { throw malformed("A colon is missing here.") }
            try value()
            pointer.leave()
        } while takeAfterSpace(",")
        guard takeAfterSpace("}") else { throw malformed("The object is not closed.") }
    }

    private mutating func array() throws(MalformedJSON) {
        guard !takeAfterSpace("]") else { return }
        var index = 0
        repeat {
            pointer.enter(String(index))
            try value()
            pointer.leave()
            index += 1
        } while takeAfterSpace(",")
        guard takeAfterSpace("]") else { throw malformed("The array is not closed.") }
    }

    private mutating func literal(_ word: StaticString) throws(MalformedJSON) {
        let units = Bytes(word.description.utf8)
        guard bytes[position...].starts(with: units) else {
            throw malformed("A JSON value is missing here.")
        }
        position += units.count
    }
}

// MARK: - Numbers

extension JSONScanner {
    private mutating func number() throws(MalformedJSON) {
        let start = position
        _ = take("-")
        let whole = digits()
        guard let first = whole.first, whole.count == 1 || first != UInt8(ascii: "0") else {
            throw malformed("A number has no digits or a leading zero.")
        }
        if take("."), digits().isEmpty { throw malformed("A number has no decimals.") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard !digits().isEmpty else { throw malformed("A number has no exponent.") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard text != "-0" else { throw malformed("A number is negative zero.") }
        if Int64(text) == nil { replaceByFraction(start..<position) }
    }

    /// The range has at least three bytes: `1.0` and `1e2` are the shortest.
    private mutating func replaceByFraction(_ range: Range<Int>) {
        let fraction = Bytes("0.5".utf8)
        let padding = Bytes(repeating: UInt8(ascii: " "), count: range.count - fraction.count)
        bytes.replaceSubrange(range, with: fraction + padding)
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let digits = bytes[position...].prefix { (0x30...0x39).contains($0) }
        position = digits.endIndex
        return digits
    }
}

// MARK: - Strings

extension JSONScanner {
    /// Scans a string and returns it with its escapes resolved.
    private mutating func string() throws(MalformedJSON) -> String {
        position += 1
        var units: Bytes = []
        while position < bytes.count {
            let unit = bytes[position]
            position += 1
            switch unit {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): units += try escape()
            case 0..<0x20: throw malformed("A string holds a control character.")
            default: units.append(unit)
            }
        }
        throw malformed("A string is not closed.")
    }

    private mutating func escape() throws(MalformedJSON) -> Bytes {
        guard position < bytes.count else { throw malformed("A string is not closed.") }
        let unit = bytes[position]
        position += 1
        switch unit {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [unit]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw malformed("A string holds an unknown escape.")
        }
    }

    /// Scans what follows `\u`, and the second half of a surrogate pair.
    private mutating func unicodeEscape() throws(MalformedJSON) -> Bytes {
        var units = [try codeUnit()]
        if UTF16.isLeadSurrogate(units[0]), take("\\"), take("u") { units.append(try codeUnit()) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw malformed("A string holds a lone surrogate.")
        }
        guard units[0] != 0 else { throw malformed("A string holds U+0000.") }
        return Bytes(text.utf8)
    }

    private mutating func codeUnit() throws(MalformedJSON) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard let value = Hex.decode(String(decoding: digits, as: UTF8.self)), value.count == 2
        else { throw malformed("A string holds an escape without four hexadecimal digits.") }
        position = digits.endIndex
        return UInt16(value[0]) << 8 | UInt16(value[1])
    }
}

// MARK: - Bytes

extension JSONScanner {
    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
            return false
        }
        position += 1
        return true
    }

    private mutating func takeAfterSpace(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return take(character)
    }

    private func malformed(_ detail: String) -> MalformedJSON {
        MalformedJSON(detail, at: pointer)
    }
}
