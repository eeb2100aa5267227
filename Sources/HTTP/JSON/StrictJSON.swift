package import Countersign
import FoundationEssentials

/// Why bytes are not a JSON document of the kind that is asked for; becomes `malformed-request`.
package struct MalformedJSON: Error, Hashable, Sendable {
    /// One sentence for the caller's developer, without anything that was sent.
    package let detail: String
    package let pointer: JSONPointer

    package init(_ detail: String, at pointer: JSONPointer) {
        self.detail = detail
        self.pointer = pointer
    }
}

/// Reads JSON of which two readers cannot make two things.
///
/// `JSONDecoder` reads; it also takes duplicate members, a byte order mark, trailing commas, NUL
/// and `1.0` for an integer, so ``JSONScanner`` goes over the bytes first and refuses those.
package enum StrictJSON {
    /// How many arrays and objects may be open at once.
    static let depthMax = 32
    /// How long a member name may be, in bytes of UTF-8. To compare two strings Swift puts them
    /// into one normal form, which takes quadratic time for a long run of combining marks.
    static let nameBytesMax = 128

    /// The value that `bytes` spell; members come sorted by name.
    ///
    /// A number is an integer only when it is written as one and fits 64 bits; `1.0`, `1e2` and
    /// 9223372036854775808 are ``JSON/fraction``.
    ///
    /// - Throws: ``MalformedJSON`` for anything but one document of RFC 8259 in UTF-8, and for:
    ///   duplicate member names (escapes resolved), names longer than 128 bytes, more than 32
    ///   levels, U+0000, lone surrogates, a byte order mark and `-0`.
    package static func parse(_ bytes: Bytes) throws(MalformedJSON) -> JSON {
        var scanner = JSONScanner(bytes)
        try scanner.document()
        do {
            return try JSONDecoder().decode(JSON.self, from: Data(scanner.bytes))
        } catch {
            throw MalformedJSON("The body is not JSON.", at: .root)
        }
    }
}
