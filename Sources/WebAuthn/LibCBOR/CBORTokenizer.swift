internal import CCbor
import Countersign

/// One data item's head of RFC 8949, and for strings its content.
enum CBORToken {
    case unsigned(UInt64)
    /// The value −1 − n.
    case negative(UInt64)
    case bytes(Bytes)
    /// The units of a text; not yet known to be UTF-8.
    case text(Bytes)
    /// An array of so many items follows.
    case array(Int)
    /// A map of so many pairs follows.
    case map(Int)
    /// An array follows up to its ``end``.
    case openArray
    /// A map follows up to its ``end``.
    case openMap
    /// The end of an open array or map.
    case end
    case bool(Bool)
    case null
    /// Well-formed, but nothing that is read here: a string in pieces, a tag, a float.
    case unsupported
}

/// Takes CBOR apart with libcbor's streaming decoder.
///
/// The streaming decoder, because it allocates nothing and does not recurse: a hostile length or depth
/// costs nothing. `cbor_load` allocates what a length promises and frees nested items recursively.
@safe enum CBORTokenizer {
    /// The first item of `input` and how many bytes it took; `nil` when there is no complete one.
    static func next(in input: ArraySlice<UInt8>) -> (token: CBORToken, count: Int)? {
        let sink = TokenSink()
        var callbacks = Self.callbacks
        let result = unsafe input.withUnsafeBufferPointer { buffer in
            unsafe cbor_stream_decode(
                buffer.baseAddress, buffer.count, &callbacks,
                Unmanaged.passUnretained(sink).toOpaque())
        }
        guard result.status == CBOR_DECODER_FINISHED, let token = sink.token else { return nil }
        return (token, result.read)
    }

    // C's size_t is a signed Int in Swift: a count beyond 63 bits comes out negative.
    private static let callbacks = unsafe cbor_callbacks(
        uint8: { unsafe put($0, .unsigned(UInt64($1))) },
        uint16: { unsafe put($0, .unsigned(UInt64($1))) },
        uint32: { unsafe put($0, .unsigned(UInt64($1))) },
        uint64: { unsafe put($0, .unsigned($1)) },
        negint64: { unsafe put($0, .negative($1)) },
        negint32: { unsafe put($0, .negative(UInt64($1))) },
        negint16: { unsafe put($0, .negative(UInt64($1))) },
        negint8: { unsafe put($0, .negative(UInt64($1))) },
        byte_string_start: { unsafe put($0, .unsupported) },
        byte_string: { unsafe put($0, .bytes(Bytes(UnsafeBufferPointer(start: $1, count: $2)))) },
        string: { unsafe put($0, .text(Bytes(UnsafeBufferPointer(start: $1, count: $2)))) },
        string_start: { unsafe put($0, .unsupported) },
        indef_array_start: { unsafe put($0, .openArray) },
        array_start: { unsafe put($0, $1 >= 0 ? .array($1) : .unsupported) },
        indef_map_start: { unsafe put($0, .openMap) },
        map_start: { unsafe put($0, $1 >= 0 ? .map($1) : .unsupported) },
        tag: { context, _ in unsafe put(context, .unsupported) },
        float2: { context, _ in unsafe put(context, .unsupported) },
        float4: { context, _ in unsafe put(context, .unsupported) },
        float8: { context, _ in unsafe put(context, .unsupported) },
        undefined: { unsafe put($0, .unsupported) },
        null: { unsafe put($0, .null) },
        boolean: { unsafe put($0, .bool($1)) },
        indef_break: { unsafe put($0, .end) })
}

/// Where libcbor's callbacks leave the one token of a call.
private final class TokenSink {
    var token: CBORToken?
}

/// Called by libcbor during `next`, on the same thread, while the sink is alive.
private func put(_ context: UnsafeMutableRawPointer?, _ token: CBORToken) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TokenSink>.fromOpaque(context).takeUnretainedValue().token = token
}
