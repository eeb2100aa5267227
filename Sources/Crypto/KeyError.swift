/// Why a text or bytes are not an acceptable key.
package enum KeyError: Error, Hashable, Sendable {
    /// Not one of the documented forms: another label, two keys, trailing bytes, broken base64.
    case malformed
    /// In a documented form, but of another kind, another curve, or compressed.
    case unsupported
    /// The coordinates are not a point of the curve.
    case notOnCurve
}
