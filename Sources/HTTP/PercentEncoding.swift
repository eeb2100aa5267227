import Countersign

/// Percent-decoding, once and strictly. Source: RFC 3986 §2.1.
enum PercentEncoding {
    /// The decoded text; `nil` for a broken escape, a NUL or bytes that are not UTF-8.
    ///
    /// A plus is a space in queries, which clients write as HTML forms do.
    static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var decoded: Bytes = []
        decoded.reserveCapacity(text.utf8.count)
        var units = text.utf8.makeIterator()
        while let unit = units.next() {
            switch unit {
            case UInt8(ascii: "%"):
                guard let high = units.next().flatMap(Hex.value(of:)),
                    let low = units.next().flatMap(Hex.value(of:))
                else { return nil }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                decoded.append(UInt8(ascii: " "))
            default:
                decoded.append(unit)
            }
        }
        guard !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}
