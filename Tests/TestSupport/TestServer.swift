import Countersign
import Foundation
import Glibc
import Postgres

/// The server that database tests use, with one migrated database to copy from.
struct TestServer: Sendable {
    /// Why there is no database to test with.
    enum Failure: Error, CustomStringConvertible {
        case notConfigured
        case unusable(StoreFailure, String)

        var description: String {
            switch self {
            case .notConfigured:
                """
                COUNTERSIGN_TEST_DATABASE is not set. Database tests need a PostgreSQL server of \
                their own that trusts local connections; set it to the connection string of a \
                superuser, such as "host=/tmp/pg port=5432 user=postgres dbname=postgres".
                """
            case .unusable(let failure, let reason):
                "the server that COUNTERSIGN_TEST_DATABASE names cannot be used: \(failure) \(reason)"
            }
        }
    }

    /// Made once per process, when the first test asks for it.
    static let shared = Task { try await TestServer() }

    private let superuser: ConnectionInfo
    private let admin: Database
    private let template: ConnectionInfo
    private let counter = Counter()
    /// More at once would only wait for each other on a small machine.
    let gate = Gate(6)

    private init() async throws {
        let name = "COUNTERSIGN_TEST_DATABASE"
        guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else {
            throw Failure.notConfigured
        }
        superuser = try ConnectionInfo(text)
        admin = TestServer.admin(superuser)
        template = superuser.replacing(["dbname": databasePrefix(getpid()) + "template"])
        do {
            try await dropLeftovers()
            leftToDrop.set(superuser)
            try await admin.run { connection throws(PostgresError) in
                try connection.run(script: "CREATE DATABASE \(databasePrefix(getpid()))template")
            }
        } catch let failure as StoreFailure {
            throw Failure.unusable(failure, admin.statistics.lastConnectFailure ?? "")
        }
        _ = try await Migrator.embedded.migrate(template)
        _ = try await Migrator.state(isDevelopment: true, of: template)
    }

    /// Runs `body` on a connection of its own.
    static func run<Result: Sendable>(
        _ info: ConnectionInfo,
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Result
    ) async throws(StoreFailure) -> Result {
        var options = DatabaseOptions(connection: info, size: 1)
        options.statementDeadline = .seconds(600)
        options.waitingDeadline = .seconds(60)
        let database = Database(options)
        do throws(StoreFailure) {
            let result = try await database.run(body)
            await database.close()
            return result
        } catch {
            await database.close()
            throw error
        }
    }

    /// Makes a copy of the migrated database.
    func make() async throws -> TestDatabase {
        let name = databasePrefix(getpid()) + String(counter.next())
        let script = "CREATE DATABASE \(name) TEMPLATE \(databasePrefix(getpid()))template"
        try await admin.run { connection throws(PostgresError) in
            try retrying { () throws(PostgresError) in try connection.run(script: script) }
        }
        return TestDatabase(name: name, superuser: superuser.replacing(["dbname": name]))
    }

    func drop(_ name: String) async throws {
        try await admin.run { connection throws(PostgresError) in
            try connection.run(script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        }
    }

    private static func admin(_ superuser: ConnectionInfo) -> Database {
        // Copying takes tens of milliseconds, and every test of a parallel run queues for it.
        var options = DatabaseOptions(connection: superuser, size: 2)
        options.statementDeadline = .seconds(600)
        options.waitingDeadline = .seconds(600)
        options.waitingMax = 10_000
        return Database(options)
    }

    /// Drops what a process left behind that did not come to its end.
    private func dropLeftovers() async throws {
        let statement = Statement(
            "leftovers", .read,
            Bytes(
                "SELECT datname FROM pg_database WHERE datname LIKE 'countersign\\_test\\_%'".utf8))
        for row in try await admin.query(statement) {
            let name: String = try row["datname"]
            guard let pid = pid_t(name.split(separator: "_")[2]) else { continue }
            let isAlive = kill(pid, 0) == 0 || errno != ESRCH
            if pid == getpid() || !isAlive { try await drop(name) }
        }
    }
}

private func databasePrefix(_ pid: pid_t) -> String { "countersign_test_\(pid)_" }

/// A database cannot be copied at the very moment at which another session is connected to it.
private func retrying(_ body: () throws(PostgresError) -> Void) throws(PostgresError) {
    for attempt in 1... {
        do throws(PostgresError) {
            return try body()
        } catch .other(sqlState: "55006") where attempt < 100 {
            usleep(50_000)
        }
    }
}

/// Lets a number of tests through at once; the others wait for their turn.
actor Gate {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}

/// Numbers, one after another.
private final class Counter: @unchecked Sendable {
    // Sendable: the value is touched only under the lock.
    private let lock = NSLock()
    private var value = 0

    func next() -> Int {
        lock.withLock {
            value += 1
            return value
        }
    }
}

/// Drops the databases of this process when it ends.
private final class LeftToDrop: @unchecked Sendable {
    // Sendable: the value is touched only under the lock.
    private let lock = NSLock()
    private var superuser: ConnectionInfo?

    func set(_ info: ConnectionInfo) {
        lock.withLock { superuser = info }
        atexit(dropAtExit)
    }

    func take() -> ConnectionInfo? { lock.withLock { superuser.take() } }
}

private let leftToDrop = LeftToDrop()

private func dropAtExit() {
    guard let superuser = leftToDrop.take() else { return }
    do throws(PostgresError) {
        let connection = try Connection(
            superuser, applicationName: "countersign tests", deadline: .seconds(30))
        let prefix = databasePrefix(getpid()).replacing("_", with: "\\_")
        let statement = Statement(
            "leftovers", .read,
            Bytes("SELECT datname FROM pg_database WHERE datname LIKE '\(prefix)%'".utf8))
        for row in try connection.execute(statement) {
            let name: String = try row["datname"]
            try connection.run(script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        }
    } catch {
        // The next run drops what is left.
        print("databases of this test run are left behind: \(error)")
    }
}
