package import Countersign

/// Reads published policies from Postgres.
package struct PostgresPolicyStore: PolicyService {
    private let database: Database

    /// - Parameter database: As any role that may read policies.
    package init(database: Database) { self.database = database }

    package func policies() async throws(StoreFailure) -> [PublishedPolicy] {
        try await read(version: nil)
    }

    package func policy(version: Int) async throws(StoreFailure) -> PublishedPolicy? {
        try await read(version: version).first
    }

    package func activePolicy() async throws(StoreFailure) -> PublishedPolicy? {
        try await read(version: nil).first { $0.isActive }
    }

    private func read(version: Int?) async throws(StoreFailure) -> [PublishedPolicy] {
        try await database.run { connection throws(PostgresError) in
            try connection.execute(.listPolicies, [.int(version)])
                .map { row throws(PostgresError) in try PublishedPolicy(row) }
        }
    }
}
