/// An HTTP/1.1 server over libevent's evhttp: one thread speaks HTTP and TLS, handlers run as tasks.
///
/// What evhttp leaves open is closed here: framing that two parsers could read differently is refused,
/// slow clients meet deadlines, connections are counted and capped, and a client certificate reaches a
/// handler only when it verified. Every answer that is made here has `Cache-Control: no-store`,
/// `X-Request-ID`, `Content-Length` and, where one came, `traceparent`.
package final class HTTPServer: Sendable {
    private let loop: ServerLoop

    /// Binds the port; connections wait in the backlog until ``start()``.
    ///
    /// From then on the process ignores `SIGPIPE`, since OpenSSL writes to sockets that may be gone.
    ///
    /// - Parameters:
    ///   - options: Where to listen, how, and the limits.
    ///   - handler: Answers every request whose framing and size are acceptable. Runs concurrently.
    /// - Throws: ``ServerFailure`` when the address or a certificate is not usable.
    package init(
        options: ServerOptions, handler: @escaping @Sendable (Request) async -> Response
    ) throws(ServerFailure) {
        loop = try ServerLoop(options: options, handler: handler)
    }

    deinit { loop.abandon() }

    /// Begins to serve; call it once.
    package func start() { loop.start() }

    /// The port that is listened on, also when the system chose it.
    package var port: UInt16 { loop.port }

    /// Requests whose handler runs or whose answer is not wholly sent yet.
    package var inFlight: Int { loop.inFlight.value }

    /// Open connections, those in the handshake included.
    package var connections: Int { loop.openConnections.value }

    /// Requests that were answered here, without asking the handler: bad framing and large bodies.
    package var refusals: Int { loop.refusals.value }

    /// Reads certificate, key and client CAs again and uses them for every connection from now on.
    ///
    /// A connection keeps the trust it began with, so those that wait for an answer are closed after
    /// it and all others at once. Sessions are never resumed, so none carries old trust
    /// over. Without TLS nothing happens.
    ///
    /// - Throws: ``ServerFailure``; then the old files stay in use.
    package func reloadTLS() throws(ServerFailure) { try loop.reloadTLS() }

    /// Stops accepting, closes idle connections, lets requests finish, and ends.
    ///
    /// Answers say `Connection: close`. A handler whose client is gone is waited for too. What is not
    /// finished when the time is over is cut off. Returns when the thread has let go of everything; may
    /// be called more than once.
    package func stop(drain: Duration) async { await loop.stop(drain: drain) }
}
