internal import CLibevent
internal import Glibc

/// A libevent loop on a thread of its own, and the way in from other threads.
@safe final class EventLoop: @unchecked Sendable {
    // Sendable: the base is locked by libevent (evthread_use_pthreads), the jobs by `mailbox`; the
    // two variables are set before the thread starts and read on it.
    private struct Mailbox {
        var jobs: [@Sendable () -> Void] = []
        var isOpen = true
    }

    let base: OpaquePointer
    private let mailbox = Locked(Mailbox())
    private var wake: LoopEvent?

    /// Once per process: locks for libevent, no SIGPIPE, and no free text from the library on stderr.
    private static let isPrepared: Bool = {
        unsafe event_set_log_callback { _, _ in }
        signal(SIGPIPE, SIG_IGN)
        return evthread_use_pthreads() == 0
    }()

    init() throws(ServerFailure) {
        guard EventLoop.isPrepared, let base = unsafe event_base_new() else {
            throw .outOfResources
        }
        unsafe self.base = base
        wake = try unsafe LoopEvent(base: base) { [unowned self] in runJobs() }
    }

    deinit {
        wake = nil
        unsafe event_base_free(base)
    }

    /// Runs the job on the loop's thread; false when the loop has ended and never will.
    @discardableResult
    func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        mailbox.withLock {
            guard $0.isOpen else { return false }
            $0.jobs.append(job)
            if $0.jobs.count == 1 { wake?.activate() }
            return true
        }
    }

    private func runJobs() {
        let jobs = mailbox.withLock { mailbox in
            let jobs = mailbox.jobs
            mailbox.jobs.removeAll(keepingCapacity: true)
            return jobs
        }
        for job in jobs { job() }
    }

    /// Runs until ``exit()``, then takes no more jobs and drops those that wait.
    func run() {
        unsafe event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
        close()
    }

    /// Ends ``run()`` after the events of this pass. On the loop's thread.
    func exit() { unsafe event_base_loopexit(base, nil) }

    func close() {
        // The jobs are dropped outside the lock: what they own may come back here.
        let dropped = mailbox.withLock { mailbox in
            mailbox.isOpen = false
            let jobs = mailbox.jobs
            mailbox.jobs = []
            return jobs
        }
        _ = dropped
    }

    /// Runs `body` on a new thread that nobody waits for.
    static func onThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = unsafe Unmanaged.passRetained(ThreadBody(body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, &attributes, runThread, box.toOpaque()) == 0 else {
            unsafe box.release()
            return false
        }
        return true
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument {
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    }
    return nil
}
