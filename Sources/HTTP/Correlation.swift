/// The two header fields by which a caller finds its request again in our logs and answers.
package enum Correlation {
    /// The longest `X-Request-ID` that is taken over, in characters.
    package static let requestIDLengthMax = 64

    /// Whether a caller's `X-Request-ID` may be taken over: 1–64 of `[A-Za-z0-9._-]`.
    package static func isRequestID(_ text: String) -> Bool {
        (1...requestIDLengthMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { unit in
                switch unit {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether this is a `traceparent` of the four known parts.
    ///
    /// Source: W3C Trace Context §3.2. Stricter than the spec: a version with further parts is dropped.
    package static func isTraceparent(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [2, 32, 16, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy(isLowerHex) })
        else { return false }
        return parts[0] != "ff" && parts[1].contains { $0 != "0" }
            && parts[2].contains { $0 != "0" }
    }

    private static func isLowerHex(_ unit: UInt8) -> Bool {
        (0x30...0x39).contains(unit) || (0x61...0x66).contains(unit)
    }
}
