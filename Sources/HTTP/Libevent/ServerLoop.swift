internal import CLibevent

/// The server as it runs on its one thread: accepts, reads, hands to tasks, answers, drains.
///
/// Evhttp may be touched on that thread only; everything else comes in through `loop.post`.
@safe final class ServerLoop: @unchecked Sendable {
    // Sendable: what is `let` is itself Sendable or locked; the variables under "loop thread" are
    // touched by the thread that made the object until `start`, and then by the loop's thread alone.
    private enum Stage {
        case ready
        case running
        case ended
    }

    private struct Lifecycle {
        var stage = Stage.ready
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let port: UInt16
    /// Requests whose answer is not wholly sent yet.
    let inFlight = MetricCell()
    let openConnections = MetricCell()
    let refusals = MetricCell()
    private let options: ServerOptions
    private let admission: Admission
    private let connectionsMax: Int
    private let handler: @Sendable (Request) async -> Response
    private let loop: EventLoop
    private let lifecycle = Locked(Lifecycle())

    // Loop thread:
    private var http: OpaquePointer?
    private let listener: Listener
    private var tls: TLSContext?
    private var tick: LoopEvent?
    private var adoption: LoopEvent?
    private let connections = ConnectionTable()
    /// Exchanges whose request evhttp left to us.
    private var orphans: [ObjectIdentifier: Exchange] = [:]
    private var drainEnd: ContinuousClock.Instant?

    init(
        options: ServerOptions, handler: @escaping @Sendable (Request) async -> Response
    ) throws(ServerFailure) {
        let tls: TLSContext? =
            if let tlsOptions = options.tls { try TLSContext(tlsOptions) } else { nil }
        let loop = try EventLoop()
        guard let http = unsafe evhttp_new(loop.base) else { throw .outOfResources }
        let listener: Listener
        do throws(ServerFailure) {
            listener = try unsafe Listener(options: options, base: loop.base, http: http)
        } catch {
            unsafe evhttp_free(http)
            throw error
        }
        self.options = options
        admission = Admission(options: options)
        connectionsMax = Listener.connectionsMax(options.limits)
        self.handler = handler
        self.loop = loop
        self.listener = listener
        self.tls = tls
        unsafe self.http = http
        port = listener.port
        unsafe configure(http)
        try unsafe addEvents(base: loop.base)
    }

    deinit { release() }

    private func configure(_ http: OpaquePointer) {
        let limits = options.limits
        unsafe evhttp_set_max_body_size(http, limits.bodyBytesReadMax)
        unsafe evhttp_set_max_headers_size(http, limits.headBytesMax)
        var idle = timeval(limits.idleTimeout)
        unsafe evhttp_set_timeout_tv(http, &idle)
        unsafe evhttp_set_default_content_type(http, nil)
        // All methods, the unknown ones too, so that the router answers for each.
        unsafe evhttp_set_allowed_methods(http, .max)
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe evhttp_set_bevcb(http, connectionAccepted, me)
        unsafe evhttp_set_gencb(http, requestArrived, me)
    }

    private func addEvents(base: OpaquePointer) throws(ServerFailure) {
        adoption = try unsafe LoopEvent(base: base) { [unowned self] in adoptArrivals() }
        tick = try unsafe LoopEvent(base: base) { [unowned self] in ticked() }
        tick?.schedule(every: options.limits.tickInterval)
    }

    // MARK: From other threads

    func start() {
        let isFirst = lifecycle.withLock { lifecycle in
            guard lifecycle.stage == .ready else { return false }
            lifecycle.stage = .running
            return true
        }
        precondition(isFirst, "a server starts once")
        let isStarted = EventLoop.onThread { [self] in
            loop.run()
            end()
        }
        precondition(isStarted, "the system gives no thread")
    }

    func reloadTLS() throws(ServerFailure) {
        guard let tlsOptions = options.tls else { return }
        let renewed = try TLSContext(tlsOptions)
        // Weak, since a job that waits for `start` must not keep a server that never starts.
        loop.post { [weak self] in self?.use(renewed) }
    }

