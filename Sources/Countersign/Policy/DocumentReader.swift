/// What is wrong with a policy document, and where.
package struct PolicyFault: Error, Equatable, Sendable {
    /// The member, as an RFC 6901 JSON Pointer.
    package let pointer: String
    /// A stable word for programs: the member's name, or what is wrong with its value.
    package let code: String
    /// One sentence for a person.
    package let detail: String

    package init(pointer: String, code: String, detail: String) {
        self.pointer = pointer
        self.code = code
        self.detail = detail
    }
}

/// Reads the members of one object of a policy document, and knows where it stands.
struct DocumentReader {
    let json: JSON?
    let pointer: String

    init(_ json: JSON?, at pointer: String = "") {
        self.json = json
        self.pointer = pointer
    }

    /// The object that a member holds; when it is missing, every member read of it is missing.
    subscript(_ name: String) -> DocumentReader {
        DocumentReader(json?[name], at: path(to: name))
    }

    func has(_ name: String) -> Bool { json?[name] != nil }

    func fault(_ name: String, _ detail: String) -> PolicyFault {
        PolicyFault(pointer: path(to: name), code: name, detail: detail)
    }

    func text(_ name: String) -> String? { json?[name]?.text }

    func count(_ name: String, in range: ClosedRange<Int64>) throws(PolicyFault) -> Int {
        guard case .integer(let value) = json?[name], range.contains(value) else {
            throw fault(
                name, "A whole number from \(range.lowerBound) to \(range.upperBound) is needed.")
        }
        return Int(value)
    }

    func seconds(_ name: String, in range: ClosedRange<Int64>) throws(PolicyFault) -> Seconds {
        Seconds(Int64(try count(name, in: range)))
    }

    /// A member that may be left out.
    func seconds(
        _ name: String, in range: ClosedRange<Int64>, or value: Seconds
    ) throws(PolicyFault) -> Seconds {
        has(name) ? try seconds(name, in: range) : value
    }

    /// A word of a closed set; `value` when it is left out.
    func word<Word: RawRepresentable<String>>(
        _ name: String, or value: Word?, _ detail: String
    ) throws(PolicyFault) -> Word {
        if !has(name), let value { return value }
        guard let word = text(name).flatMap(Word.init(rawValue:)) else { throw fault(name, detail) }
        return word
    }

    func flag(_ name: String, or value: Bool) throws(PolicyFault) -> Bool {
        switch json?[name] {
        case nil: return value
        case .bool(let flag)?: return flag
        default: throw fault(name, "This is true or false.")
        }
    }

    /// A list of words of a closed set; may be empty.
    func words<Word: RawRepresentable<String>>(
        _ name: String, _ detail: String
    ) throws(PolicyFault) -> [Word] {
        guard case .array(let texts) = json?[name] else { throw fault(name, detail) }
        var words: [Word] = []
        for text in texts {
            guard let word = text.text.flatMap(Word.init(rawValue:)) else {
                throw fault(name, detail)
            }
            words.append(word)
        }
        return words
    }

    func credentialKinds(_ name: String) throws(PolicyFault) -> [CredentialKind] {
        try words(name, "A list of device_key and passkey is needed.")
    }

    /// An amount of one currency, zero allowed.
    func amount(_ name: String, _ currency: Currency) throws(PolicyFault) -> Money {
        guard let text = text(name) else {
            throw fault(name, "An amount of \(currency.code) is needed, as a text.")
        }
        do {
            return try Money(limit: text, currency: currency)
        } catch {
            throw PolicyFault(pointer: path(to: name), code: error.code, detail: error.detail)
        }
    }

    /// The members of an object whose names are currencies.
    func byCurrency<Value>(
        _ read: (DocumentReader, String, Currency) throws(PolicyFault) -> Value
    ) throws(PolicyFault) -> [Currency: Value] {
        guard case .object(let members) = json else {
            throw PolicyFault(
                pointer: pointer, code: name, detail: "An object by currency is needed.")
        }
        var values: [Currency: Value] = [:]
        for member in members {
            let currency = try currency(member.name, at: path(to: member.name))
            values[currency] = try read(self, member.name, currency)
        }
        return values
    }

    func currency(_ code: String, at pointer: String) throws(PolicyFault) -> Currency {
        do {
            return try Currency(code)
        } catch {
            throw PolicyFault(pointer: pointer, code: error.code, detail: error.detail)
        }
    }

    /// Amounts by currency; none when the member is left out.
    func amounts(_ name: String) throws(PolicyFault) -> [Currency: Money] {
        guard has(name) else { return [:] }
        return try self[name].byCurrency { (reader, name, currency) throws(PolicyFault) in
            try reader.amount(name, currency)
        }
    }

    /// A value for each kind of action. What is not said of `limit_change`, a kind that came later, is
    /// what is said of `contact_change`: both change what protects the customer.
    func byKind<Value>(
        _ read: (DocumentReader, String) throws(PolicyFault) -> Value
    ) throws(PolicyFault) -> [ActionKind: Value] {
        try refuseOthers(than: ActionKind.allCases.map(\.rawValue))
        var values: [ActionKind: Value] = [:]
        for kind in ActionKind.allCases {
            let isLater = kind == .limitChange && !has(kind.rawValue)
            values[kind] = try read(
                self, isLater ? ActionKind.contactChange.rawValue : kind.rawValue)
        }
        return values
    }

    /// What is said of some kinds; nothing when the whole is left out. As ``byKind(_:)`` for what is not
    /// said of `limit_change`.
    func forKinds<Value>(
        _ read: (DocumentReader, ActionKind) throws(PolicyFault) -> Value
    ) throws(PolicyFault) -> [ActionKind: Value] {
        guard json != nil else { return [:] }
        try refuseOthers(than: ActionKind.allCases.map(\.rawValue))
        var values: [ActionKind: Value] = [:]
        for kind in ActionKind.allCases where has(kind.rawValue) {
            values[kind] = try read(self, kind)
        }
        values[.limitChange] = values[.limitChange] ?? values[.contactChange]
        return values
    }

    /// Refuses what is no object, or has a member of another name: misspelt, a rule would rule nothing.
    func refuseOthers(than names: [String]) throws(PolicyFault) {
        guard case .object(let members) = json ?? .object([]) else {
            throw PolicyFault(pointer: pointer, code: name, detail: "An object is needed.")
        }
        for member in members where !names.contains(member.name) {
            throw PolicyFault(
                pointer: path(to: member.name), code: name,
                detail: "Only \(names.joined(separator: ", ")) can stand here.")
        }
    }

    /// The name of the member that this object is; `document` for the whole.
    private var name: String {
        pointer.split(separator: "/").last.map(String.init) ?? "document"
    }

    private func path(to name: String) -> String {
        "\(pointer)/\(JSON.pointerStep(name))"
    }
}
