internal import CLibevent
internal import Countersign

/// Turns evhttp's request, once its framing is checked, into ours.
@safe struct RequestReading {
    private let request: UnsafeMutablePointer<evhttp_request>

    init(_ request: UnsafeMutablePointer<evhttp_request>) { unsafe self.request = request }

    var method: Method {
        switch unsafe evhttp_request_get_command(request) {
        case EVHTTP_REQ_GET: .get
        case EVHTTP_REQ_HEAD: .head
        case EVHTTP_REQ_POST: .post
        case EVHTTP_REQ_PUT: .put
        case EVHTTP_REQ_DELETE: .delete
        case EVHTTP_REQ_PATCH: .patch
        case EVHTTP_REQ_OPTIONS: .options
        default: .other
        }
    }

    /// Empty for a target that has none, such as that of CONNECT.
    var path: String {
        guard let uri = unsafe evhttp_request_get_evhttp_uri(request),
            let path = unsafe evhttp_uri_get_path(uri)
        else { return "" }
        return unsafe String(cString: path)
    }

    var query: Query? {
        guard let uri = unsafe evhttp_request_get_evhttp_uri(request),
            let query = unsafe evhttp_uri_get_query(uri)
        else { return Query() }
        return Query(decoding: unsafe String(cString: query))
    }

    /// Names in lower case.
    var headers: HeaderFields {
        var fields: [HeaderFields.Field] = []
        var next = unsafe evhttp_request_get_input_headers(request)?.pointee.tqh_first
        while let field = unsafe next?.pointee {
            if let name = unsafe field.key, let value = unsafe field.value {
                unsafe fields.append(
                    .init(
                        name: RequestReading.lowercase(name), value: String(cString: value)))
            }
            unsafe next = field.next.tqe_next
        }
        return HeaderFields(fields)
    }

    var bodyByteCount: Int {
        unsafe evbuffer_get_length(evhttp_request_get_input_buffer(request))
    }

    /// The body, which is taken out of evhttp's buffer.
    func takeBody() -> Bytes {
        let count = bodyByteCount
        guard count > 0 else { return [] }
        let buffer = unsafe evhttp_request_get_input_buffer(request)
        return unsafe Bytes(unsafeUninitializedCapacity: count) { target, initialized in
            initialized = unsafe max(0, Int(evbuffer_remove(buffer, target.baseAddress, count)))
        }
    }

    private static func lowercase(_ name: UnsafePointer<CChar>) -> String {
        var units = unsafe Array(String(cString: name).utf8)
        for index in units.indices { units[index] = ASCII.lowercase(units[index]) }
        return String(decoding: units, as: UTF8.self)
    }
}
