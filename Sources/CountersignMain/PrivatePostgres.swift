import Foundation

/// A Postgres of our own for the demo and the tests: it listens on a Unix socket that only its
/// owner (and root) can reach, and belongs to one folder.
///
/// It needs the server's programs and nothing else of an installation: no cluster of Debian's, no
/// port, no `/run/postgresql`. Any number of processes may start it; the first one does.
struct PrivatePostgres: Sendable {
    /// Whether acknowledged commits must survive a power cut.
    enum Durability: Sendable {
        /// As in production.
        case durable
        /// Commits survive the death of any process, `kill -9` of Postgres included, because the
        /// kernel keeps what was written; they may not survive the machine. Enough for tests, whose
        /// data is deleted anyway, and several times faster on a slow disk.
        case disposable
    }

    /// What `start` did.
    enum Start: Sendable { case started, wasRunning }

    let places: PrivatePostgresPlaces
    private let tools: PrivatePostgresTools

    /// - Parameter directory: The folder that names this database; created when it is missing.
    /// - Throws: ``PrivatePostgresFailure``.
    init(at directory: String?) throws(PrivatePostgresFailure) {
        guard let directory, !directory.isEmpty else {
            throw PrivatePostgresFailure("the folder for Postgres has no name")
        }
        let owner = try PrivatePostgresOwner.forThisProcess()
        places = try PrivatePostgresPlaces(directory: directory, owner: owner)
        tools = PrivatePostgresTools(owner: owner, log: places.log)
    }

    /// The connection string of a superuser. It holds no secret: the socket's folder is the lock.
    var url: String {
        "postgresql:///postgres?host=\(places.socket)&port=\(PrivatePostgresPlaces.port)"
            + "&user=\(PrivatePostgresTools.superuser)"
    }

    /// Makes the database when there is none, starts it when it does not run, waits until it answers.
    ///
    /// - Throws: ``PrivatePostgresFailure`` with the last lines of the server's log.
    func start(_ durability: Durability) async throws(PrivatePostgresFailure) -> Start {
        try await createBase()
        let lock = try await FolderLock(places.base)
        defer { lock.release() }
        try places.createSocketFolder()
        if runningServer() != nil {
            try await waitUntilReady()
            return .wasRunning
        }
        if !places.exists(places.data + "/PG_VERSION") {
            try await makeDatabase(durability)
        }
        try removeStaleLocks()
        let child = try tools.launchServer(places, durability)
        // Collected when it ends, so that no dead process keeps its number in the lock files.
        Task.detached { _ = await child.end() }
        try await waitUntilReady()
        return .started
    }

    /// Stops the server of this folder if it runs; sessions are ended, nothing committed is lost.
    func stop() async throws(PrivatePostgresFailure) {
        guard places.exists(places.base) else { return }
        let lock = try await FolderLock(places.base)
        defer { lock.release() }
        guard let server = runningServer() else { return }
        // SIGINT is Postgres's "fast" shutdown, SIGQUIT its "immediate" one, which the next start
        // recovers from.
        for (signal, seconds) in [(SIGINT, 30), (SIGQUIT, 10)] {
            _ = kill(server, signal)
            for _ in 0..<(seconds * 20) {
                if !places.isServer(server) { return }
                await pauseRegardless(milliseconds: 50)
            }
        }
        throw PrivatePostgresFailure("Postgres (process \(server)) does not stop")
    }

    /// Deletes the data of a server that has been stopped.
    func remove() throws(PrivatePostgresFailure) {
        guard places.exists(places.base) else { return }
        guard places.processesInside().isEmpty else {
            throw PrivatePostgresFailure("Postgres still runs in \(places.base)")
        }
        try places.delete()
    }

    /// Before there is a folder there is no lock in it, so another process may be making it just now:
    /// it is looked at again before it is refused.
    private func createBase() async throws(PrivatePostgresFailure) {
        for _ in 0..<20 {
            do {
                return try places.createBase()
            } catch {
                await pauseRegardless(milliseconds: 25)
            }
        }
        try places.createBase()
    }

    /// A crash between two steps of `initdb` would leave half a database that looks whole, so it is
    /// made under another name and renamed when it is done.
    private func makeDatabase(_ durability: Durability) async throws(PrivatePostgresFailure) {
        try places.discard(places.data)
        try places.discard(places.unfinished)
        try places.createOwned(places.unfinished)
        try await tools.initialize(places.unfinished, durability)
        try places.rename(places.unfinished, to: places.data)
    }

    /// The postmaster of this folder, if it lives. A process that only has its number is not it.
    private func runningServer() -> Int32? {
        guard let number = places.recordedServer(), places.isServer(number) else { return nil }
        return number
    }

    /// After a crash the lock files may name a process that is somebody else's by now, or one that
    /// is dead and that nobody has collected, as in containers; Postgres would refuse to start. They
    /// are removed only when nothing of that server lives any more.
    private func removeStaleLocks() throws(PrivatePostgresFailure) {
        guard places.processesInside().isEmpty else {
            throw PrivatePostgresFailure(
                "processes of an earlier Postgres still run in \(places.data)")
        }
        try places.discard(places.serverLock)
        try places.discard(places.socketLock)
    }

    private func waitUntilReady() async throws(PrivatePostgresFailure) {
        var wasSeen = false
        for attempt in 0..<1200 {
            if runningServer() != nil, try await tools.isReady(places) { return }
            let lives = runningServer() != nil
            if wasSeen && !lives || !wasSeen && attempt > 200 { break }
            wasSeen = wasSeen || lives
            await pauseRegardless(milliseconds: 50)
        }
        throw PrivatePostgresFailure("Postgres does not start: \(places.lastLogLines())")
    }
}

/// Why the private Postgres cannot be had.
struct PrivatePostgresFailure: ExplainedError {
    let explanation: String

    init(_ explanation: String) { self.explanation = explanation }
}

/// Keeps other processes out of a folder until it is released or this process ends.
///
/// The folder itself is locked: a lock file would have to be made, and two makers race.
private struct FolderLock {
    private let handle: FileHandle

    /// Asks again and again rather than wait in the kernel: tasks of this process that want the lock
    /// would hold every thread that the one which has it needs to go on.
    init(_ path: String) async throws(PrivatePostgresFailure) {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw PrivatePostgresFailure("cannot open \(path)")
        }
        for _ in 0..<2400 {
            if flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 {
                self.handle = handle
                return
            }
            await pauseRegardless(milliseconds: 50)
        }
        throw PrivatePostgresFailure("another process has held \(path) for two minutes")
    }

    func release() {
        // Closing gives the lock back; a failed close has closed all the same.
        do { try handle.close() } catch {}
    }
}
