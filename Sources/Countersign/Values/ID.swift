/// An identifier of one thing of kind `Entity`: a UUIDv7, so that it sorts by time of creation.
///
/// Source: RFC 9562 §5.7.
package struct ID<Entity>: Hashable, Comparable, Sendable {
    package let rawValue: UInt128

    package init(rawValue: UInt128) { self.rawValue = rawValue }

    /// Makes a UUIDv7 from a time and fresh random bytes.
    ///
    /// - Parameters:
    ///   - instant: The time of creation; its milliseconds become the leading 48 bits.
    ///   - random: At least 10 unpredictable bytes, of which 74 bits are used.
    package init(at instant: Instant, random: Bytes) {
        precondition(random.count >= 10, "an ID needs 10 random bytes")
        precondition(instant.milliseconds >= 0, "an ID cannot be older than 1970")
        var tail: UInt128 = 0
        for byte in random.prefix(10) { tail = tail << 8 | UInt128(byte) }
        let version: UInt128 = 0x7 << 76
        let variant: UInt128 = 0b10 << 62
        let high = (tail >> 62 & 0xFFF) << 64
        let low = tail & ((1 << 62) - 1)
        rawValue = UInt128(instant.milliseconds) << 80 | version | high | variant | low
    }

    /// Reads the 36-character form with hyphens, in either case.
    ///
    /// Any version is taken: an unknown ID is simply not found.
    package init?(_ text: some StringProtocol) {
        let units = Array(text.utf8)
        guard units.count == 36 else { return nil }
        var value: UInt128 = 0
        for (index, unit) in units.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard unit == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hex.value(of: unit) else { return nil }
            value = value << 4 | UInt128(digit)
        }
        rawValue = value
    }

    /// The canonical lower-case form with hyphens.
    package var text: String {
        var units: Bytes = []
        units.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                units.append(UInt8(ascii: "-"))
            }
            units.append(
                Hex.digits[Int(truncatingIfNeeded: rawValue >> UInt128(4 * (31 - index))) & 0xF])
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// The time in the leading 48 bits.
    package var instant: Instant {
        Instant(milliseconds: Int64(truncatingIfNeeded: rawValue >> 80))
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ID: CustomStringConvertible {
    package var description: String { text }
}
