import Countersign
import Glibc

/// One exchange that a transfer thread is to make, and whom to tell.
struct Transfer: Sendable {
    let request: HTTPRequest
    let done: @Sendable (Result<HTTPResponse, TransportFailure>) -> Void
}

/// Hands transfers to the threads that make them, first come, first served.
///
/// Unchecked: `waiting` and `isClosed` are touched only between lock and unlock of `mutex`.
@safe final class TransferQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [Transfer] = []
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

    func add(_ transfer: Transfer) {
        unsafe pthread_mutex_lock(mutex)
        waiting.append(transfer)
        unsafe pthread_cond_signal(changed)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits for the next transfer; `nil` once the queue is closed and empty.
    func next() -> Transfer? {
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
