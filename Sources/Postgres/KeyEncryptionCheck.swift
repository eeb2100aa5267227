package import Countersign
package import Evidence

extension Database {
    /// Whether data keys of this database are wrapped by that key, also where there are none yet.
    ///
    /// The service's own data key is asked for all of them. With another key a new customer's evidence would be sealed
    /// where the right one never opens it.
    ///
    /// - Throws: ``StoreFailure``.
    package func isWrapped(by key: KeyEncryptionKey) async throws(StoreFailure) -> Bool {
        try await query(.readServiceKey) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return true }
            return key.unwrap(try row["wrapped"], for: EvidenceSealer.serviceSubject) != nil
        }
    }
}
