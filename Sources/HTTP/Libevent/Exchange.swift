internal import CLibevent

/// One request from its last byte to the last byte of its answer. On the loop's thread only.
///
/// Who frees evhttp's request depends on how the connection ends. If evhttp itself gave the
/// connection up while we were thinking, it left the request to us (it then has no connection), and
/// answering it frees it. If the whole server or connection is freed, the request goes with it.
@safe final class Exchange: @unchecked Sendable {
    // Sendable: tasks carry it back to the loop's thread unread.
    private(set) var request: UnsafeMutablePointer<evhttp_request>?
    /// Values that go into the answer.
    let correlation: RequestCorrelation
    private let finished: () -> Void
    private var isFinished = false

    /// `finished` runs exactly once: when the answer is sent, or cannot be.
    init(
        _ request: UnsafeMutablePointer<evhttp_request>, _ correlation: RequestCorrelation,
        finished: @escaping () -> Void
    ) {
        unsafe self.request = request
        self.correlation = correlation
        self.finished = finished
    }

    /// Whether evhttp gave the connection up and left the request to us.
    var isOrphaned: Bool {
        guard let request = unsafe request else { return false }
        return unsafe evhttp_request_get_connection(request) == nil
    }

    func connectionClosed() {
        if !isOrphaned { unsafe request = nil }
        finish()
    }

    /// Gives the request up to evhttp, which frees it with the answer.
    func takeRequest() -> UnsafeMutablePointer<evhttp_request>? {
        defer { unsafe request = nil }
        return unsafe request
    }

    func finish() {
        guard !isFinished else { return }
        isFinished = true
        finished()
    }
}

/// What a caller can recognise its request by.
struct RequestCorrelation: Sendable {
    let id: String
    let traceparent: String?
}
