import Countersign

/// Why a database was not brought up to date. What had been applied before stays applied.
package enum MigrationFailure: Error, Hashable, Sendable {
    /// The database could not be reached, or its record of migrations not be read.
    case database(PostgresError)
    /// A migration or the roles could not be applied and were rolled back; the message is the server's.
    case notApplied(name: String, PostgresError, message: String)
    /// A file that was applied has been changed since.
    case changed(name: String)
    /// The database has a migration that this program does not know: it is older than the database.
    case databaseIsNewer(version: Int)
    /// A migration is missing below others that were applied.
    case outOfOrder(name: String)
}

/// Brings a database to the schema of this program: roles, then migrations, each in one transaction
/// together with its record.
///
/// Any number of instances may migrate at once: they take turns.
package struct Migrator: Sendable {
    /// What is embedded in this program.
    package static let embedded = Migrator(
        roles: String(decoding: PackageResources.roles_sql, as: UTF8.self),
        migrations: Migration.all)

    private let roles: String
    private let migrations: [Migration]

    /// - Parameters:
    ///   - roles: Statements that make the cluster's roles; run each time, before all migrations.
    ///   - migrations: In the order of their versions.
    package init(roles: String, migrations: [Migration]) {
        precondition(
            zip(migrations, migrations.dropFirst()).allSatisfy { $0.version < $1.version },
            "migrations in the order of their versions")
        self.roles = roles
        self.migrations = migrations
    }

    /// Applies what is missing, on a thread of its own.
    ///
    /// - Parameter info: The database, as an administrator who may create roles and schemas.
    /// - Returns: The names of the migrations that were applied now.
    /// - Throws: ``MigrationFailure``.
    package func migrate(_ info: ConnectionInfo) async throws(MigrationFailure) -> [String] {
        let result: Result<[String], MigrationFailure> = await withCheckedContinuation { task in
            startThread {
                task.resume(
                    returning: Result { () throws(MigrationFailure) in try migrateNow(info) })
            }
        }
        return try result.get()
    }

    /// The names of the migrations that a database still needs; empty when it is ready for this program.
    ///
    /// - Throws: ``MigrationFailure`` also when the database is newer, or was changed.
    package func pendingMigrations(
        _ connection: borrowing Connection
    ) throws(MigrationFailure) -> [String] {
        try pending(connection).map(\.name)
    }

    private func migrateNow(_ info: ConnectionInfo) throws(MigrationFailure) -> [String] {
        let connection = try inDatabase { () throws(PostgresError) in
            try Connection(
                info, applicationName: "countersign migrate", deadline: migrationDeadline)
        }
        try inDatabase { () throws(PostgresError) in _ = try connection.execute(.migrationLock) }
        try makeRoles(connection)
        try inDatabase { () throws(PostgresError) in
            try connection.run(script: Statement.migrationTable.sql)
        }
        let pending = try pending(connection)
        for migration in pending { try apply(migration, connection) }
        return pending.map(\.name)
    }

    private func pending(_ connection: borrowing Connection) throws(MigrationFailure) -> [Migration]
    {
        let applied = try inDatabase { () throws(PostgresError) in try Applied.list(connection) }
        for entry in applied {
            guard let known = migrations.first(where: { $0.version == entry.version }) else {
                throw .databaseIsNewer(version: entry.version)
            }
            guard known.digest == entry.digest, known.name == entry.name else {
                throw .changed(name: known.name)
            }
        }
        let pending = migrations.dropFirst(applied.count)
        if let last = applied.last, let first = pending.first, first.version <= last.version {
            let missing = migrations.first { known in
                !applied.contains { $0.version == known.version }
            }
            throw .outOfOrder(name: missing?.name ?? first.name)
        }
        return Array(pending)
    }

    private func apply(
        _ migration: Migration, _ connection: borrowing Connection
    ) throws(MigrationFailure) {
        do throws(PostgresError) {
            try connection.transaction { connection throws(PostgresError) in
                try connection.run(script: migration.sql)
                try connection.run(script: Statement.migrationReset.sql)
                _ = try connection.execute(
                    .migrationRecord,
                    [.int(migration.version), .text(migration.name), .digest(migration.digest)])
            }
        } catch {
            throw .notApplied(name: migration.name, error, message: connection.lastMessage)
        }
    }

    /// Roles belong to the whole cluster, and the lock only to this database: two databases that are
    /// migrated at once may collide, and then the loser tries again.
    private func makeRoles(_ connection: borrowing Connection) throws(MigrationFailure) {
        for attempt in 1... {
            do throws(PostgresError) {
                try connection.transaction { connection throws(PostgresError) in
                    try connection.run(script: roles)
                    try connection.run(script: Statement.migrationReset.sql)
                }
                return
            } catch {
                guard attempt < roleAttemptsMax, error.isCollision else {
                    throw .notApplied(name: "roles", error, message: connection.lastMessage)
                }
            }
        }
    }
}

/// How long one migration may take, or wait for another instance to finish.
private let migrationDeadline = Duration.seconds(3600)

private let roleAttemptsMax = 20

/// One row of the record of migrations.
private struct Applied {
    let version: Int
    let name: String
    let digest: Digest

    /// What a database has; nothing when it has no record yet.
    static func list(_ connection: borrowing Connection) throws(PostgresError) -> [Applied] {
        let rows: Rows
        do throws(PostgresError) {
            rows = try connection.execute(.migrationList)
        } catch .other(sqlState: "42P01"), .other(sqlState: "3F000") {
            return []
        }
        var list: [Applied] = []
        for row in rows {
            list.append(
                Applied(
                    version: try row["version"], name: try row["name"], digest: try row["sha256"]))
        }
        return list
    }
}

extension PostgresError {
    /// Two sessions changed one row of the system's catalog: unique violation, duplicate object, or
    /// "tuple concurrently updated", which has no code of its own.
    fileprivate var isCollision: Bool {
        switch self {
        case .constraintViolated(_, let sqlState), .other(let sqlState):
            ["23505", "42710", "XX000"].contains(sqlState)
        case .serialization: true
        case .lockTimeout, .statementTimeout, .raised, .connectionLost, .outcomeUnknown,
            .unavailable,
            .unreachable, .readOnly, .malformedColumn:
            false
        }
    }
}

private func inDatabase<Result: ~Copyable>(
    _ body: () throws(PostgresError) -> Result
) throws(MigrationFailure) -> Result {
    do throws(PostgresError) {
        return try body()
    } catch {
        throw .database(error)
    }
}
