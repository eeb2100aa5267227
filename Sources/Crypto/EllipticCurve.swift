import Countersign

/// What the forms of keys and signatures of one NIST curve need to know of it.
struct EllipticCurve: Sendable {
    /// The length of a coordinate and of a number modulo n.
    let width: Int
    /// n, the order of the base point, big-endian.
    let order: Bytes
    /// The DER of every SubjectPublicKeyInfo of an uncompressed point, up to the point.
    ///
    /// Source: RFC 5480 §2.1.1: id-ecPublicKey, namedCurve, BIT STRING. Comparing with it is a complete
    /// parser: DER leaves no other spelling, and nothing can trail.
    let spkiPrefix: Bytes

    /// The length of an uncompressed point: 0x04, x, y. Source: SEC 1 §2.3.3.
    var pointBytes: Int { 1 + 2 * width }

    /// Source of the order: SEC 2 §2.4.2.
    static let p256 = EllipticCurve(
        width: 32,
        order: Bytes(repeating: 0xFF, count: 4) + Bytes(repeating: 0, count: 4)
            + Bytes(repeating: 0xFF, count: 8)
            + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84]
            + [0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51],
        spkiPrefix: [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ])

    /// Source of the order: SEC 2 §2.5.1.
    static let p384 = EllipticCurve(
        width: 48,
        order: Bytes(repeating: 0xFF, count: 24)
            + [0xC7, 0x63, 0x4D, 0x81, 0xF4, 0x37, 0x2D, 0xDF]
            + [0x58, 0x1A, 0x0D, 0xB2, 0x48, 0xB0, 0xA7, 0x7A]
            + [0xEC, 0xEC, 0x19, 0x6A, 0xCC, 0xC5, 0x29, 0x73],
        spkiPrefix: [
            0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x05, 0x2B, 0x81, 0x04, 0x00, 0x22, 0x03, 0x62, 0x00,
        ])

    /// The point of a SubjectPublicKeyInfo of this curve; `nil` for every other bytes.
    func point(inSPKI spki: Bytes) -> Bytes? {
        guard spki.count == spkiPrefix.count + pointBytes, spki.starts(with: spkiPrefix) else {
            return nil
        }
        return Bytes(spki.dropFirst(spkiPrefix.count))
    }

    /// Whether the big-endian number of ``width`` bytes is in [1, n−1].
    func isInRange(_ number: some Collection<UInt8>) -> Bool {
        number.contains { $0 != 0 } && number.lexicographicallyPrecedes(order)
    }

    // MARK: Signatures

    /// The numbers r then s of a DER signature, ``width`` bytes each, both in range; `nil` otherwise.
    ///
    /// Reads SEQUENCE { INTEGER r, INTEGER s } with no other spelling and nothing after it. Source: RFC
    /// 3279 §2.2.3, X.690 §8.3.2 and §10.1. A signature of these curves is never so long that a length
    /// needs more than one byte.
    func numbers(inDER der: Bytes) -> Bytes? {
        guard der.count >= 8, der.count <= 8 + 2 * width, der[0] == 0x30,
            Int(der[1]) == der.count - 2
        else { return nil }
        var rest = der[2...]
        guard let r = integer(from: &rest), let s = integer(from: &rest), rest.isEmpty,
            isInRange(r), isInRange(s)
        else { return nil }
        return r + s
    }

    /// The one DER encoding of r and s, ``width`` bytes each.
    func der(ofNumbers raw: Bytes) -> Bytes {
        let content = Self.encoded(raw.prefix(width)) + Self.encoded(raw.suffix(width))
        return [0x30, UInt8(content.count)] + content
    }

    /// Takes one positive, minimal INTEGER off the front, as ``width`` bytes.
    private func integer(from rest: inout ArraySlice<UInt8>) -> Bytes? {
        guard rest.count >= 3, rest.removeFirst() == 0x02 else { return nil }
        let count = Int(rest.removeFirst())
        guard count >= 1, count <= width + 1, rest.count >= count else { return nil }
        var digits = rest.prefix(count)
        rest = rest.dropFirst(count)
        guard let first = digits.first, first < 0x80 else { return nil }
        if first == 0, count > 1 {
            digits = digits.dropFirst()
            // A leading zero byte is there only to keep the number positive.
            guard let next = digits.first, next >= 0x80 else { return nil }
        }
        guard digits.count <= width else { return nil }
        return Bytes(repeating: 0, count: width - digits.count) + digits
    }

    private static func encoded(_ number: ArraySlice<UInt8>) -> Bytes {
        var digits = Bytes(number.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
