/// Header fields of one message, in the order in which they stand there.
///
/// Names compare without regard to ASCII case (RFC 9110 §5.1). A request's values have been checked
/// for control characters before anyone sees them.
package struct HeaderFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One line of a head.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field]

    package init(_ fields: [Field] = []) { self.fields = fields }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value of that name; `nil` when there is none.
    package func first(_ name: String) -> String? {
        fields.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }

    /// Every value of that name, in order.
    package func all(_ name: String) -> [String] {
        fields.filter { ASCII.equalIgnoringCase($0.name, name) }.map(\.value)
    }

    /// The value of that name when it occurs exactly once, else `nil`.
    package func only(_ name: String) -> String? {
        let values = all(name)
        return values.count == 1 ? values[0] : nil
    }

    /// Adds a line after those that are there.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Replaces every line of that name by one.
    package mutating func set(_ name: String, _ value: String) {
        fields.removeAll { ASCII.equalIgnoringCase($0.name, name) }
        append(name, value)
    }
}

/// Comparisons that HTTP defines over ASCII, without the cost of Unicode.
enum ASCII {
    /// Whether both texts are the same when `A`–`Z` count as `a`–`z`.
    static func equalIgnoringCase(_ left: some StringProtocol, _ right: some StringProtocol)
        -> Bool
    {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    static func lowercase(_ unit: UInt8) -> UInt8 {
        unit >= UInt8(ascii: "A") && unit <= UInt8(ascii: "Z") ? unit | 0x20 : unit
    }

    /// The text without the spaces and tabs around it (OWS of RFC 9110 §5.6.3).
    static func trimmed(_ text: some StringProtocol) -> String {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        let start = text.drop(while: isBlank)
        return String(String(start.reversed().drop(while: isBlank)).reversed())
    }
}
