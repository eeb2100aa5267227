internal import CLibevent
internal import Glibc

/// Finds what evhttp lets through and a proxy in front of us could read otherwise (RFC 9112 §11.2).
///
/// Works on bytes, not on strings: it runs before everything else for every request.
@safe struct FramingCheck {
    private let request: UnsafeMutablePointer<evhttp_request>
    private var transferEncodings = 0
    private var contentLengths = 0
    private var hosts = 0
    private var declaredLength = 0

    /// One sentence that says what is wrong; `nil` when the framing is beyond doubt.
    static func fault(in request: UnsafeMutablePointer<evhttp_request>) -> String? {
        var check = unsafe FramingCheck(request: request)
        return check.versionFault ?? check.targetFault ?? check.headerFault() ?? check.lengthFault
            ?? check.hostFault
    }

    private init(request: UnsafeMutablePointer<evhttp_request>) { unsafe self.request = request }

    private var isVersion10: Bool { unsafe request.pointee.minor == 0 }

    private var versionFault: String? {
        let (major, minor) = unsafe (request.pointee.major, request.pointee.minor)
        return major == 1 && (minor == 0 || minor == 1)
            ? nil : "The version is not HTTP/1.0 or 1.1."
    }

    private var targetFault: String? {
        guard let target = unsafe evhttp_request_get_uri(request),
            unsafe FramingCheck.consists(target, of: { (0x21...0x7E).contains($0) })
        else { return "The request target has a character that must be escaped." }
        return nil
    }

    private mutating func headerFault() -> String? {
        var next = unsafe evhttp_request_get_input_headers(request)?.pointee.tqh_first
        while let field = unsafe next?.pointee {
            guard let name = unsafe field.key, let value = unsafe field.value else {
                return "A header field is incomplete."
            }
            if let fault = unsafe fieldFault(name, value) { return fault }
            unsafe next = field.next.tqe_next
        }
        return nil
    }

    private mutating func fieldFault(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>)
        -> String?
    {
        guard unsafe name.pointee != 0,
            unsafe FramingCheck.consists(
                name, of: { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") })
        else { return "The name of a header field has a blank or a control character." }
        guard
            unsafe FramingCheck.consists(value, of: { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 })
        else { return "The value of a header field has a control character." }
        if unsafe strcasecmp(name, "transfer-encoding") == 0 {
            transferEncodings += 1
            guard unsafe strcasecmp(value, "chunked") == 0 else {
                return "The only transfer coding is chunked."
            }
        } else if unsafe strcasecmp(name, "content-length") == 0 {
            contentLengths += 1
            guard let length = unsafe FramingCheck.decimal(value) else {
                return "The content length is not a decimal number."
            }
            declaredLength = length
        } else if unsafe strcasecmp(name, "host") == 0 {
            hosts += 1
        }
        return nil
    }

    /// Evhttp reads no body for some methods, whatever the head says; it would take the body for the
    /// next request. So what was declared must be what was read.
    private var lengthFault: String? {
        if transferEncodings > 1 || contentLengths > 1 || transferEncodings + contentLengths > 1 {
            return "The length of the body is stated more than once."
        }
        if transferEncodings == 1 && (isVersion10 || !mayBeChunked) {
            return "This method or version takes no transfer coding."
        }
        let read = unsafe evbuffer_get_length(evhttp_request_get_input_buffer(request))
        if contentLengths == 1 && declaredLength != read {
            return "This method takes no body."
        }
        return nil
    }

    private var mayBeChunked: Bool {
        let method = unsafe evhttp_request_get_command(request)
        return [EVHTTP_REQ_POST, EVHTTP_REQ_PUT, EVHTTP_REQ_PATCH].contains(method)
    }

    private var hostFault: String? {
        hosts == 1 || (hosts == 0 && isVersion10) ? nil : "There is not exactly one Host."
    }

    private static func consists(_ text: UnsafePointer<CChar>, of isAllowed: (UInt8) -> Bool)
        -> Bool
    {
        var position = unsafe text
        while unsafe position.pointee != 0 {
            guard unsafe isAllowed(UInt8(bitPattern: position.pointee)) else { return false }
            unsafe position += 1
        }
        return true
    }

    /// At most 18 digits, so that it cannot overflow; evhttp's limit on bodies is far below.
    private static func decimal(_ text: UnsafePointer<CChar>) -> Int? {
        let length = unsafe strlen(text)
        guard (1...18).contains(length), unsafe strspn(text, "0123456789") == length else {
            return nil
        }
        return unsafe strtol(text, nil, 10)
    }
}
