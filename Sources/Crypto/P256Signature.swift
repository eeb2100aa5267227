package import Countersign

/// The two numbers of an ECDSA signature on P-256, each in [1, n−1].
///
/// (r, s) and (r, n−s) are both valid for one message, so signature bytes never identify anything.
package struct P256Signature: Hashable, Sendable {
    /// r then s, 32 bytes each, big-endian: the form of JOSE. Source: RFC 7518 §3.4.
    package let raw: Bytes

    /// n, the order of the base point. Source: SEC 2 §2.4.2.
    private static let order =
        Bytes(repeating: 0xFF, count: 4) + Bytes(repeating: 0, count: 4)
        + Bytes(repeating: 0xFF, count: 8)
        + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84]
        + [0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]

    /// Takes exactly 64 bytes with both numbers in range; anything else is `nil`.
    package init?(raw: Bytes) {
        guard raw.count == 64, Self.isInRange(raw.prefix(32)), Self.isInRange(raw.suffix(32)) else {
            return nil
        }
        self.raw = raw
    }

    /// Reads DER: SEQUENCE { INTEGER r, INTEGER s }, with no other spelling and nothing after it.
    ///
    /// Source: RFC 3279 §2.2.3, X.690 §8.3.2 and §10.1. A signature of P-256 is never so long that a
    /// length needs more than one byte.
    package init?(der: Bytes) {
        guard der.count >= 8, der.count <= 72, der[0] == 0x30, Int(der[1]) == der.count - 2 else {
            return nil
        }
        var rest = der[2...]
        guard let r = Self.integer(from: &rest), let s = Self.integer(from: &rest), rest.isEmpty
        else { return nil }
        self.init(raw: r + s)
    }

    /// Reads the one format that a key was enrolled with; the other is no signature of that key.
    package init?(_ bytes: Bytes, in format: SignatureFormat) {
        switch format {
        case .der: self.init(der: bytes)
        case .raw: self.init(raw: bytes)
        }
    }

    /// The one DER encoding.
    package var der: Bytes {
        let content = Self.encoded(raw.prefix(32)) + Self.encoded(raw.suffix(32))
        return [0x30, UInt8(content.count)] + content
    }

    private static func isInRange(_ number: ArraySlice<UInt8>) -> Bool {
        number.contains { $0 != 0 } && number.lexicographicallyPrecedes(order)
    }

    /// Takes one positive, minimal INTEGER off the front, as 32 bytes.
    private static func integer(from rest: inout ArraySlice<UInt8>) -> Bytes? {
        guard rest.count >= 3, rest.removeFirst() == 0x02 else { return nil }
        let count = Int(rest.removeFirst())
        guard count >= 1, count <= 33, rest.count >= count else { return nil }
        var digits = rest.prefix(count)
        rest = rest.dropFirst(count)
        guard let first = digits.first, first < 0x80 else { return nil }
        if first == 0, count > 1 {
            digits = digits.dropFirst()
            // A leading zero byte is there only to keep the number positive.
            guard let next = digits.first, next >= 0x80 else { return nil }
        }
        guard digits.count <= 32 else { return nil }
        return Bytes(repeating: 0, count: 32 - digits.count) + digits
    }

    private static func encoded(_ number: ArraySlice<UInt8>) -> Bytes {
        var digits = Bytes(number.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