    func stop(drain: Duration) async {
        await withCheckedContinuation { continuation in
            let stage = lifecycle.withLock { lifecycle in
                let stage = lifecycle.stage
                switch stage {
                case .running: lifecycle.waiters.append(continuation)
                case .ready, .ended: lifecycle.stage = .ended
                }
                return stage
            }
            switch stage {
            case .running:
                loop.post { [self] in beginDrain(until: .now + drain) }
            case .ready:
                release()
                continuation.resume()
            case .ended:
                continuation.resume()
            }
        }
    }

    /// The owner is gone: cut everything off. A server that never ran is freed with its last reference.
    func abandon() {
        guard lifecycle.withLock({ $0.stage == .running }) else { return }
        loop.post { [self] in beginDrain(until: .now) }
    }

    // MARK: On the loop's thread: connections

    /// Makes the stream of a connection that evhttp has accepted but not yet set up.
    fileprivate func makeStream(_ base: OpaquePointer?) -> OpaquePointer? {
        let closeOnFree = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
        let stream: OpaquePointer?
        if let session = unsafe tls?.makeConnection() {
            unsafe stream = unsafe bufferevent_openssl_socket_new(
                base, -1, session, BUFFEREVENT_SSL_ACCEPTING, closeOnFree)
        } else {
            // If TLS is wanted and there is no memory for it, this stream stays plain and is shut
            // down when it is adopted. Returning nothing would make evhttp take a plain one.
            unsafe stream = unsafe bufferevent_socket_new(base, -1, closeOnFree)
        }
        if let stream = unsafe stream { unsafe connections.expect(stream) }
        adoption?.activate()
        if connections.count >= connectionsMax { listener.pause() }
        return unsafe stream
    }

    private func use(_ renewed: TLSContext) {
        tls = renewed
        for connection in connections.all {
            connection.mustClose = true
            // Half a request has had no effect, so that its client can begin anew.
            if !connection.phase.isAnswering { connection.shutDown() }
        }
    }

    private func adoptArrivals() {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        for connection in connections.adoptArrivals(limits: options.limits) {
            unsafe evhttp_connection_set_closecb(connection.handle, connectionClosed, me)
            openConnections.add(1)
            if options.tls != nil, !connection.isTLS { connection.shutDown() }
        }
    }

    fileprivate func closed(_ handle: OpaquePointer) {
        guard let connection = unsafe connections.remove(handle) else { return }
        openConnections.add(-1)
        if let exchange = connection.exchange, exchange.isOrphaned {
            orphans[ObjectIdentifier(exchange)] = exchange
        }
        if drainEnd == nil, connections.count == connectionsMax - 1 {
            listener.resume()
        }
        endIfDrained()
    }

    private func ticked() {
        let now = ContinuousClock.now
        for connection in connections.all where connection.phase.isOverdue(at: now) {
            connection.shutDown()
        }
        if let drainEnd {
            if drainEnd <= now { loop.exit() }
        } else if connections.count < connectionsMax {
            listener.resume()
        }
    }

    // MARK: On the loop's thread: requests

    fileprivate func arrived(_ request: UnsafeMutablePointer<evhttp_request>) {
        let reading = unsafe RequestReading(request)
        let headers = reading.headers
        let correlation = admission.correlation(of: headers)
        guard let handle = unsafe evhttp_request_get_connection(request),
            let connection = unsafe connections[handle],
            let peer = connection.peer(isTLSExpected: options.tls != nil)
        else {
            // A connection that was never adopted has no deadlines: end it.
            refusals.add(1)
            return unsafe ReplyWriting(request).send(
                Problem.malformedRequest("The connection is not usable.").response,
                to: correlation, closing: true)
        }
        inFlight.add(1)
        let exchange = unsafe Exchange(request, correlation) { [inFlight] in inFlight.add(-1) }
        connection.requestCompleted(exchange)
        if let problem = unsafe admission.framingProblem(of: request, on: connection) {
            // Closing also drops what follows: it may be the rest of an ambiguous request.
            connection.mustClose = true
            return refuse(exchange, with: problem)
        }
        if let problem = admission.sizeProblem(of: reading) {
            return refuse(exchange, with: problem)
        }
        let command = Request(
            method: reading.method, path: reading.path, query: reading.query, headers: headers,
            body: reading.takeBody(), peer: peer, id: correlation.id,
            traceparent: correlation.traceparent)
        Task { [self, handler] in
            let response = await handler(command)
            loop.post { [self] in answer(exchange, with: response) }
        }
    }

