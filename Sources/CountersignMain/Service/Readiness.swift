import Countersign
import HTTP
import Postgres

/// Whether requests should be sent to this instance.
struct Readiness: Sendable {
    let database: Database
    let housekeeping: Housekeeping

    /// The checks of `/readyz`, by name.
    func checks() async -> [ReadinessCheck] {
        let statistics = database.statistics
        let migrated = await migrationsAreApplied()
        return [
            ReadinessCheck(name: "database", isPassed: migrated != nil),
            ReadinessCheck(name: "migrations", isPassed: migrated ?? false),
            ReadinessCheck(name: "partitions", isPassed: await partitionsAreThere()),
            ReadinessCheck(
                name: "pool",
                isPassed: statistics.quarantined < statistics.size
                    && statistics.waiting < statistics.size * 16),
        ]
    }

    /// `nil` when the database does not answer.
    private func migrationsAreApplied() async -> Bool? {
        do throws(StoreFailure) {
            return try await database.run { connection throws(PostgresError) in
                do throws(MigrationFailure) {
                    return try Migrator.embedded.pendingMigrations(connection).isEmpty
                } catch {
                    // The database answered; what it says is that it is not of this build.
                    if case .database(let failure) = error { throw failure }
                    return false
                }
            }
        } catch {
            return nil
        }
    }

    private func partitionsAreThere() async -> Bool {
        do throws(StoreFailure) { return try await housekeeping.hasPartitions() } catch {
            return false
        }
    }
}
