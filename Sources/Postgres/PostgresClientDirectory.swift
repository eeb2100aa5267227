package import Countersign

/// Looks callers up in Postgres.
package struct PostgresClientDirectory: ClientDirectory {
    private let database: Database

    package init(database: Database) { self.database = database }

    package func client(keyDigest: Digest) async throws(StoreFailure) -> AuthenticatedClient? {
        try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(.findClientByKey, [.digest(keyDigest)])
            return try rows.single().map { row throws(PostgresError) in
                try AuthenticatedClient(row)
            }
        }
    }

    package func client(
        subjectAlternativeNames: [String]
    ) async throws(StoreFailure) -> AuthenticatedClient? {
        try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(
                .findClientByCertificate, [.textArray(subjectAlternativeNames)])
            // A certificate whose names belong to two clients identifies neither.
            guard rows.count == 1, let row = rows.first else { return nil }
            return try AuthenticatedClient(row)
        }
    }
}

extension AuthenticatedClient {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(id: try row["id"], role: try word("role", row, Role.init))
    }
}
