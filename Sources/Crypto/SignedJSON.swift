package import Countersign
import FoundationEssentials

/// JSON text that came inside a signature: read by Foundation, with what Foundation lets pass refused.
package enum SignedJSON {
    /// The value of UTF-8 text without a byte order mark and without a name that occurs twice in one
    /// object; `nil` for anything else. Source: RFC 8259, RFC 7493 §2.3.
    ///
    /// Two parsers may disagree on which of two equal names counts, and so on what was signed.
    package static func decode(_ bytes: Bytes) -> JSON? {
        // Foundation guesses UTF-16 and UTF-32 from zero bytes and marks; RFC 8259 §8.1 has only UTF-8.
        guard !bytes.contains(0), !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
            String(validating: bytes, as: UTF8.self) != nil
        else { return nil }
        let value: JSON
        do {
            value = try JSONDecoder().decode(JSON.self, from: Data(bytes))
        } catch {
            return nil
        }
        return members(of: value) == colons(in: bytes) ? value : nil
    }

    /// The value of a client's data, which may begin with a byte order mark.
    ///
    /// Source: WebAuthn L3 §7.1 step 5 and §7.2 step 8: "UTF-8 decode" takes a mark off.
    package static func decodeClientData(_ bytes: Bytes) -> JSON? {
        let mark: Bytes = [0xEF, 0xBB, 0xBF]
        return decode(bytes.starts(with: mark) ? Bytes(bytes.dropFirst(mark.count)) : bytes)
    }

    /// How many members the decoded value has, at every depth.
    private static func members(of value: JSON) -> Int {
        switch value {
        case .null, .bool, .integer, .fraction, .string: 0
        case .array(let values): values.reduce(0) { $0 + members(of: $1) }
        case .object(let members):
            members.reduce(0) { $0 + 1 + Self.members(of: $1.value) }
        }
    }

    /// How many members the text wrote: its colons outside of strings. It is known to be well-formed but
    /// for a comma before a closing bracket, which Foundation takes; that is `nil`.
    private static func colons(in bytes: Bytes) -> Int? {
        var count = 0
        var isString = false
        var isEscaped = false
        var previous = UInt8(ascii: " ")
        for byte in bytes {
            if isString {
                isString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isString = true
            case UInt8(ascii: ":"): count += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard previous != UInt8(ascii: ",") else { return nil }
            case 0x09, 0x0A, 0x0D, 0x20: continue
            default: break
            }
            previous = byte
        }
        return count
    }
}
