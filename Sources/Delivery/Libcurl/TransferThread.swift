import Countersign
import Glibc

/// What one transfer thread is started with.
private final class Start: Sendable {
    let queue: TransferQueue
    let options: HTTPClient.Options

    init(queue: TransferQueue, options: HTTPClient.Options) {
        self.queue = queue
        self.options = options
    }
}

/// A thread that makes transfers one after another over its own kept-alive connections.
///
/// Swift's own threads are few and must never wait for a network, so a client has threads of its own.
enum TransferThread {
    /// Starts a thread that ends when `queue` is closed and empty.
    ///
    /// - Returns: Whether the thread could be started.
    static func start(queue: TransferQueue, options: HTTPClient.Options) -> Bool {
        let start = unsafe Unmanaged.passRetained(Start(queue: queue, options: options))
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, nil, runTransfers, start.toOpaque()) == 0 else {
            unsafe start.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// The body of a transfer thread; a C callback, hence a function at the top level.
private func runTransfers(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    // Signals belong to the process's own handlers, and a peer that hangs up must not raise SIGPIPE.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    let handle = CurlHandle()
    while let transfer = start.queue.next() {
        transfer.done(handle.perform(transfer.request, start.options))
    }
    return nil
}
