package import Countersign

/// Reads the members of one object, each by name, and refuses those that nobody asked for.
///
/// A wrong shape ends the reading at once. Values that are not acceptable are collected, so that a
/// caller learns of all of them: such a member reads as `nil`, and the closure that reads an object
/// returns `nil` when it lacks one. An optional member may be left out or be `null`.
package struct ObjectReader {
    let pointer: JSONPointer
    private var unread: [String: JSON]
    private var invalid: [InvalidMember]

    /// Reads a whole body.
    ///
    /// - Parameters:
    ///   - json: The body.
    ///   - read: Asks for each member and builds the result; `nil` only when a value was refused.
    /// - Returns: What `read` built.
    /// - Throws: ``BodyRefusal``.
    package static func read<Result>(
        _ json: JSON, _ read: (inout ObjectReader) throws(BodyRefusal) -> Result?
    ) throws(BodyRefusal) -> Result {
        var reader = try ObjectReader(json, at: .root, invalid: [])
        let result = try read(&reader)
        try reader.refuseUnread()
        guard reader.invalid.isEmpty else { throw .invalid(reader.invalid) }
        guard let result else {
            preconditionFailure("a body was refused although every value was acceptable")
        }
        return result
    }

    private init(
        _ json: JSON, at pointer: JSONPointer, invalid: [InvalidMember]
    ) throws(BodyRefusal) {
        guard case .object(let members) = json else {
            throw ObjectReader.malformed("An object is needed here.", at: pointer)
        }
        self.pointer = pointer
        self.invalid = invalid
        unread = [:]
        for member in members where unread.updateValue(member.value, forKey: member.name) != nil {
            throw ObjectReader.malformed(
                "The object has two members of this name.", at: pointer.member(member.name))
        }
    }

    private func refuseUnread() throws(BodyRefusal) {
        guard let name = unread.keys.min() else { return }
        throw ObjectReader.malformed(
            "There is no member of this name here.", at: pointer.member(name))
    }

    static func malformed(_ detail: String, at pointer: JSONPointer) -> BodyRefusal {
        .malformed(MalformedJSON(detail, at: pointer))
    }
}

// MARK: - Shapes

extension ObjectReader {
    /// A string that must be there.
    package mutating func string(_ name: String) throws(BodyRefusal) -> String {
        try required(name, "A string", optionalString(name))
    }

    /// A string, or `nil` when there is none.
    package mutating func optionalString(_ name: String) throws(BodyRefusal) -> String? {
        try optional(name, "A string") { $0.text }
    }

    /// An array of strings that must be there.
    package mutating func strings(_ name: String) throws(BodyRefusal) -> [String] {
        try required(name, "An array of strings", optionalStrings(name))
    }

    /// An array of strings, or `nil` when there is none.
    package mutating func optionalStrings(_ name: String) throws(BodyRefusal) -> [String]? {
        try optional(name, "An array of strings") { json in
            guard case .array(let values) = json else { return nil }
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        }
    }

    /// An integer within bounds, or `nil` when there is none or it is refused.
    package mutating func optionalInteger(
        _ name: String, in range: ClosedRange<Int>
    ) throws(BodyRefusal) -> Int? {
        let number: Int64? = try optional(name, "An integer") {
            if case .integer(let number) = $0 { number } else { nil }
        }
        guard let number else { return nil }
        return check(name) { () throws(InvalidValue) in
            guard let number = Int(exactly: number), range.contains(number) else {
                throw InvalidValue(
                    "integer_out_of_range",
                    "An integer from \(range.lowerBound) to \(range.upperBound) is needed.")
            }
            return number
        }
    }

    /// Whether the member is there, for objects of which one of several members is needed.
    ///
    /// A member that is `null` counts as left out and as read.
    package mutating func has(_ name: String) -> Bool {
        guard unread[name] == .null else { return unread[name] != nil }
        unread[name] = nil
        return false
    }

    private mutating func optional<Shape>(
        _ name: String, _ what: String, _ shape: (JSON) -> Shape?
    ) throws(BodyRefusal) -> Shape? {
        guard let json = unread.removeValue(forKey: name), json != .null else { return nil }
        guard let value = shape(json) else {
            throw ObjectReader.malformed("\(what) is needed here.", at: pointer.member(name))
        }
        return value
    }

    private func required<Shape>(
        _ name: String, _ what: String, _ value: Shape?
    ) throws(BodyRefusal) -> Shape {
        guard let value else {
            throw ObjectReader.malformed("\(what) is missing here.", at: pointer.member(name))
        }
        return value
    }
}

// MARK: - Objects

extension ObjectReader {
    /// An object that must be there; members that `read` does not ask for are refused.
    ///
    /// - Parameters:
    ///   - name: The member.
    ///   - read: Asks for the members of the object; `nil` only when a value was refused.
    /// - Returns: What `read` built; `nil` when a value was refused.
    /// - Throws: ``BodyRefusal``.
    package mutating func object<Result>(
        _ name: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Result?
    ) throws(BodyRefusal) -> Result? {
        let json = unread.removeValue(forKey: name) ?? .null
        var reader = try ObjectReader(json, at: pointer.member(name), invalid: invalid)
        let result = try read(&reader)
        try reader.refuseUnread()
        invalid = reader.invalid
        return result
    }

    /// An object as it stands, for those who read it by another standard; `nil` when there is none.
    package mutating func optionalDocument(_ name: String) throws(BodyRefusal) -> JSON? {
        try optional(name, "An object") { if case .object = $0 { $0 } else { nil } }
    }
}

// MARK: - Values

extension ObjectReader {
    /// A string that must be there, made into a value; `nil` when that is refused.
    package mutating func value<Value>(
        _ name: String, _ make: (String) throws(InvalidValue) -> Value
    ) throws(BodyRefusal) -> Value? {
        let text = try string(name)
        return check(name) { () throws(InvalidValue) in try make(text) }
    }

    /// A string made into a value; `nil` when there is none or it is refused.
    package mutating func optionalValue<Value>(
        _ name: String, _ make: (String) throws(InvalidValue) -> Value
    ) throws(BodyRefusal) -> Value? {
        guard let text = try optionalString(name) else { return nil }
        return check(name) { () throws(InvalidValue) in try make(text) }
    }

    /// A text to be shown, normalised to NFC; one that may be empty may also be left out.
    package mutating func displayText(
        _ name: String, _ field: DisplayText.Field
    ) throws(BodyRefusal) -> DisplayText? {
        let text =
            field.lengths.contains(0) ? try optionalString(name) ?? "" : try string(name)
        return check(name) { () throws(InvalidValue) in
            try DisplayText(normalizing: text, field)
        }
    }

    /// One of a closed list of words.
    ///
    /// What the other members mean may depend on it, so another word ends the reading at once.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(BodyRefusal) -> Choice {
        let text = try string(name)
        guard let choice = type.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) })
        else {
            let words = type.allCases.map(\.rawValue).joined(separator: ", ")
            refuse(name, InvalidValue("choice_unknown", "This must be one of: \(words)."))
            throw .invalid(invalid)
        }
        return choice
    }

    /// Makes a value of members already read; its refusal is reported at `name`.
    package mutating func check<Value>(
        _ name: String, _ make: () throws(InvalidValue) -> Value
    ) -> Value? {
        do {
            return try make()
        } catch {
            refuse(name, error)
            return nil
        }
    }

    /// Records that the value at `name` is not acceptable.
    package mutating func refuse(_ name: String, _ error: InvalidValue) {
        invalid.append(InvalidMember(pointer.member(name), error))
    }
}
