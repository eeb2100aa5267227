import Countersign
import Glibc

/// What one exchange thread is started with.
private final class Start: Sendable {
    let queue: ExchangeQueue
    let options: HTTPClient.Options

    init(queue: ExchangeQueue, options: HTTPClient.Options) {
        self.queue = queue
        self.options = options
    }
}

/// A thread that makes exchanges one after another over its own kept-alive connections.
///
/// Swift's own threads are few and must never wait for a network, so a client has threads of its own.
enum ExchangeThread {
    /// Starts a thread that ends when `queue` is closed and empty.
    ///
    /// - Returns: Whether the thread could be started.
    static func start(queue: ExchangeQueue, options: HTTPClient.Options) -> Bool {
        let start = unsafe Unmanaged.passRetained(Start(queue: queue, options: options))
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, nil, runExchanges, start.toOpaque()) == 0 else {
            unsafe start.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// The body of an exchange thread; a C callback, hence a function at the top level.
private func runExchanges(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    // Signals belong to the process's own handlers, and a peer that hangs up must not raise SIGPIPE.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    let handle = CurlHandle()
    while let exchange = start.queue.next() {
        exchange.done(handle.perform(exchange.request, start.options))
    }
    return nil
}
