internal import Glibc

/// One use of a connection that a task waits for.
struct Job: Sendable {
    enum Attempt {
        /// The task has been told.
        case done
        /// Nobody has been told: the session is no good, and nothing was changed in it.
        case repeatable
    }

    /// Until when it may wait for a connection.
    let end: ContinuousClock.Instant
    /// Does the work and tells the task, unless the work may be repeated and has to be.
    let perform: @Sendable (borrowing Connection, _ mayRepeat: Bool) -> Attempt
    /// Tells the task that the work was not begun, or left nothing behind.
    let refuse: @Sendable () -> Void
}

/// Hands jobs to workers, first come, first served, and decides which worker connects, and when.
///
/// A worker without a connection takes no job from one that has: it connects when more jobs wait than
/// connected workers are idle, unless connecting failed a short while ago. Jobs are refused rather than
/// kept waiting when nobody is connected and it is too early to try again.
///
/// Sendable, unchecked: everything that changes is touched only between lock and unlock of `mutex`.
@safe final class JobQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Signalled for workers that have a connection.
    private let jobCame = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Signalled for workers that have none.
    private let connectionWanted = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    private let options: DatabaseOptions
    private let quarantine: Quarantine
    private var waiting: [Job] = []
    /// Where the first of `waiting` is: taking from the front of an array is slow.
    private var head = 0
    private var workers = 0
    private var connected = 0
    /// Connected workers that wait for a job.
    private var idle = 0
    private var busy = 0
    private var connecting = 0
    private var failures = 0
    private var failureReason: String?
    private var retryAt = ContinuousClock.now
    private var isClosed = false
    private var whenEnded: (@Sendable () -> Void)?

    init(_ options: DatabaseOptions, _ quarantine: Quarantine) {
        self.options = options
        self.quarantine = quarantine
        workers = options.size
        let failed =
            unsafe pthread_mutex_init(mutex, nil) != 0
            || pthread_cond_init(jobCame, nil) != 0
            || pthread_cond_init(connectionWanted, nil) != 0
        precondition(!failed, "glibc's default mutex and condition cannot fail to initialise")
    }

    deinit {
        unsafe pthread_cond_destroy(connectionWanted)
        unsafe pthread_cond_destroy(jobCame)
        unsafe pthread_mutex_destroy(mutex)
        unsafe connectionWanted.deallocate()
        unsafe jobCame.deallocate()
        unsafe mutex.deallocate()
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    private var waitingCount: Int { waiting.count - head }
    private var isConnectionWanted: Bool { waitingCount > idle + connecting }
    private var isTooEarly: Bool { failures > 0 && ContinuousClock.now < retryAt }

    /// Whether the server bears one more connection: see ``DatabaseOptions/size``.
    private var isRoomForConnection: Bool {
        connected + connecting + quarantine.count < options.size + options.writesMax
    }

    /// Queues a job, or refuses it at once: closed, full, or the database is down.
    func add(_ job: Job) {
        let isTaken = withLock {
            let isDown = connected == 0 && connecting == 0 && isTooEarly
            guard !isClosed, !isDown, waitingCount < options.waitingMax else { return false }
            waiting.append(job)
            unsafe pthread_cond_signal(isConnectionWanted ? connectionWanted : jobCame)
            return true
        }
        if !isTaken { job.refuse() }
    }

    // MARK: For workers

    /// Waits until a connection is wanted; `false` when the worker has to end.
    func waitToConnect() -> Bool {
        withLock {
            while !(isConnectionWanted && !isTooEarly && isRoomForConnection) {
                if isClosed, waitingCount == 0 { return false }
                unsafe pthread_cond_wait(connectionWanted, mutex)
            }
            connecting += 1
            return true
        }
    }

    /// Tells what came of connecting: `nil`, or why it failed.
    func endConnecting(failure: String?) {
        let refused: [Job] = withLock {
            connecting -= 1
            failureReason = failure
            guard failure != nil else {
                failures = 0
                connected += 1
                return []
            }
            let pause = options.reconnectPause * (1 << min(failures, 10))
            failures += 1
            retryAt = ContinuousClock.now + min(pause, options.reconnectPauseMax)
            return connected == 0 && connecting == 0 ? takeAll() : []
        }
        refused.forEach { $0.refuse() }
    }

    /// Tells that a worker no longer has its connection.
    func disconnected() {
        withLock {
            connected -= 1
            // Jobs that counted on this worker may need another connection.
            unsafe pthread_cond_broadcast(connectionWanted)
        }
    }

    /// Tells that a worker with a job is about to replace its connection.
    func reconnecting() {
        withLock {
            connected -= 1
            connecting += 1
        }
    }

    /// Waits for a job; `nil` when the worker has to end.
    func next() -> Job? {
        withLock {
            idle += 1
            defer { idle -= 1 }
            while waitingCount == 0 {
                if isClosed { return nil }
                unsafe pthread_cond_wait(jobCame, mutex)
            }
            busy += 1
            return takeFirst()
        }
    }

    /// Ends what ``next()`` began.
    func finished() { withLock { busy -= 1 } }

    /// Tells that a worker ends.
    func workerEnded() {
        let told: (@Sendable () -> Void)? = withLock {
            workers -= 1
            return workers == 0 ? whenEnded : nil
        }
        told?()
    }

    // MARK: For the watch

    /// Refuses what has waited too long, and wakes workers that may connect now.
    ///
    /// - Returns: `false` when there is nothing to watch any more.
    func tick() -> Bool {
        let (refused, goesOn) = withLock {
            var refused: [Job] = []
            let now = ContinuousClock.now
            while waitingCount > 0, waiting[head].end <= now { refused.append(takeFirst()) }
            if isConnectionWanted || isClosed { unsafe pthread_cond_broadcast(connectionWanted) }
            return (refused, workers > 0)
        }
        refused.forEach { $0.refuse() }
        return goesOn
    }

    /// Takes no more jobs; `whenEnded` is called when the last worker has ended.
    func close(whenEnded: @escaping @Sendable () -> Void) {
        let isOver = withLock {
            isClosed = true
            let earlier = self.whenEnded
            self.whenEnded = {
                earlier?()
                whenEnded()
            }
            unsafe pthread_cond_broadcast(jobCame)
            unsafe pthread_cond_broadcast(connectionWanted)
            return workers == 0
        }
        if isOver { whenEnded() }
    }

    var statistics: Database.Statistics {
        withLock {
            Database.Statistics(
                size: options.size, busy: busy, waiting: waitingCount, connected: connected,
                quarantined: quarantine.count, lastConnectFailure: failureReason)
        }
    }

    private func takeFirst() -> Job {
        let job = waiting[head]
        head += 1
        if head == waiting.count || head >= 512 {
            waiting.removeFirst(head)
            head = 0
        }
        return job
    }

    private func takeAll() -> [Job] {
        let jobs = Array(waiting[head...])
        waiting.removeAll()
        head = 0
        return jobs
    }
}
