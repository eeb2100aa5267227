package import Countersign

extension Migrator {
    /// Says whether a migrated database is for development, which the database itself then keeps to.
    ///
    /// - Parameters:
    ///   - isDevelopment: Whether it is. One that was said not to be never is again.
    ///   - info: The database, as an administrator who may act as its owner.
    /// - Returns: What holds from now on.
    /// - Throws: ``StoreFailure``.
    package static func state(
        isDevelopment: Bool, of info: ConnectionInfo
    ) async throws(StoreFailure) -> Bool {
        let database = Database(DatabaseOptions(connection: info, size: 1))
        do throws(StoreFailure) {
            let holds = try await database.run { connection throws(PostgresError) -> Bool in
                try connection.run(script: "SET ROLE countersign_owner")
                let row = try connection.execute(.stateInstallation, [.bool(isDevelopment)])
                    .single()
                guard let row else { throw .malformedColumn("is_development") }
                return try row["is_development"]
            }
            await database.close()
            return holds
        } catch {
            await database.close()
            throw error
        }
    }
}
