package import Countersign
package import Postgres

/// A migrated database of one test's own, on the server that `COUNTERSIGN_TEST_DATABASE` names.
package final class TestDatabase: Sendable {
    /// The roles of `sql/roles.sql` that log in.
    package enum Role: String, Sendable {
        case service = "countersign_service"
        case op = "countersign_operator"
        case auditor = "countersign_auditor"
        case privacy = "countersign_privacy"
    }

    package let name: String
    /// As a superuser.
    package let superuser: ConnectionInfo
    private let opened = Opened()

    init(name: String, superuser: ConnectionInfo) {
        self.name = name
        self.superuser = superuser
    }

    /// As one of the roles of the service; the server has to trust the test's connections.
    package func connection(as role: Role) -> ConnectionInfo {
        superuser.replacing(["user": role.rawValue])
    }

    /// A pool that is closed when the test ends.
    ///
    /// - Parameters:
    ///   - role: Whom to connect as; `nil` for the superuser.
    ///   - size: How many connections.
    ///   - adjust: Changes to the options.
    /// - Returns: The pool, which has not connected yet.
    package func open(
        as role: Role? = .service, size: Int = 2, adjust: (inout DatabaseOptions) -> Void = { _ in }
    ) async -> Database {
        var options = DatabaseOptions(
            connection: role.map(connection(as:)) ?? superuser, size: size)
        // A busy machine is no failure of what is tested.
        options.statementDeadline = .seconds(60)
        options.waitingDeadline = .seconds(120)
        adjust(&options)
        let database = Database(options)
        await opened.add(database)
        return database
    }

    /// Runs statements as the superuser, for what a test has to arrange or look up.
    @discardableResult
    package func sql(_ text: String) async throws(StoreFailure) -> Rows {
        try await TestServer.run(superuser) { connection throws(PostgresError) in
            try connection.execute(Statement("test", .write, Bytes(text.utf8)))
        }
    }

    /// Does several things on one connection of the superuser.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Result
    ) async throws(StoreFailure) -> Result {
        try await TestServer.run(superuser, body)
    }

    fileprivate func close() async { await opened.close() }
}

/// The pools that a test opened.
private actor Opened {
    private var databases: [Database] = []

    func add(_ database: Database) { databases.append(database) }

    func close() async {
        for database in databases { await database.close() }
        databases = []
    }
}

/// Gives `body` a database of its own and drops it afterwards, whatever happens.
///
/// - Throws: What `body` throws, or why there is no database: a missing server is a failed test,
///   never a skipped one.
package func withDatabase<Result>(
    _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    let server = try await TestServer.shared.value
    await server.gate.enter()
    do {
        let result = try await server.withDatabase(body)
        await server.gate.leave()
        return result
    } catch {
        await server.gate.leave()
        throw error
    }
}

extension TestServer {
    fileprivate func withDatabase<Result>(
        _ body: (TestDatabase) async throws -> Result
    ) async throws -> Result {
        let database = try await make()
        do {
            let result = try await body(database)
            await database.close()
            try await drop(database.name)
            return result
        } catch {
            await database.close()
            try await drop(database.name)
            throw error
        }
    }
}
