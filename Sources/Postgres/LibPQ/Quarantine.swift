internal import CPostgres
import Crypto

/// The stuck connections of a pool, and the writes that may still get stuck.
///
/// When a commit waits for a standby that is gone, its server process stays whatever this side does,
/// and opening one connection after another would use up the server. So stuck connections stay open
/// here until their late answer shows that the process is done, and writes under way and stuck
/// connections together are bounded.
final class Quarantine: Sendable {
    private struct State {
        var writes = 0
        var stuck: [StuckConnection] = []
    }

    private let state = Locked(State())
    private let writesMax: Int

    init(writesMax: Int) { self.writesMax = writesMax }

    /// How many stuck connections there are.
    var count: Int { state.withLock { $0.stuck.count } }

    /// Asks to send a write; `true` has to be followed by ``endWrite()``.
    func admitWrite() -> Bool {
        state.withLock { state in
            guard state.writes + state.stuck.count < writesMax else { return false }
            state.writes += 1
            return true
        }
    }

    func endWrite() { state.withLock { $0.writes -= 1 } }

    /// Takes a connection whose answer nobody waits for any more.
    func add(_ connection: consuming Connection) {
        let stuck = StuckConnection(connection)
        state.withLock { $0.stuck.append(stuck) }
    }

    /// Closes those that are done; called by the pool's watch alone.
    func sweep() {
        let done = state.withLock { $0.stuck }.filter(\.isDone)
        guard !done.isEmpty else { return }
        state.withLock { state in
            state.stuck.removeAll { stuck in done.contains { $0 === stuck } }
        }
    }
}

/// A connection that is only watched.
///
/// Sendable, unchecked: the worker gives its connection away, and only the watch's thread uses it afterwards.
private final class StuckConnection: @unchecked Sendable {
    private let connection: Connection

    init(_ connection: consuming Connection) { self.connection = connection }

    /// Whether its late answer has come to its end, or the connection is gone.
    var isDone: Bool { connection.isAnsweredLate }
}

extension Connection {
    /// Reads, without waiting, what a stuck connection answers at last.
    var isAnsweredLate: Bool {
        guard unsafe PQconsumeInput(handle) == 1 else { return true }
        while unsafe PQisBusy(handle) == 0 {
            guard let result = unsafe PQgetResult(handle) else { return true }
            unsafe PQclear(result)
        }
        return false
    }
}
