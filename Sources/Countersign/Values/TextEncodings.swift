/// Lower-case hexadecimal. Source: RFC 4648 §8.
package enum Hex {
    static let digits = Bytes("0123456789abcdef".utf8)

    /// Two lower-case digits for each byte.
    package static func encode(_ bytes: Bytes) -> String {
        var units: Bytes = []
        units.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            units.append(digits[Int(byte >> 4)])
            units.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// Reads an even number of digits in either case; anything else is `nil`.
    package static func decode(_ text: some StringProtocol) -> Bytes? {
        let units = Array(text.utf8)
        guard units.count % 2 == 0 else { return nil }
        var bytes: Bytes = []
        bytes.reserveCapacity(units.count / 2)
        for index in stride(from: 0, to: units.count, by: 2) {
            guard let high = value(of: units[index]), let low = value(of: units[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The value of one digit in either case; `nil` for every other unit.
    package static func value(of unit: UInt8) -> UInt8? {
        switch unit {
        case 0x30...0x39: unit - 0x30
        case 0x41...0x46: unit - 0x41 + 10
        case 0x61...0x66: unit - 0x61 + 10
        default: nil
        }
    }
}

/// Base64 in the two alphabets of RFC 4648. Decoding is strict: no white space, no stray bits.
package enum Base64 {
    private static let standard = Bytes(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let url = Bytes(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// RFC 4648 §4, with padding.
    package static func encode(_ bytes: Bytes) -> String {
        encode(bytes, alphabet: standard, padding: true)
    }

    /// RFC 4648 §5, without padding.
    package static func encodeURL(_ bytes: Bytes) -> String {
        encode(bytes, alphabet: url, padding: false)
    }

    /// RFC 4648 §4; padding is required.
    package static func decode(_ text: some StringProtocol) -> Bytes? {
        let units = Array(text.utf8)
        guard units.count % 4 == 0 else { return nil }
        let padding = units.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return decode(units.dropLast(padding), alphabet: standard)
    }

    /// RFC 4648 §5; padding is refused.
    package static func decodeURL(_ text: some StringProtocol) -> Bytes? {
        decode(Array(text.utf8)[...], alphabet: url)
    }

    private static func encode(_ bytes: Bytes, alphabet: Bytes, padding: Bool) -> String {
        var units: Bytes = []
        units.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value: UInt32 = 0
            for byte in group { value = value << 8 | UInt32(byte) }
            value <<= UInt32(8 * (3 - group.count))
            for position in 0...group.count {
                units.append(alphabet[Int(value >> UInt32(18 - 6 * position) & 0x3F)])
            }
            if padding { units += Bytes(repeating: UInt8(ascii: "="), count: 3 - group.count) }
        }
        return String(decoding: units, as: UTF8.self)
    }

    private static func decode(_ units: ArraySlice<UInt8>, alphabet: Bytes) -> Bytes? {
        guard units.count % 4 != 1 else { return nil }
        let values = alphabet == url ? urlValues : standardValues
        var bytes: Bytes = []
        bytes.reserveCapacity(units.count * 3 / 4)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for unit in units {
            let value = values[Int(unit)]
            guard value < 64 else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        guard buffer & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }

    private static let standardValues = inverse(of: standard)
    private static let urlValues = inverse(of: url)

    private static func inverse(of alphabet: Bytes) -> Bytes {
        var values = Bytes(repeating: 0xFF, count: 256)
        for (value, unit) in alphabet.enumerated() { values[Int(unit)] = UInt8(value) }
        return values
    }
}
