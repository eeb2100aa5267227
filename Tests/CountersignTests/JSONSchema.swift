import Countersign

/// The part of JSON Schema 2020-12 that the published schemas use; any other keyword is an error, so that
/// nothing in a schema goes unread.
struct JSONSchema {
    /// What does not fit, and where in the document.
    struct Fault: Hashable {
        enum Kind { case unknownMember, other }

        let pointer: String
        let kind: Kind
    }

    /// A keyword that is not read here.
    struct UnknownKeyword: Error { let keyword: String }

    private let root: JSON

    init(_ root: JSON) { self.root = root }

    /// Everything that does not fit.
    func faults(_ document: JSON) throws -> [Fault] { try faults(document, root, "") }

    private func faults(_ value: JSON, _ schema: JSON, _ pointer: String) throws -> [Fault] {
        guard case .object(let keywords) = schema else {
            return schema == .bool(false) ? [Fault(pointer: pointer, kind: .other)] : []
        }
        return try keywords.flatMap { keyword in
            try faults(value, keyword.name, keyword.value, in: schema, pointer)
        }
    }

    private func faults(
        _ value: JSON, _ keyword: String, _ rule: JSON, in schema: JSON, _ pointer: String
    ) throws -> [Fault] {
        func fits(_ isSo: Bool) -> [Fault] {
            isSo ? [] : [Fault(pointer: pointer, kind: .other)]
        }
        switch keyword {
        case "$schema", "title", "$defs", "$comment": return []
        case "$ref": return try faults(value, referenced(rule), pointer)
        case "const": return fits(value == rule)
        case "enum": return fits(rule.elements.contains(value))
        case "type": return fits(value.typeName == rule.text)
        case "minimum", "maximum", "minLength", "minItems", "minProperties":
            return fits(value.isWithin(keyword, rule))
        case "pattern":
            guard let text = value.text, let pattern = rule.text else { return [] }
            return fits(try text.matches(pattern: pattern))
        case "items":
            guard case .array(let elements) = value else { return [] }
            return try elements.enumerated().flatMap {
                try faults($1, rule, "\(pointer)/\($0)")
            }
        case "required", "properties", "additionalProperties", "propertyNames", "dependentSchemas":
            guard case .object(let members) = value else { return [] }
            return try faults(members, keyword, rule, in: schema, pointer)
        default: throw UnknownKeyword(keyword: keyword)
        }
    }

    private func faults(
        _ members: [JSON.Member], _ keyword: String, _ rule: JSON, in schema: JSON,
        _ pointer: String
    ) throws -> [Fault] {
        let names = members.map(\.name)
        func below(_ name: String) -> String { "\(pointer)/\(JSON.pointerStep(name))" }
        switch keyword {
        case "required":
            return rule.elements.compactMap(\.text).filter { !names.contains($0) }
                .map { Fault(pointer: below($0), kind: .other) }
        case "properties":
            return try members.flatMap { member in
                try rule[member.name].map { try faults(member.value, $0, below(member.name)) } ?? []
            }
        case "additionalProperties":
            let others = members.filter { schema["properties"]?[$0.name] == nil }
            guard rule != .bool(false) else {
                return others.map { Fault(pointer: below($0.name), kind: .unknownMember) }
            }
            return try others.flatMap { try faults($0.value, rule, below($0.name)) }
        case "propertyNames":
            return try names.flatMap { try faults(.string($0), rule, below($0)) }
        default:
            return try names.flatMap { name in
                try rule[name].map { try faults(.object(members), $0, pointer) } ?? []
            }
        }
    }

    private func referenced(_ rule: JSON) throws -> JSON {
        let prefix = "#/$defs/"
        guard let text = rule.text, text.hasPrefix(prefix),
            let found = root["$defs"]?[String(text.dropFirst(prefix.count))]
        else { throw UnknownKeyword(keyword: "$ref to \(rule)") }
        return found
    }
}

extension String {
    /// The patterns that are used, by hand: one made for each value would take most of the tests' time.
    fileprivate func matches(pattern: String) throws -> Bool {
        switch pattern {
        case "^[A-Z]{3}$": return utf8.count == 3 && utf8.allSatisfy { (0x41...0x5A).contains($0) }
        case #"^(0|[1-9][0-9]*)(\.[0-9]+)?$"#:
            let parts = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return (1...2).contains(parts.count)
                && parts.allSatisfy {
                    !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) }
                } && (parts[0].count == 1 || parts[0].first != UInt8(ascii: "0"))
        default: throw JSONSchema.UnknownKeyword(keyword: "pattern \(pattern)")
        }
    }
}

extension JSON {
    var elements: [JSON] { if case .array(let values) = self { values } else { [] } }

    fileprivate var typeName: String? {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .integer: "integer"
        case .fraction: nil
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// Whether a bound holds; one for another type of value does.
    fileprivate func isWithin(_ keyword: String, _ rule: JSON) -> Bool {
        guard case .integer(let bound) = rule else { return false }
        switch (keyword, self) {
        case ("minimum", .integer(let value)): return value >= bound
        case ("maximum", .integer(let value)): return value <= bound
        case ("minLength", .string(let text)): return text.unicodeScalars.count >= bound
        case ("minItems", .array(let values)): return values.count >= bound
        case ("minProperties", .object(let members)): return members.count >= bound
        default: return true
        }
    }
}
