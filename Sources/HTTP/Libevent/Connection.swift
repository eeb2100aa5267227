internal import CLibevent
internal import Glibc

/// What we keep about one accepted connection. On the loop's thread only.
///
/// The server's table owns it until evhttp says that the connection is closed. Until then libevent
/// holds two unowned pointers to it, which ``detach()`` takes back: the callback on its input and the
/// application data of its TLS.
@safe final class Connection {
    /// Evhttp's connection; valid until ``detach()``.
    let handle: OpaquePointer
    let socket: Int32
    private let tls: OpaquePointer?
    private let input: OpaquePointer
    private let limits: ServerLimits
    private(set) var phase: ConnectionPhase
    /// A NUL came in. No JSON and no head has one, and evhttp would cut a header value there.
    private(set) var hasReceivedNUL = false
    /// The next answer says `Connection: close`.
    var mustClose = false
    private(set) var exchange: Exchange?
    private lazy var certificate: ClientCertificate? = unsafe tls.flatMap {
        unsafe PeerCertificate.read(from: $0)
    }

    init?(handle: OpaquePointer, limits: ServerLimits) {
        guard let stream = unsafe evhttp_connection_get_bufferevent(handle),
            let input = unsafe bufferevent_get_input(stream)
        else { return nil }
        unsafe self.handle = handle
        unsafe self.input = input
        socket = unsafe bufferevent_getfd(stream)
        let tls = unsafe bufferevent_openssl_get_ssl(stream)
        unsafe self.tls = tls
        self.limits = limits
        phase = ConnectionPhase(isTLS: unsafe tls != nil, at: .now, limits: limits)
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe evbuffer_add_cb(input, inputChanged, me)
        if let tls = unsafe tls { unsafe SSL_set_ex_data(tls, 0, me) }
    }

    /// Ends libevent's and OpenSSL's knowledge of this object; both still have theirs at this point.
    func detach() {
        unsafe evbuffer_remove_cb(
            input, inputChanged, Unmanaged.passUnretained(self).toOpaque())
        if let tls = unsafe tls { unsafe SSL_set_ex_data(tls, 0, nil) }
        exchange?.connectionClosed()
    }

    /// The connection to which a TLS session belongs; `nil` once it is closed.
    static func attached(to ssl: OpaquePointer) -> Connection? {
        guard let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
    }

    /// Ends both directions; evhttp sees the end and closes. Safe while evhttp is using it.
    func shutDown() { shutdown(socket, Int32(SHUT_RDWR)) }

    var isTLS: Bool { unsafe tls != nil }

    func peer(isTLSExpected: Bool) -> Peer? {
        guard let tls = unsafe tls else { return isTLSExpected ? nil : .plain }
        guard let certificate, unsafe PeerCertificate.isCurrent(on: tls) else { return .tls }
        return .mutualTLS(certificate)
    }

    func handshakeCompleted() { phase.handshakeCompleted() }

    func requestCompleted(_ exchange: Exchange) {
        self.exchange = exchange
        phase.requestCompleted()
    }

    /// The next part of an answer is being made, which takes as long as it takes.
    func partAwaited() { phase.requestCompleted() }

    /// What a stream is silent for is ours to limit: evhttp would end it for what the client does not say.
    func liftTimeouts() {
        guard let stream = unsafe evhttp_connection_get_bufferevent(handle) else { return }
        unsafe bufferevent_set_timeouts(stream, nil, nil)
    }

    func replyStarted() { phase.replyStarted(at: .now, limits: limits) }

    /// The whole answer to this request is under way: evhttp tells when it has left.
    func replyStarted(_ request: UnsafeMutablePointer<evhttp_request>) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe evhttp_request_set_on_complete_cb(request, replySent, context)
        replyStarted()
    }

    func replyCompleted() {
        phase.replyCompleted()
        exchange?.sent()
        exchange = nil
    }

    fileprivate func bytesArrived(_ count: Int, after offset: Int) {
        phase.bytesArrived(at: .now, limits: limits)
        guard !hasReceivedNUL else { return }
        var start = unsafe evbuffer_ptr()
        guard unsafe evbuffer_ptr_set(input, &start, offset, EVBUFFER_PTR_SET) == 0 else { return }
        hasReceivedNUL = unsafe evbuffer_search(input, "\0", 1, &start).pos >= 0
    }
}

/// The argument is the connection, which is in the table as long as it can send.
private func replySent(
    _: UnsafeMutablePointer<evhttp_request>?, _ argument: UnsafeMutableRawPointer?
) {
    guard let argument = unsafe argument else { return }
    unsafe Unmanaged<Connection>.fromOpaque(argument).takeUnretainedValue().replyCompleted()
}

private func inputChanged(
    _: OpaquePointer?, _ change: UnsafePointer<evbuffer_cb_info>?,
    _ argument: UnsafeMutableRawPointer?
) {
    guard let argument = unsafe argument, let change = unsafe change?.pointee, change.n_added > 0
    else { return }
    unsafe Unmanaged<Connection>.fromOpaque(argument).takeUnretainedValue()
        .bytesArrived(change.n_added, after: change.orig_size)
}
