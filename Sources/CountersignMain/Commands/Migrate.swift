import Countersign
import Crypto
import Evidence
import Postgres

extension Command {
    /// Brings the schema forward; safe to run again and beside a running service.
    static let migrate = Command(
        name: "migrate", summary: "Bring the database's schema to the version of this build",
        settings: ["database.admin_url", "development", "evidence"],
        required: ["database.admin_url", "evidence.origin", "evidence.key_encryption_key"]
    ) { invocation in
        var configuration = invocation.configuration
        guard let url = configuration.database.adminURL else {
            throw ConfigurationError("database.admin_url is missing")
        }
        let applied: [String]
        do throws(MigrationFailure) {
            applied = try await Migrator.embedded.migrate(
                ConnectionInfo(administrator: url.exposed))
        } catch {
            throw CommandFailure(error.explanation)
        }
        for name in applied { Console.out("applied \(name)") }
        if applied.isEmpty { Console.out("nothing to apply") }
        let isDevelopment = try await Migrator.state(
            isDevelopment: configuration.development,
            of: ConnectionInfo(administrator: url.exposed))
        if configuration.development, !isDevelopment {
            Console.out("this database has been in production: it is not for development any more")
        }
        // What a migration brought becomes evidence with the key of this installation.
        configuration.database.url = url
        configuration.database.poolSize = 1
        try await configuration.administer { administration in
            try await administration.recordInstallation()
            let refused = try await administration.recordPolicies()
            guard refused.isEmpty else {
                let versions = refused.map(String.init).joined(separator: ", ")
                throw CommandFailure(
                    "the schema is up to date, but nobody has published these versions of the "
                        + "policy: \(versions). They were put in force in the database, and an "
                        + "audit does not believe what was decided under them. Publish the next "
                        + "version by an act of two people")
            }
        }
    }
}

extension ConnectionInfo {
    /// - Throws: ``MigrationFailure`` when the text is no connection string.
    fileprivate init(administrator text: String) throws(MigrationFailure) {
        do throws(PostgresError) { try self.init(text) } catch { throw .database(error) }
    }
}

extension MigrationFailure {
    /// What the operator is told; the server's own message is about the schema, never about data.
    fileprivate var explanation: String {
        switch self {
        case .database: "the database cannot be reached or does not answer"
        case .notApplied(let name, _, let message): "\(name) was not applied: \(message)"
        case .changed(let name): "\(name) was changed after it had been applied"
        case .databaseIsNewer(let version):
            "the database has migration \(version), which this build does not know"
        case .outOfOrder(let name): "\(name) is missing below others that were applied"
        }
    }
}

extension Configuration {
    /// Does an operator's act with a pool of its own.
    ///
    /// - Throws: What `act` throws.
    func administer<Result: Sendable>(
        within deadline: Duration? = nil, _ act: (Administration) async throws -> Result
    ) async throws -> Result {
        let (sealer, keyEncryption) = try evidenceKeys()
        return try await withDatabase(statementDeadline: deadline) { database in
            try await act(
                Administration(
                    database: database, sealer: sealer, keyEncryption: keyEncryption,
                    entropy: .openSSL))
        }
    }
}
