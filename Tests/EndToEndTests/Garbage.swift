import Countersign
import Foundation

/// Makes wrong things of right ones, the same for the same seed.
struct Garbage: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A number below a bound. Source: SplitMix64.
    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Int(mixed % UInt64(bound))
    }

    private mutating func one<Value>(of values: [Value]) -> Value { values[next(values.count)] }

    /// A short text without control characters, as a header or a path can carry it.
    mutating func word() -> String {
        String((0..<(1 + next(12))).map { _ in one(of: Array("abcXYZ019-_.~:@\"\\,;=!$&'()*+")) })
    }

    /// A body that is not quite this one, or not at all.
    mutating func body(_ json: JSON) -> Bytes {
        switch next(8) {
        case 0: return Bytes((0..<next(200)).map { _ in UInt8(next(256)) })
        case 1: return bytes(around: json.encoded)
        case 2: return token(in: json.encoded)
        case 3: return Bytes(json.encoded.dropLast(1 + next(20)))
        default:
            var changed = json
            for _ in 0...next(3) { changed = change(changed) }
            return changed.encoded
        }
    }

    /// Bytes that are changed, doubled or left out at one place.
    private mutating func bytes(around bytes: Bytes) -> Bytes {
        guard !bytes.isEmpty else { return [0] }
        var bytes = bytes
        let place = next(bytes.count)
        switch next(3) {
        case 0: bytes[place] = UInt8(next(256))
        case 1: bytes.insert(contentsOf: bytes[place...].prefix(next(40)), at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 1 + next(10)))
        }
        return bytes
    }

    /// One string's place taken by a token that is no string.
    private mutating func token(in bytes: Bytes) -> Bytes {
        let text = String(decoding: bytes, as: UTF8.self)
        let values = text.ranges(of: /:"[^"]*"/)
        guard !values.isEmpty else { return bytes }
        let tokens = [
            "1.5", "1e999", "-0", "NaN", "99999999999999999999999", "true", "[[[[[[[[[[]]]]]]]]]]",
            "\"\\ud800\"", "\"\\u0000\"", "\"\\u202e\"", "'x'", "\"\u{FEFF}\"", "",
        ]
        let place = one(of: values)
        return Bytes(text.replacingCharacters(in: place, with: ":" + one(of: tokens)).utf8)
    }

    /// The value with one part of it replaced, left out, renamed or added.
    private mutating func change(_ json: JSON) -> JSON {
        switch json {
        case .object(var members) where !members.isEmpty && next(5) > 0:
            let place = next(members.count)
            let member = members[place]
            switch next(8) {
            case 0: members.remove(at: place)
            case 1: members.append(.init(word(), value()))
            case 2: members.append(member)
            case 3: members[place] = .init(word(), member.value)
            default: members[place] = .init(member.name, change(member.value))
            }
            return .object(members)
        case .array(var values) where !values.isEmpty && next(4) > 0:
            let place = next(values.count)
            values[place] = change(values[place])
            return .array(values)
        case .string(let text) where next(3) > 0:
            return .string(string(like: text))
        default: return value()
        }
    }

    private mutating func value() -> JSON {
        one(of: [
            .null, .bool(true), .integer(0), .integer(-1), .integer(.max), .string(""), .array([]),
            .object([]), .string(string(like: "x")), .array([.null, .integer(1)]),
            .object([.init("id", .null)]), .string(String(repeating: "x", count: 70_000)),
        ])
    }

    /// A text that is near another one, or far from all that is good.
    private mutating func string(like text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        let strange: [Unicode.Scalar] = [
            "\u{0}", "\u{1}", "\n", "\u{7F}", "\u{85}", "\u{200B}", "\u{202E}", "\u{E000}",
            "\u{FEFF}", "\u{10FFFF}", "\u{301}", "ß", "İ", "'", "\"", "\\", "%", "-", "+", " ", "/",
        ]
        var view = String.UnicodeScalarView()
        switch next(5) {
        case 0:
            view.append(contentsOf: scalars)
            view.append(one(of: strange))
        case 1:
            view.append(contentsOf: scalars.dropLast(1 + next(3)))
        case 2:
            for scalar in scalars { view.append(next(8) == 0 ? one(of: strange) : scalar) }
        case 3:
            for _ in 0..<(1 + next(4)) { view.append(contentsOf: scalars.prefix(1000)) }
        default:
            for _ in 0..<next(200) { view.append(one(of: strange)) }
        }
        return String(view)
    }

    /// A request target that is not quite this one.
    mutating func target(_ path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let odd = [
            "%00", "..", "%2e%2e", "%2F", "%", "%zz", "%FF", "%C0%AF", "null", "0", "-1", "'", "*",
            "00000000-0000-0000-0000-000000000000", String(repeating: "a", count: 3000),
        ]
        switch next(4) {
        case 0:
            var changed = parts
            changed[changed.count - 1 - next(min(2, changed.count - 1))] = one(of: odd)
            return changed.joined(separator: "/")
        case 1:
            return path + (path.contains("?") ? "&" : "?") + "limit=" + one(of: odd)
        case 2:
            return path + (path.contains("?") ? "&" : "?") + one(of: ["cursor", "from", "x"]) + "="
                + one(of: odd)
        default: return path + "/" + one(of: odd)
        }
    }
}
