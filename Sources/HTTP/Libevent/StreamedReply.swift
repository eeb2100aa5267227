internal import CLibevent
internal import Countersign

/// Sends one answer part by part: the next part is asked for when the one before has left, so that one is in
/// memory at a time, however long the answer is. On the loop's thread only.
///
/// A part that does not leave within the write deadline ends the connection: a client that reads too slowly loses
/// it, and one that reads can take as long as the answer is. While a part is being made there is no deadline; that
/// is ours. A part that cannot be made ends the connection without the last chunk, so that what has arrived is
/// known not to be the whole.
@safe final class StreamedReply: @unchecked Sendable {
    // Sendable: tasks carry it back to the loop's thread unread.
    private enum Stage {
        /// A task makes the next part, and comes back with it.
        case making
        /// A part is leaving; evhttp tells when it has left.
        case leaving
        /// No part will leave any more: the connection is being closed.
        case failed
        case ended
    }

    private let exchange: Exchange
    private weak var connection: Connection?
    private let loop: EventLoop
    private let parts: BodyParts
    private let ended: () -> Void
    private var stage = Stage.making

    /// - Parameters:
    ///   - exchange: Whose answer it is; its request is kept until the end.
    ///   - connection: Where it is sent.
    ///   - loop: The one whose thread this is.
    ///   - parts: Makes the body.
    ///   - ended: Called once, when the answer is given up to evhttp.
    init(
        _ exchange: Exchange, on connection: Connection, loop: EventLoop,
        parts: @escaping BodyParts, ended: @escaping () -> Void
    ) {
        self.exchange = exchange
        self.connection = connection
        self.loop = loop
        self.parts = parts
        self.ended = ended
    }

    /// Sends the head and asks for the first part.
    func begin(_ response: Response) {
        guard let request = unsafe exchange.request else { return end() }
        exchange.stream = self
        connection?.liftTimeouts()
        unsafe ReplyWriting(request).begin(response, to: exchange.correlation)
        make()
    }

    private func make() {
        stage = .making
        connection?.partAwaited()
        Task { [self, parts, loop] in
            let part: Result<Bytes?, StoreFailure>
            do throws(StoreFailure) { part = .success(try await parts()) } catch {
                part = .failure(error)
            }
            loop.post { [self] in send(part) }
        }
    }

    private func send(_ part: Result<Bytes?, StoreFailure>) {
        guard let request = unsafe exchange.request, let connection, !exchange.isOrphaned else {
            return end()
        }
        switch part {
        case .success(nil): end()
        case .success(let part?) where part.isEmpty: make()
        case .success(let part?):
            stage = .leaving
            connection.replyStarted()
            let context = unsafe Unmanaged.passUnretained(connection).toOpaque()
            unsafe ReplyWriting(request).send(part, sent: partSent, context)
        case .failure:
            stage = .failed
            connection.shutDown()
        }
    }

    /// All that was to be sent has left.
    fileprivate func partLeft() { if stage == .leaving { make() } }

    /// Nothing will leave any more. A task that is making a part is waited for.
    func connectionClosed() {
        if stage == .leaving || stage == .failed { loop.post { [self] in end() } }
    }

    private func end() {
        guard stage != .ended else { return }
        stage = .ended
        let isOrphaned = exchange.isOrphaned
        if let request = unsafe exchange.answered() {
            if !isOrphaned { unsafe connection?.replyStarted(request) }
            // An orphan is freed by this.
            unsafe ReplyWriting(request).end()
        }
        exchange.stream = nil
        ended()
    }
}

/// The argument is the connection, which is in the table as long as it can send.
private func partSent(_: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) {
    guard let argument = unsafe argument else { return }
    unsafe Unmanaged<Connection>.fromOpaque(argument).takeUnretainedValue()
        .exchange?.stream?.partLeft()
}
