/// A JSON value without floating point: money and times are strings here, and counts are integers.
///
/// Objects keep the order in which they were written, so that an answer reads as documented.
package indirect enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number that is not an integer, as read; its value is not kept because nothing may use it.
    case fraction
    case string(String)
    case array([JSON])
    case object([Member])

    /// One name and its value.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// A string, or `null` for `nil`.
    package static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    /// The member of that name; `nil` when this is no object or has none.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// What the member of that name spells in base64url without padding; `nil` when it is not there,
    /// is no string or spells no bytes.
    package func bytes(_ name: String) -> Bytes? {
        self[name]?.text.flatMap { Base64.decodeURL($0) }
    }

    /// The text of a string; `nil` for every other value.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    package typealias Key = String
    package typealias Value = JSON
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }

    package init(stringLiteral value: String) { self = .string(value) }

    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
}

extension JSON {
    /// UTF-8 without white space. A ``fraction`` cannot be written: it only ever comes from outside.
    package var encoded: Bytes {
        var out: Bytes = []
        encode(into: &out)
        return out
    }

    private func encode(into out: inout Bytes) {
        switch self {
        case .null, .fraction: out += Bytes("null".utf8)
        case .bool(let value): out += Bytes((value ? "true" : "false").utf8)
        case .integer(let value): out += Bytes(String(value).utf8)
        case .string(let text): CanonicalJSON.append(text, to: &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                value.encode(into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                CanonicalJSON.append(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.encode(into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}

/// Lets an adapter read JSON with Foundation's decoder, which the domain may not import.
///
/// The order of members is lost in reading, so they come sorted by name.
extension JSON: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
        // Texts first: they are the most, and each kind that is tried in vain throws an error.
        if let single = try? decoder.singleValueContainer(),
            let value = try? single.decode(String.self)
        {
            self = .string(value)
            return
        }
        if let object = try? decoder.container(keyedBy: Name.self) {
            let names = object.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try names.map { Member($0.stringValue, try object.decode(JSON.self, forKey: $0)) })
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [JSON] = []
            while !array.isAtEnd { values.append(try array.decode(JSON.self)) }
            self = .array(values)
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .integer(value)
        } else {
            _ = try single.decode(Double.self)
            self = .fraction
        }
    }
}

extension JSON {
    /// A name as a step of a JSON pointer. Source: RFC 6901 §3.
    package static func pointerStep(_ name: String) -> String {
        var step = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.unicodeScalars.append(scalar)
            }
        }
        return step
    }
}
