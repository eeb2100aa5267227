internal import Glibc

/// A thread that has at most one connection and does jobs on it, one after another.
///
/// Swift's own threads are few and must never wait for a server, so a pool has threads of its own.
struct Worker {
    let queue: JobQueue
    let quarantine: Quarantine
    let options: DatabaseOptions

    /// Works until the queue is closed and empty.
    func run() {
        while queue.waitToConnect() {
            var connection = connect()
            while let open = connection.take() {
                guard let job = queue.next() else {
                    queue.disconnected()
                    break
                }
                connection = perform(job, on: open)
                queue.finished()
            }
        }
        queue.workerEnded()
    }

    /// Connects, which the queue has to have allowed, and tells it what came of it.
    private func connect() -> Connection? {
        do throws(PostgresError) {
            let connection = try Connection(
                options.connection, applicationName: options.applicationName,
                deadline: options.statementDeadline, quarantine: quarantine)
            queue.endConnecting(failure: nil)
            return connection
        } catch {
            queue.endConnecting(failure: error.reason)
            return nil
        }
    }

    /// Does one job, on a new connection when the one at hand turns out to be no good.
    ///
    /// - Returns: The connection for the next job, if it may be used again.
    private func perform(_ job: Job, on open: consuming Connection) -> Connection? {
        // A connection that the server closed while it was idle is found out before a write is sent
        // on it, because a write's loss would have to be answered with an unknown outcome.
        if open.isQuiet, case .done = job.perform(open, true) { return keep(open) }
        drop(open)
        queue.reconnecting()
        guard let fresh = connect() else {
            job.refuse()
            return nil
        }
        _ = job.perform(fresh, false)
        return keep(fresh)
    }

    /// Closes the connection now, so that there are never two of one worker.
    private func drop(_ connection: consuming Connection) {}

    /// Sorts out a connection after a job.
    private func keep(_ connection: consuming Connection) -> Connection? {
        if connection.isUsable { return connection }
        if connection.isStuck { quarantine.add(connection) }
        queue.disconnected()
        return nil
    }
}

/// What a thread is started with.
private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Starts a thread that runs `body` and ends with it.
func startThread(_ body: @escaping @Sendable () -> Void) {
    let start = unsafe Unmanaged.passRetained(Start(body))
    var thread = pthread_t()
    let failed = unsafe pthread_create(&thread, nil, runThread, start.toOpaque()) != 0
    precondition(!failed, "the system gives the threads that the pool needs")
    pthread_detach(thread)
}

/// The body of a thread; a C callback, hence a function at the top level.
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    // Signals belong to the process's own handlers, and a server that hangs up must not raise SIGPIPE.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    start.body()
    return nil
}
