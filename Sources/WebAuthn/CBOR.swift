import Countersign

/// A CBOR value of the kinds that authenticators write: no floats, tags or indefinite lengths.
///
/// Source: RFC 8949; CTAP 2.1 §8 (canonical form).
indirect enum CBOR: Hashable, Sendable {
    case unsigned(UInt64)
    /// The value −1 − n.
    case negative(UInt64)
    case bytes(Bytes)
    case text(String)
    case array([CBOR])
    /// The pairs in the order in which they were written; no key occurs twice.
    case map([Pair])
    case bool(Bool)
    case null

    struct Pair: Hashable, Sendable {
        let key: CBOR
        let value: CBOR
    }

    /// The deepest nesting that is read; attestation statements need four.
    static let depthMax = 16

    /// The first value of `input`, which is advanced past it; `nil` when it is not well-formed.
    ///
    /// Looser than the canonical form in two points, because real authenticators are: pairs may be in
    /// any order, and a length may be longer than it need be.
    init?(takingFrom input: inout ArraySlice<UInt8>) {
        var rest = input
        guard let value = Self.read(&rest, depth: 0) else { return nil }
        input = rest
        self = value
    }

    /// The value of a map's pair with that text as key; `nil` when there is none.
    subscript(name: String) -> CBOR? {
        self[.text(name)]
    }

    /// The value of a map's pair with that integer as key; `nil` when there is none.
    subscript(label: Int64) -> CBOR? {
        self[CBOR(integer: label)]
    }

    private subscript(key: CBOR) -> CBOR? {
        guard case .map(let pairs) = self else { return nil }
        // Encoded, because text is equal for Swift in more than one spelling.
        return pairs.first { $0.key.encoded == key.encoded }?.value
    }

    init(integer: Int64) {
        self = integer < 0 ? .negative(UInt64(-1 - integer)) : .unsigned(UInt64(integer))
    }

    /// The value of either kind of integer; `nil` for all else and beyond 63 bits.
    var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        case .bytes, .text, .array, .map, .bool, .null: nil
        }
    }

    /// The content of a byte string.
    var bytes: Bytes? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The one shortest encoding, with pairs in the order in which they are held.
    var encoded: Bytes {
        switch self {
        case .unsigned(let value): return CBORHead.encode(.unsigned(value))
        case .negative(let value): return CBORHead.encode(.negative(value))
        case .bytes(let bytes): return CBORHead.encode(.bytes(bytes)) + bytes
        case .text(let text): return CBORHead.encode(.text(Bytes(text.utf8))) + Bytes(text.utf8)
        case .array(let items):
            return CBORHead.encode(.array(items.count)) + items.flatMap(\.encoded)
        case .map(let pairs):
            return CBORHead.encode(.map(pairs.count))
                + pairs.flatMap { $0.key.encoded + $0.value.encoded }
        case .bool(let value): return CBORHead.encode(.bool(value))
        case .null: return CBORHead.encode(.null)
        }
    }
}

extension CBOR {
    private static func read(_ input: inout ArraySlice<UInt8>, depth: Int) -> CBOR? {
        guard depth < depthMax, let (token, count) = CBORTokenizer.next(in: input) else {
            return nil
        }
        input = input.dropFirst(count)
        switch token {
        case .unsigned(let value): return .unsigned(value)
        case .negative(let value): return .negative(value)
        case .bytes(let bytes): return .bytes(bytes)
        case .text(let units): return String(validating: units, as: UTF8.self).map { .text($0) }
        case .array(let count): return array(of: count, from: &input, depth: depth)
        case .map(let count): return map(of: count, from: &input, depth: depth)
        case .bool(let value): return .bool(value)
        case .null: return .null
        case .unsupported: return nil
        }
    }

    private static func array(
        of count: Int, from input: inout ArraySlice<UInt8>, depth: Int
    ) -> CBOR? {
        // A promise of more items than there are bytes costs nothing: reading stops where they end.
        var items: [CBOR] = []
        for _ in 0..<count {
            guard let item = read(&input, depth: depth + 1) else { return nil }
            items.append(item)
        }
        return .array(items)
    }

    private static func map(
        of count: Int, from input: inout ArraySlice<UInt8>, depth: Int
    ) -> CBOR? {
        var pairs: [Pair] = []
        var keys: Set<Bytes> = []
        for _ in 0..<count {
            guard let key = read(&input, depth: depth + 1),
                let value = read(&input, depth: depth + 1),
                keys.insert(key.encoded).inserted
            else { return nil }
            pairs.append(Pair(key: key, value: value))
        }
        return .map(pairs)
    }
}
