internal import CLibevent

/// One request from its last byte to the last byte of its answer. On the loop's thread only.
///
/// Who frees evhttp's request depends on how the connection ends. If evhttp itself gave the
/// connection up while the handler ran, it left the request to us (it then has no connection), and
/// answering it frees it. If the connection is freed otherwise, the request goes with it.
@safe final class Exchange: @unchecked Sendable {
    // Sendable: tasks carry it back to the loop's thread unread. If the loop has ended it may be
    // freed on another thread; then only `finished` is called, which is Sendable.
    private(set) var request: UnsafeMutablePointer<evhttp_request>?
    /// Values that go into the answer.
    let correlation: RequestCorrelation
    /// Sends the answer when it comes in parts.
    var stream: StreamedReply?
    private let finished: @Sendable () -> Void
    private var isAnswered = false
    private var isClosed = false
    private var isFinished = false

    /// `finished` runs exactly once: when the handler has answered and the answer is sent or cannot be.
    init(
        _ request: UnsafeMutablePointer<evhttp_request>, _ correlation: RequestCorrelation,
        finished: @escaping @Sendable () -> Void
    ) {
        unsafe self.request = request
        self.correlation = correlation
        self.finished = finished
    }

    deinit { if !isFinished { finished() } }

    /// Whether evhttp gave the connection up and left the request to us.
    var isOrphaned: Bool {
        guard let request = unsafe request else { return false }
        return unsafe evhttp_request_get_connection(request) == nil
    }

    func connectionClosed() {
        if !isOrphaned { unsafe request = nil }
        isClosed = true
        if isAnswered { finish() }
        stream?.connectionClosed()
    }

    /// Whether it is asked for the head of an answer alone.
    var isForHead: Bool {
        guard let request = unsafe request else { return false }
        return unsafe evhttp_request_get_command(request) == EVHTTP_REQ_HEAD
    }

    /// Gives the request up to evhttp, which frees it with the answer; `nil` when it is freed already.
    func answered() -> UnsafeMutablePointer<evhttp_request>? {
        isAnswered = true
        if isClosed { finish() }
        defer { unsafe request = nil }
        return unsafe request
    }

    func sent() { finish() }

    private func finish() {
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