    private func refuse(_ exchange: Exchange, with problem: Problem) {
        refusals.add(1)
        answer(exchange, with: problem.response)
    }

    /// The connection may be gone by now; evhttp frees an orphan when it is answered.
    private func answer(_ exchange: Exchange, with response: Response) {
        if let parts = response.parts, !exchange.isForHead,
            let connection = connection(of: exchange)
        {
            let reply = StreamedReply(exchange, on: connection, loop: loop, parts: parts) {
                [self] in
                orphans[ObjectIdentifier(exchange)] = nil
                endIfDrained()
            }
            return reply.begin(response)
        }
        orphans[ObjectIdentifier(exchange)] = nil
        if let request = unsafe exchange.answered() {
            let handle = unsafe evhttp_request_get_connection(request)
            let connection = unsafe handle.flatMap { unsafe connections[$0] }
            unsafe connection?.replyStarted(request)
            unsafe ReplyWriting(request).send(
                response, to: exchange.correlation,
                closing: connection?.mustClose ?? true || drainEnd != nil)
        }
        endIfDrained()
    }

    private func connection(of exchange: Exchange) -> Connection? {
        let handle = unsafe exchange.request.flatMap { unsafe evhttp_request_get_connection($0) }
        return unsafe handle.flatMap { unsafe connections[$0] }
    }

    // MARK: On the loop's thread: the end

    private func beginDrain(until end: ContinuousClock.Instant) {
        drainEnd = min(end, drainEnd ?? end)
        if let http = unsafe http { unsafe listener.close(in: http) }
        for connection in connections.all where connection.phase.isIdle { connection.shutDown() }
        // Often enough that a short drain is not stretched by a long tick.
        tick?.schedule(every: .milliseconds(10))
        endIfDrained()
    }

    /// A handler whose client is gone is waited for too: it may be about to commit.
    private func endIfDrained() {
        if drainEnd != nil, connections.isEmpty, inFlight.value == 0 { loop.exit() }
    }

    private func end() {
        release()
        let waiters = lifecycle.withLock { lifecycle in
            lifecycle.stage = .ended
            let waiters = lifecycle.waiters
            lifecycle.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Frees what libevent holds. The connections go with evhttp, and their requests with them.
    private func release() {
        loop.close()
        guard let http = unsafe http else { return }
        unsafe self.http = nil
        tick = nil
        adoption = nil
        unsafe evhttp_free(http)
        for orphan in orphans.values {
            if let request = unsafe orphan.answered() { unsafe evhttp_request_free(request) }
        }
        orphans = [:]
    }
}

// Libevent calls these on the loop's thread; the argument is the server, which outlives its evhttp.

private func server(_ argument: UnsafeMutableRawPointer?) -> ServerLoop? {
    guard let argument = unsafe argument else { return nil }
    return unsafe Unmanaged<ServerLoop>.fromOpaque(argument).takeUnretainedValue()
}

private func connectionAccepted(_ base: OpaquePointer?, _ argument: UnsafeMutableRawPointer?)
    -> OpaquePointer?
{
    unsafe server(argument)?.makeStream(base)
}

private func requestArrived(
    _ request: UnsafeMutablePointer<evhttp_request>?, _ argument: UnsafeMutableRawPointer?
) {
    if let request = unsafe request { unsafe server(argument)?.arrived(request) }
}

private func connectionClosed(_ handle: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) {
    if let handle = unsafe handle { unsafe server(argument)?.closed(handle) }
}
