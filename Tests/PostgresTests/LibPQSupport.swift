import Countersign
import Crypto
import Postgres
import TestSupport
import Testing

/// A session-level lock that statements of a test wait for, and the session that holds it.
struct Blocker {
    private let test: TestDatabase
    private let holder: Database
    private let key: String

    /// Takes the lock; `key` is one number or two.
    init(_ test: TestDatabase, key: String = "1") async throws {
        self.test = test
        self.key = key
        holder = await test.open(as: nil, size: 1)
        try await holder.query(
            Statement("lock", .read, Bytes("SELECT pg_advisory_lock(\(key))".utf8)))
    }

    /// Lets everything go on.
    func release() async throws {
        try await holder.query(
            Statement("unlock", .read, Bytes("SELECT pg_advisory_unlock(\(key))".utf8)))
    }

    /// Waits until as many sessions wait for the lock, and returns their process numbers.
    @discardableResult
    func waiters(_ count: Int) async throws -> [Int] {
        var found: [Int] = []
        try await eventually("\(count) sessions wait for the lock") {
            found = try await test.sql(
                """
                SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database =
                    (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            ).map { try $0["pid"] }
            return found.count == count
        }
        return found
    }
}

extension Statement {
    /// A statement that changes nothing.
    static func read(_ sql: String) -> Statement { adHoc(sql, .read) }

    /// A statement that may change something.
    static func write(_ sql: String) -> Statement { adHoc(sql, .write) }

    /// Another name for each text, because a session prepares by name.
    private static func adHoc(_ sql: String, _ kind: Kind) -> Statement {
        Statement(String(sha256(Bytes(sql.utf8)).hex.prefix(32)), kind, Bytes(sql.utf8))
    }

    /// Waits for the ``Blocker``, then returns one row.
    static let blockedRead = read("SELECT 1 AS one FROM pg_advisory_xact_lock(1)")
    /// Waits for the ``Blocker``, then inserts a row.
    static let blockedWrite = write("INSERT INTO item SELECT 1 FROM pg_advisory_xact_lock(1)")
}

/// Waits, without a limit of its own, until a condition holds; a test that hangs says what for.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    for attempt in 1...2000 {
        if try await condition() { return }
        if attempt == 2000 { Issue.record("never: \(what)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}

extension TestDatabase {
    /// How many rows a table has.
    func count(_ table: String) async throws -> Int {
        let row = try #require(try await sql("SELECT count(*) AS n FROM \(table)").first)
        return try row["n"]
    }
}

/// What a piece of work throws, if it throws.
func failure(_ body: () async throws(StoreFailure) -> Void) async -> StoreFailure? {
    do throws(StoreFailure) {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// What a piece of work on a connection throws, if it throws.
func thrown(_ body: () throws(PostgresError) -> Void) -> PostgresError? {
    do throws(PostgresError) {
        try body()
        return nil
    } catch {
        return error
    }
}
