internal import Glibc

/// A value behind a mutex.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer reports false races for it on Linux.
@safe package final class Locked<Value>: @unchecked Sendable {
    // Sendable: the value is reached only under the mutex.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Takes the first value.
    package init(_ value: Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` alone; it must not block and must not come back here.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
