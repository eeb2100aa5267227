import Countersign

/// Reads the parameters of a URL, each by name, and refuses those that nobody asked for.
///
/// A parameter that is there twice is refused: two readers could take two values. Every refusal is a
/// `malformed-request`.
struct QueryReader {
    private let values: [String: String]

    init(_ request: Request, allowing names: [String]) throws(Problem) {
        guard let query = request.query else {
            throw .malformedRequest("The query cannot be decoded.")
        }
        var values: [String: String] = [:]
        for parameter in query.parameters {
            guard names.contains(where: { $0.utf8.elementsEqual(parameter.name.utf8) }) else {
                throw .malformedRequest("The query has a parameter that is not known here.")
            }
            guard values.updateValue(parameter.value, forKey: parameter.name) == nil else {
                throw .malformedRequest("The query has \(parameter.name) more than once.")
            }
        }
        self.values = values
    }

    /// The text of a parameter; `nil` when it is not there.
    func text(_ name: String) -> String? { values[name] }

    /// An ID; `nil` when it is not there.
    func id<Entity>(_ name: String) throws(Problem) -> ID<Entity>? {
        try value(name, "an ID") { ID($0) }
    }

    /// A time; `nil` when it is not there.
    func instant(_ name: String) throws(Problem) -> Instant? {
        try value(name, "a time of RFC 3339 in UTC with Z, of the years 1970 to 9999") { text in
            Instant(text: text).flatMap { $0.isWritable ? $0 : nil }
        }
    }

    /// A customer; `nil` when it is not there.
    func customerID(_ name: String) throws(Problem) -> CustomerID? {
        try value(name, "a customer ID") { text in
            do { return try CustomerID(text) } catch { return nil }
        }
    }

    /// One of a closed list of words; `nil` when it is not there.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(Problem) -> Choice? {
        let words = type.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(name, "one of \(words)") { text in
            type.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) }
        }
    }

    /// The bank's own ID of an action; `nil` when it is not there.
    func externalID(_ name: String) throws(Problem) -> ExternalID? {
        try value(name, "an external ID") { text in
            do { return try ExternalID(text) } catch { return nil }
        }
    }

    /// A word of small letters, digits, dots, hyphens and underscores; `nil` when it is not there.
    func word(_ name: String) throws(Problem) -> String? {
        try value(name, "a word of 1 to 64 a-z, 0-9, . _ -") { text in
            (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy { unit in
                    ("a"..."z").contains(Character(Unicode.Scalar(unit)))
                        || ("0"..."9").contains(Character(Unicode.Scalar(unit)))
                        || ".-_".utf8.contains(unit)
                } ? text : nil
        }
    }

    /// A positive number of at most nine digits; `nil` when it is not there.
    func number(_ name: String) throws(Problem) -> Int? {
        try value(name, "a number from 1 to 999999999") { text in
            guard (1...9).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
                number > 0
            else { return nil }
            return number
        }
    }

    /// A digest in hex; `nil` when it is not there.
    func digest(_ name: String) throws(Problem) -> Digest? {
        try value(name, "64 hex digits") { text in Hex.decode(text).flatMap(Digest.init) }
    }

    /// The customer's segment, of the form of `risk.segment`; the default one when it is not there.
    func segment() throws(Problem) -> String {
        try value("segment", "a word of 1 to \(Risk.wordLengthMax) a-z, 0-9, _") { text in
            Risk.isWord(text) ? text : nil
        } ?? PolicyRules.defaultSegment
    }

    /// How many things to show on one page, 1 to 100; 50 when the caller does not say.
    func limit() throws(Problem) -> Int {
        try value("limit", "a number from 1 to \(Page.limitMax)") { text in
            guard text.utf8.count <= 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let limit = Int(text), (1...Page.limitMax).contains(limit)
            else { return nil }
            return limit
        } ?? Page.limitDefault
    }

    /// Where the page before ended; `nil` for the first page.
    func cursor<Entity>() throws(Problem) -> ID<Entity>? {
        try value("cursor", "a next_cursor of an earlier answer") { Page.position($0) }
    }

    private func value<Value>(
        _ name: String, _ what: String, _ read: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else {
            throw .malformedRequest("The parameter \(name) must be \(what).")
        }
        return value
    }
}

/// How lists are cut into pages.
enum Page {
    static let limitDefault = 50
    static let limitMax = 100

    /// The text by which a caller asks for what follows this thing. Its form is nobody's business.
    static func cursor<Entity>(after id: ID<Entity>) -> String {
        Base64.encodeURL((0..<16).map { UInt8(truncatingIfNeeded: id.rawValue >> (120 - 8 * $0)) })
    }

    /// What ``cursor(after:)`` said; `nil` for what it cannot have said.
    static func position<Entity>(_ cursor: String) -> ID<Entity>? {
        guard let bytes = Base64.decodeURL(cursor), bytes.count == 16 else { return nil }
        return ID(rawValue: bytes.reduce(0) { $0 << 8 | UInt128($1) })
    }
}
