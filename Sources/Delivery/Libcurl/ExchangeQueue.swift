import Countersign
import Glibc

/// One exchange that an exchange thread is to make, and whom to tell.
struct Exchange: Sendable {
    let request: HTTPRequest
    let done: @Sendable (Result<HTTPResponse, TransportFailure>) -> Void
}

/// Hands exchanges to the threads that make them, first come, first served.
///
/// Sendable, unchecked: `waiting` and `isClosed` are touched only between lock and unlock of `mutex`.
@safe final class ExchangeQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [Exchange] = []
    private var isClosed = false

    init() {
        let failed =
            unsafe pthread_mutex_init(mutex, nil) != 0 || pthread_cond_init(changed, nil) != 0
        precondition(!failed, "glibc's default mutex and condition cannot fail to initialise")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    func add(_ exchange: Exchange) {
        unsafe pthread_mutex_lock(mutex)
        waiting.append(exchange)
        unsafe pthread_cond_signal(changed)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits for the next exchange; `nil` once the queue is closed and empty.
    func next() -> Exchange? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while waiting.isEmpty {
            if isClosed { return nil }
            unsafe pthread_cond_wait(changed, mutex)
        }
        return waiting.removeFirst()
    }

    /// Lets the threads end once they have made what is waiting.
    func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_cond_broadcast(changed)
        unsafe pthread_mutex_unlock(mutex)
    }
}
