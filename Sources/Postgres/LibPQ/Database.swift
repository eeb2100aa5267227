package import Countersign
internal import Glibc

/// A pool of connections, each with a thread of its own, that tasks reach without blocking.
///
/// It opens a connection when one is wanted, so that the service starts while the database is down.
/// No job is lost or done twice; only one that changed nothing may begin again, see ``run(_:)``.
package final class Database: Sendable {
    /// What the pool is doing, for metrics and readiness.
    package struct Statistics: Sendable {
        /// Connections that there may be.
        package let size: Int
        /// Connections with a job.
        package let busy: Int
        /// Jobs that wait for a connection.
        package let waiting: Int
        /// Connections that there are, without the stuck ones.
        package let connected: Int
        /// Connections whose answer did not come in time; see ``DatabaseOptions/writesMax``.
        package let quarantined: Int
        /// Why the last attempt to connect failed, for the operator only; `nil` when it did not.
        package let lastConnectFailure: String?
    }

    private let options: DatabaseOptions
    private let queue: JobQueue

    /// Starts the threads; connects to nothing yet.
    package init(_ options: DatabaseOptions) {
        self.options = options
        let quarantine = Quarantine(writesMax: options.writesMax)
        let queue = JobQueue(options, quarantine)
        self.queue = queue
        for _ in 0..<options.size {
            let worker = Worker(queue: queue, quarantine: quarantine, options: options)
            startThread { worker.run() }
        }
        startThread {
            while queue.tick() {
                quarantine.sweep()
                _ = usleep(tick)
            }
        }
    }

    deinit { queue.close {} }

    /// Does `body` on a connection that it has to itself meanwhile.
    ///
    /// A cancelled task does not cancel it: what was begun is finished and told.
    ///
    /// - Parameter body: Runs on a thread of the pool and may block for the database only. It runs a
    ///   second time, on a new connection, when the first connection was lost before anything was
    ///   committed or could have been: so it must have no effect but on the database.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, as ``StoreFailure``; ``StoreFailure/unavailable`` when it was not
    ///   begun because too many wait, it waited too long, or there is no database.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Result
    ) async throws(StoreFailure) -> Result {
        let outcome: Swift.Result<Result, PostgresError> = await withCheckedContinuation { task in
            let end = ContinuousClock.now + options.waitingDeadline
            let job = Job(end: end) { connection, mayRepeat in
                let commits = connection.commits
                do throws(PostgresError) {
                    let result = try body(connection)
                    task.resume(returning: .success(result))
                } catch {
                    if mayRepeat, error.asksForNewSession, connection.commits == commits {
                        return .repeatable
                    }
                    task.resume(returning: .failure(error))
                }
                return .done
            } refuse: {
                task.resume(returning: .failure(.unavailable))
            }
            queue.add(job)
        }
        switch outcome {
        case .success(let result): return result
        case .failure(let error): throw StoreFailure(error)
        }
    }

    /// Runs one statement and makes something of its rows; see ``run(_:)``.
    ///
    /// - Throws: As ``run(_:)``.
    package func query<Result: Sendable>(
        _ statement: Statement, _ parameters: [Parameter] = [],
        _ map: @escaping @Sendable (Rows) throws(PostgresError) -> Result
    ) async throws(StoreFailure) -> Result {
        try await run { connection throws(PostgresError) in
            try map(connection.execute(statement, parameters))
        }
    }

    /// Runs one statement; see ``run(_:)``.
    ///
    /// - Throws: As ``run(_:)``.
    @discardableResult
    package func query(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) async throws(StoreFailure) -> Rows {
        try await run { connection throws(PostgresError) in
            try connection.execute(statement, parameters)
        }
    }

    /// What the pool is doing just now.
    package var statistics: Statistics { queue.statistics }

    /// Takes no more work, does what is queued, closes the connections, and returns then.
    package func close() async {
        await withCheckedContinuation { task in
            queue.close { task.resume() }
        }
    }
}

/// Microseconds between two looks at what waits and what is stuck.
private let tick: UInt32 = 50_000
