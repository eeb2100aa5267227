import Countersign

/// Reads structured fields one ASCII unit at a time; every function returns `nil` for malformed text.
///
/// The functions follow RFC 8941 §4.2.
struct StructuredFieldReader {
    private typealias Fields = StructuredFields

    private let units: Bytes
    private var position = 0

    init(_ text: String) { units = Bytes(text.utf8) }

    /// RFC 8941 §4.2.2, to the end of the text.
    mutating func dictionary() -> [(key: String, value: StructuredFields.Member)]? {
        var members: [(key: String, value: StructuredFields.Member)] = []
        skip { $0 == 0x20 }
        while position < units.count {
            guard let key = key(), !members.contains(where: { $0.key == key }),
                let member = member()
            else { return nil }
            members.append((key, member))
            skip { $0 == 0x20 || $0 == 0x09 }
            if position == units.count { return members }
            guard take(",") else { return nil }
            skip { $0 == 0x20 || $0 == 0x09 }
            // A comma at the end.
            if position == units.count { return nil }
        }
        return members
    }

    private mutating func member() -> StructuredFields.Member? {
        guard take("=") else {
            return parameters().map { .item(Fields.ParameterizedItem(.boolean(true), $0)) }
        }
        if peek() == UInt8(ascii: "(") { return innerList().map { .innerList($0) } }
        return parameterizedItem().map { .item($0) }
    }

    private mutating func innerList() -> StructuredFields.InnerList? {
        guard take("(") else { return nil }
        var items: [StructuredFields.ParameterizedItem] = []
        while true {
            skip { $0 == 0x20 }
            if take(")") {
                return parameters().map { Fields.InnerList(items, $0) }
            }
            guard let item = parameterizedItem() else { return nil }
            items.append(item)
            guard peek() == 0x20 || peek() == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func parameterizedItem() -> StructuredFields.ParameterizedItem? {
        guard let item = item(), let parameters = parameters() else { return nil }
        return Fields.ParameterizedItem(item, parameters)
    }

    private mutating func parameters() -> [StructuredFields.Parameter]? {
        var parameters: [StructuredFields.Parameter] = []
        while take(";") {
            skip { $0 == 0x20 }
            guard let key = key(), !parameters.contains(where: { $0.key == key }) else {
                return nil
            }
            guard take("=") else {
                parameters.append(Fields.Parameter(key, .boolean(true)))
                continue
            }
            guard let value = item() else { return nil }
            parameters.append(Fields.Parameter(key, value))
        }
        return parameters
    }

    private mutating func item() -> StructuredFields.Item? {
        guard let first = peek() else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: ":"): return byteSequence().map { .bytes($0) }
        case UInt8(ascii: "?"): return boolean().map { .boolean($0) }
        case UInt8(ascii: "-"), 0x30...0x39: return integer().map { .integer($0) }
        case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A:
            return .token(text(while: isTokenUnit))
        default: return nil
        }
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var content: Bytes = []
        while let unit = next() {
            switch unit {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next(),
                    escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                content.append(escaped)
            case 0x20...0x7E: content.append(unit)
            default: return nil
            }
        }
        return nil
    }

    private mutating func byteSequence() -> Bytes? {
        guard take(":") else { return nil }
        let text = text { $0 != UInt8(ascii: ":") }
        return take(":") ? Base64.decode(text) : nil
    }

    private mutating func boolean() -> Bool? {
        guard take("?") else { return nil }
        if take("1") { return true }
        return take("0") ? false : nil
    }

    /// At most 15 digits; a decimal is refused.
    private mutating func integer() -> Int64? {
        let sign: Int64 = take("-") ? -1 : 1
        let digits = text { (0x30...0x39).contains($0) }
        guard digits.utf8.count <= 15, peek() != UInt8(ascii: "."), let value = Int64(digits) else {
            return nil
        }
        return sign * value
    }

    private mutating func key() -> String? {
        guard let first = peek(), (0x61...0x7A).contains(first) || first == UInt8(ascii: "*") else {
            return nil
        }
        return text {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "_-.*".utf8.contains($0)
        }
    }

    private func isTokenUnit(_ unit: UInt8) -> Bool {
        switch unit {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~:/".utf8.contains(unit)
        }
    }

    private func peek() -> UInt8? { position < units.count ? units[position] : nil }

    private mutating func next() -> UInt8? {
        guard let unit = peek() else { return nil }
        position += 1
        return unit
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skip(while condition: (UInt8) -> Bool) { _ = text(while: condition) }

    private mutating func text(while condition: (UInt8) -> Bool) -> String {
        let start = position
        while let unit = peek(), condition(unit) { position += 1 }
        return String(decoding: units[start..<position], as: UTF8.self)
    }
}
