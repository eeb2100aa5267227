internal import CLibevent
internal import Countersign

/// Writes our answer into evhttp's request.
@safe struct ReplyWriting {
    private let request: UnsafeMutablePointer<evhttp_request>

    init(_ request: UnsafeMutablePointer<evhttp_request>) { unsafe self.request = request }

    /// Sends the answer; afterwards the request is evhttp's again and must not be touched.
    func send(_ response: Response, to correlation: RequestCorrelation, closing: Bool) {
        let answer = addFields(of: response, to: correlation, closing: closing)
        // The head of what would be streamed has no length.
        if ReplyWriting.hasContent(answer.status), answer.parts == nil {
            add("Content-Length", String(answer.body.count))
            if unsafe evhttp_request_get_command(request) != EVHTTP_REQ_HEAD { add(answer.body) }
        }
        unsafe evhttp_send_reply(
            request, Int32(answer.status), StatusText.phrase(for: answer.status), nil)
    }

    /// Sends the head of an answer that comes in parts, and keeps the request. The connection ends with it.
    func begin(_ response: Response, to correlation: RequestCorrelation) {
        let answer = addFields(of: response, to: correlation, closing: true)
        unsafe evhttp_send_reply_start(
            request, Int32(answer.status), StatusText.phrase(for: answer.status))
    }

    /// Sends a part that is not empty; `sent` is called with `context` when it has left.
    func send(
        _ part: Bytes,
        sent: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void,
        _ context: UnsafeMutableRawPointer
    ) {
        let buffer = unsafe evbuffer_new()
        _ = unsafe part.withUnsafeBytes { unsafe evbuffer_add(buffer, $0.baseAddress, $0.count) }
        unsafe evhttp_send_reply_chunk_with_cb(request, buffer, sent, context)
        unsafe evbuffer_free(buffer)
    }

    /// Ends an answer that came in parts; afterwards the request is evhttp's again.
    func end() { unsafe evhttp_send_reply_end(request) }

    private func addFields(
        of response: Response, to correlation: RequestCorrelation, closing: Bool
    ) -> Response {
        let answer = response.naming(requestID: correlation.id)
        for field in answer.headers.fields where !ReplyWriting.isOurs(field.name) {
            add(field.name, field.value)
        }
        add("Cache-Control", "no-store")
        add("X-Request-ID", correlation.id)
        if let traceparent = correlation.traceparent { add("traceparent", traceparent) }
        if closing { add("Connection", "close") }
        return answer
    }

    /// Fields that only the server may write, whatever a handler says.
    private static let ours = [
        "cache-control", "connection", "content-length", "traceparent", "transfer-encoding",
        "x-request-id",
    ]

    private static func isOurs(_ name: String) -> Bool {
        ours.contains { ASCII.equalIgnoringCase($0, name) }
    }

    /// Statuses whose answers end after the head (RFC 9112 §6.3).
    private static func hasContent(_ status: Int) -> Bool {
        status >= 200 && status != 204 && status != 304
    }

    /// Evhttp refuses a value with a line break, so no value can add a field of its own.
    private func add(_ name: String, _ value: String) {
        unsafe evhttp_add_header(evhttp_request_get_output_headers(request), name, value)
    }

    private func add(_ body: Bytes) {
        let buffer = unsafe evhttp_request_get_output_buffer(request)
        _ = unsafe body.withUnsafeBytes { unsafe evbuffer_add(buffer, $0.baseAddress, $0.count) }
    }
}
