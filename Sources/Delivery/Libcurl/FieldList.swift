internal import CCurl
import Countersign

/// The fields of a request as libcurl's linked list, which must outlive the exchange.
@safe struct FieldList: ~Copyable {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    /// Refuses a field that would not stay one field: a line break in it would start another.
    init(_ request: HTTPRequest) throws(TransportFailure) {
        unsafe pointer = nil
        // Without this libcurl would wait for "100 Continue" before a long body.
        var lines = ["Expect:"]
        if request.method == .post, !request.fields.contains(where: isContentType) {
            lines.append("Content-Type:")
        }
        for field in request.fields {
            guard isToken(field.name), !field.value.isEmpty,
                field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { throw .notAllowed }
            lines.append("\(field.name): \(field.value)")
        }
        for line in lines {
            guard let longer = unsafe curl_slist_append(pointer, line) else {
                throw .other(code: Int(CURLE_OUT_OF_MEMORY.rawValue))
            }
            unsafe pointer = longer
        }
    }

    deinit { unsafe curl_slist_free_all(pointer) }

    /// Ends the life of the list no earlier than here.
    func keepAlive() {}
}

private func isContentType(_ field: HTTPField) -> Bool {
    field.name.lowercased() == "content-type"
}

/// A field name. Source: RFC 9110 §5.6.2.
private func isToken(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
        }
}
