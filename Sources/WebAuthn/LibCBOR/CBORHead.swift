internal import CCbor
import Countersign

/// Writes the head of one data item with libcbor, always in its shortest form.
@safe enum CBORHead {
    static func encode(_ token: CBORToken) -> Bytes {
        // A head has at most nine bytes. RFC 8949 §3.
        var head = Bytes(repeating: 0, count: 9)
        let count =
            switch token {
            case .unsigned(let value): unsafe cbor_encode_uint(value, &head, head.count)
            case .negative(let value): unsafe cbor_encode_negint(value, &head, head.count)
            case .bytes(let bytes):
                unsafe cbor_encode_bytestring_start(bytes.count, &head, head.count)
            case .text(let units): unsafe cbor_encode_string_start(units.count, &head, head.count)
            case .array(let count): unsafe cbor_encode_array_start(count, &head, head.count)
            case .map(let count): unsafe cbor_encode_map_start(count, &head, head.count)
            case .bool(let value): unsafe cbor_encode_bool(value, &head, head.count)
            case .null: unsafe cbor_encode_null(&head, head.count)
            case .openArray, .openMap, .end, .unsupported: 0
            }
        precondition(count > 0, "a head fits into nine bytes")
        return Bytes(head.prefix(count))
    }
}
