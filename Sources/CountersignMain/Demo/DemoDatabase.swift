import Countersign
import Postgres

/// The demo's database: a new one for each run, on a private Postgres that stays with its folder.
struct DemoDatabase: Sendable {
    let server: PrivatePostgres

    private static let name = "countersign_demo"

    /// - Throws: ``PrivatePostgresFailure``.
    init(at directory: String) throws(PrivatePostgresFailure) {
        server = try PrivatePostgres(at: directory)
    }

    /// Starts the server if need be, and puts an empty database in the place of the last run's.
    func startFresh() async throws {
        _ = try await server.start(.durable)
        var options = DatabaseOptions(connection: try ConnectionInfo(server.url), size: 1)
        options.statementDeadline = .seconds(60)
        let superuser = Database(options)
        do throws(StoreFailure) {
            try await superuser.run { connection throws(PostgresError) in
                // Neither may stand in a transaction, and a script is one. A killed run's sessions go.
                try connection.run(script: "DROP DATABASE IF EXISTS \(Self.name) WITH (FORCE)")
                try connection.run(script: "CREATE DATABASE \(Self.name)")
            }
        } catch {
            await superuser.close()
            throw CommandFailure("the demo's database cannot be made: \(error)")
        }
        await superuser.close()
    }

    /// Runs statements as whoever owns the server, who can do anything, as one transaction.
    ///
    /// - Throws: ``CommandFailure``.
    func asSuperuser(_ script: String) async throws {
        try await asSuperuser { connection throws(PostgresError) in
            try connection.run(script: script)
        }
    }

    /// Does something on a connection of whoever owns the server.
    ///
    /// - Throws: ``CommandFailure``.
    func asSuperuser<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Result
    ) async throws -> Result {
        var options = DatabaseOptions(
            connection: try ConnectionInfo(url(as: "postgres")), size: 1)
        options.statementDeadline = .seconds(120)
        let database = Database(options)
        do throws(StoreFailure) {
            let result = try await database.run(body)
            await database.close()
            return result
        } catch {
            await database.close()
            throw CommandFailure("the database refused: \(error)")
        }
    }

    /// The connection string of a role; it holds no secret, since the socket's folder is the lock.
    func url(as role: String) throws(CommandFailure) -> String {
        do throws(PostgresError) {
            return try ConnectionInfo(server.url)
                .replacing(["dbname": Self.name, "user": role]).text
        } catch {
            throw CommandFailure("\(server.url) is no connection string")
        }
    }
}
