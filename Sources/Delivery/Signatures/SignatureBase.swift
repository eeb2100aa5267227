package import Countersign

/// What of an HTTP message a signature can cover.
package struct SignedParts: Sendable {
    /// The start line as both sides know it.
    package enum Start: Sendable {
        case request(method: String, url: HTTPURL)
        case response(status: Int)
    }

    package let start: Start
    /// The fields as received, in their order.
    package let fields: [HTTPField]

    package init(_ start: Start, fields: [HTTPField]) {
        self.start = start
        self.fields = fields
    }

    /// The value that a component stands for; `nil` when the message has none.
    ///
    /// Source: RFC 9421 §2.1 for fields, §2.2 for derived components.
    package func value(of component: String) -> String? {
        guard component.hasPrefix("@") else { return combined(component) }
        switch (start, component) {
        case (.request(let method, _), "@method"): return method
        case (.request(_, let url), "@target-uri"): return url.text
        case (.request(_, let url), "@authority"): return url.authority
        case (.request(_, let url), "@scheme"): return url.scheme.rawValue
        case (.request(_, let url), "@path"): return url.path
        case (.request(_, let url), "@query"): return url.query
        case (.response(let status), "@status"): return String(status)
        default: return nil
        }
    }

    /// RFC 9421 §2.1: the values trimmed and joined by a comma and a space.
    private func combined(_ name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name }.map { trimmed($0.value) }
        // A line break inside a value could pass for the next line of the base.
        let areLines = values.allSatisfy { $0.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D } }
        return values.isEmpty || !areLines ? nil : values.joined(separator: ", ")
    }
}

/// The bytes that a message signature signs.
package enum SignatureBase {
    /// Builds the base of RFC 9421 §2.5 for the components and parameters of `input`.
    ///
    /// - Returns: `nil` when a component occurs twice, has parameters (none of ours does), is not a
    ///   lower-case name, or is not in the message.
    package static func build(_ input: StructuredFields.InnerList, over parts: SignedParts)
        -> Bytes?
    {
        guard let names = componentNames(input) else { return nil }
        var lines: [String] = []
        for name in names {
            guard let value = parts.value(of: name) else { return nil }
            lines.append("\"\(name)\": \(value)")
        }
        lines.append("\"@signature-params\": \(input.text)")
        return Bytes(lines.joined(separator: "\n").utf8)
    }

    /// The names of the covered components; `nil` as for ``build(_:over:)``.
    static func componentNames(_ input: StructuredFields.InnerList) -> [String]? {
        var names: [String] = []
        for component in input.items {
            guard case .string(let name) = component.item, component.parameters.isEmpty,
                isComponentName(name), !names.contains(name)
            else { return nil }
            names.append(name)
        }
        return names
    }

    private static func isComponentName(_ name: String) -> Bool {
        let units = Bytes(name.utf8)
        return units.dropFirst(name.hasPrefix("@") ? 1 : 0).allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        } && name != "@signature-params" && units.count > 1
    }
}

/// Without spaces and tabs around it.
private func trimmed(_ text: String) -> String {
    let units = Bytes(text.utf8)
    let start = units.drop { $0 == 0x20 || $0 == 0x09 }
    let end = start.reversed().drop { $0 == 0x20 || $0 == 0x09 }
    return String(decoding: end.reversed(), as: UTF8.self)
}
