package import Countersign

/// Writes DER for tests: what a device's secure hardware would write, also when it is wrong.
package enum DER {
    /// One element of any identifier octets.
    package static func element(_ identifier: Bytes, _ content: Bytes) -> Bytes {
        identifier + length(content.count) + content
    }

    package static func sequence(_ parts: Bytes...) -> Bytes { sequence(parts) }
    package static func sequence(_ parts: [Bytes]) -> Bytes {
        element([0x30], parts.flatMap(\.self))
    }
    package static func set(_ parts: [Bytes]) -> Bytes { element([0x31], parts.flatMap(\.self)) }
    package static func octets(_ bytes: Bytes) -> Bytes { element([0x04], bytes) }
    package static func bits(_ bytes: Bytes) -> Bytes { element([0x03], [0] + bytes) }
    package static func utf8(_ text: String) -> Bytes { element([0x0C], Bytes(text.utf8)) }
    package static func null() -> Bytes { element([0x05], []) }
    package static func boolean(_ value: Bool) -> Bytes { element([0x01], [value ? 0xFF : 0]) }
    package static func integer(_ value: Int64) -> Bytes { element([0x02], digits(value)) }
    package static func enumerated(_ value: Int64) -> Bytes { element([0x0A], digits(value)) }

    /// `[number] EXPLICIT`.
    package static func explicit(_ number: Int, _ content: Bytes) -> Bytes {
        element(number < 31 ? [0xA0 | UInt8(number)] : [0xBF] + base128(number), content)
    }

    package static func oid(_ text: String) -> Bytes {
        let arcs = text.split(separator: ".").compactMap { Int($0) }
        return element([0x06], base128(arcs[0] * 40 + arcs[1]) + arcs.dropFirst(2).flatMap(base128))
    }

    /// GeneralizedTime, for every year.
    package static func time(_ instant: Instant) -> Bytes {
        element([0x18], Bytes(instant.wholeSeconds.text.utf8.filter { !"-:T".utf8.contains($0) }))
    }

    private static func length(_ count: Int) -> Bytes {
        if count < 0x80 { return [UInt8(count)] }
        if count < 0x100 { return [0x81, UInt8(count)] }
        return [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    }

    private static func digits(_ value: Int64) -> Bytes {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
        while bytes.count > 1, bytes[0] == (bytes[1] < 0x80 ? 0x00 : 0xFF) { bytes.removeFirst() }
        return bytes
    }

    private static func base128(_ number: Int) -> Bytes {
        var bytes = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(0x80 | UInt8(rest & 0x7F), at: 0)
            rest >>= 7
        }
        return bytes
    }
}
