/// One place in which two JSON documents differ.
package struct JSONDifference: Hashable, Sendable {
    /// Where; a JSON pointer (RFC 6901), such as `/payee/cooling_off_s`.
    package let pointer: String
    /// What stood there; `nil` when nothing did.
    package let from: JSON?
    /// What stands there now; `nil` when nothing does.
    package let to: JSON?

    /// All differences, sorted by pointer. Objects are compared member by member, everything else as a
    /// whole: an array that differs in one element is another array.
    package static func between(_ old: JSON, _ new: JSON) -> [JSONDifference] {
        differences(old, new, at: "").sorted {
            $0.pointer.utf8.lexicographicallyPrecedes($1.pointer.utf8)
        }
    }

    private static func differences(
        _ old: JSON?, _ new: JSON?, at pointer: String
    ) -> [JSONDifference] {
        guard case .object(let before)? = old, case .object(let after)? = new else {
            return isSame(old, new) ? [] : [JSONDifference(pointer: pointer, from: old, to: new)]
        }
        return Set((before + after).map(\.name)).flatMap { name in
            differences(old?[name], new?[name], at: pointer + "/" + JSON.pointerStep(name))
        }
    }

    /// Whether two values are the same, in whatever order members of objects stand.
    private static func isSame(_ left: JSON?, _ right: JSON?) -> Bool {
        switch (left, right) {
        case (.object?, .object?): differences(left, right, at: "").isEmpty
        case (.array(let left)?, .array(let right)?):
            left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        default: left == right
        }
    }

    /// `{"pointer", "from"?, "to"?}`: a member is left out where nothing stood or stands.
    package var json: JSON {
        var members: [JSON.Member] = [.init("pointer", .string(pointer))]
        if let from { members.append(.init("from", from)) }
        if let to { members.append(.init("to", to)) }
        return .object(members)
    }
}
