import Countersign

/// Why a body is refused.
package enum BodyRefusal: Error, Hashable, Sendable {
    /// Not the shape that is asked for: `malformed-request`, 400.
    case malformed(MalformedJSON)
    /// The right shape with values that are not acceptable: `invalid-action`, 422.
    case invalid([InvalidMember])
}

/// A member whose value is not acceptable, and why.
package struct InvalidMember: Hashable, Sendable {
    package let pointer: JSONPointer
    /// As in ``InvalidValue``.
    package let code: String
    /// As in ``InvalidValue``.
    package let detail: String

    init(_ pointer: JSONPointer, _ error: InvalidValue) {
        self.pointer = pointer
        code = error.code
        detail = error.detail
    }
}
