import Countersign

/// A CBOR value of the kinds that authenticators write: no floats or tags.
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

    /// Whether arrays and maps may be written without their count.
    enum Lengths {
        /// CTAP2's canonical form, of everything that an authenticator signs.
        case definite
        /// Arrays and maps may be open. Only for the attestation object: the client puts it together,
        /// and its framing is not signed.
        case definiteOrOpen
    }

    /// The deepest nesting that is read; attestation statements need four.
    static let depthMax = 16

    /// The first value of `input`, which is advanced past it; `nil` when it is not well-formed.
    ///
    /// Looser than the canonical form in two points, because real authenticators are: pairs may be in
    /// any order, and a length may be longer than it need be.
    init?(takingFrom input: inout ArraySlice<UInt8>, lengths: Lengths = .definite) {
        var rest = input
        guard case .value(let value)? = Self.read(&rest, lengths, depth: 0) else { return nil }
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
    /// What was read: a value, or the end of the open array or map around it.
    private enum Item {
        case value(CBOR)
        case end
    }

    private static func read(
        _ input: inout ArraySlice<UInt8>, _ lengths: Lengths, depth: Int
    ) -> Item? {
        guard depth < depthMax, let (token, count) = CBORTokenizer.next(in: input) else {
            return nil
        }
        input = input.dropFirst(count)
        let value: CBOR?
        switch token {
        case .unsigned(let number): value = .unsigned(number)
        case .negative(let number): value = .negative(number)
        case .bytes(let bytes): value = .bytes(bytes)
        case .text(let units): value = String(validating: units, as: UTF8.self).map { .text($0) }
        case .array(let count): value = array(of: count, from: &input, lengths, depth: depth)
        case .map(let count): value = map(of: count, from: &input, lengths, depth: depth)
        case .openArray:
            guard lengths == .definiteOrOpen else { return nil }
            value = array(of: nil, from: &input, lengths, depth: depth)
        case .openMap:
            guard lengths == .definiteOrOpen else { return nil }
            value = map(of: nil, from: &input, lengths, depth: depth)
        case .end: return .end
        case .bool(let flag): value = .bool(flag)
        case .null: value = .null
        case .unsupported: value = nil
        }
        return value.map { .value($0) }
    }

    /// Without a count the array goes on to its end.
    private static func array(
        of count: Int?, from input: inout ArraySlice<UInt8>, _ lengths: Lengths, depth: Int
    ) -> CBOR? {
        // A promise of more items than there are bytes costs nothing: reading stops where they end.
        var items: [CBOR] = []
        while items.count != count {
            switch read(&input, lengths, depth: depth + 1) {
            case .value(let item)?: items.append(item)
            case .end?: return count == nil ? .array(items) : nil
            case nil: return nil
            }
        }
        return .array(items)
    }

    /// Without a count the map goes on to its end, which may not stand between a key and its value.
    private static func map(
        of count: Int?, from input: inout ArraySlice<UInt8>, _ lengths: Lengths, depth: Int
    ) -> CBOR? {
        var pairs: [Pair] = []
        var keys: Set<Bytes> = []
        while pairs.count != count {
            switch read(&input, lengths, depth: depth + 1) {
            case .value(let key)?:
                guard case .value(let value)? = read(&input, lengths, depth: depth + 1),
                    keys.insert(key.encoded).inserted
                else { return nil }
                pairs.append(Pair(key: key, value: value))
            case .end?: return count == nil ? .map(pairs) : nil
            case nil: return nil
            }
        }
        return .map(pairs)
    }
}
