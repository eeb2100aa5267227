internal import COpenSSL
import Countersign

/// Identifier and length of one element, read by OpenSSL. Source: X.690 §8.1.
struct DERHeader {
    let tagClass: Int
    let tag: Int
    let isConstructed: Bool
    let headerBytes: Int
    let contentBytes: Int

    /// Reads the front of `bytes`; `nil` when there is no whole element, or its length is indefinite or
    /// longer than needed (X.690 §10.1), or its tag is (§8.1.2.4.2).
    init?(_ bytes: ArraySlice<UInt8>) {
        var contentBytes = 0
        var tag: Int32 = 0
        var tagClass: Int32 = 0
        var headerBytes = 0
        let answer = unsafe bytes.withUnsafeBufferPointer { buffer -> Int32 in
            guard let start = buffer.baseAddress else { return 0x80 }
            var cursor: UnsafePointer<UInt8>? = unsafe start
            let answer = unsafe ASN1_get_object(
                &cursor, &contentBytes, &tag, &tagClass, buffer.count)
            if let end = unsafe cursor { headerBytes = unsafe end - start }
            return answer
        }
        OpenSSL.forgetErrors()
        // 0x80 is an error, also content past the end; 0x01 is an indefinite length.
        guard answer & 0x81 == 0, contentBytes >= 0, headerBytes > 0,
            contentBytes <= bytes.count - headerBytes,
            let content = Int32(exactly: contentBytes)
        else { return nil }
        isConstructed = answer & V_ASN1_CONSTRUCTED != 0
        // OpenSSL's own encoder says how long the header of such an element is.
        guard
            Int(ASN1_object_size(isConstructed ? 1 : 0, content, tag))
                == headerBytes + contentBytes
        else { return nil }
        self.tag = Int(tag)
        self.tagClass = Int(tagClass)
        self.headerBytes = headerBytes
        self.contentBytes = contentBytes
    }

    /// The value of a whole INTEGER or ENUMERATED; `nil` when it is not minimal or needs more than 64 bits.
    static func integer(_ element: Bytes, isEnumerated: Bool) -> Int64? {
        let parsed = unsafe element.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return isEnumerated
                ? unsafe d2i_ASN1_ENUMERATED(nil, &cursor, buffer.count)
                : unsafe d2i_ASN1_INTEGER(nil, &cursor, buffer.count)
        }
        defer {
            unsafe ASN1_STRING_free(parsed)
            OpenSSL.forgetErrors()
        }
        guard let number = unsafe parsed else { return nil }
        var value: Int64 = 0
        let answer =
            isEnumerated
            ? unsafe ASN1_ENUMERATED_get_int64(&value, number)
            : unsafe ASN1_INTEGER_get_int64(&value, number)
        return answer == 1 ? value : nil
    }
}
