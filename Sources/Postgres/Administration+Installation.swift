package import Countersign
import Evidence

extension Administration {
    /// Records whether this installation is for development, as the database has it; once for each answer.
    ///
    /// - Throws: ``StoreFailure``.
    package func recordInstallation() async throws(StoreFailure) {
        // Development may end between the question and the record; then the new answer is told.
        for _ in 0..<Self.racesMax {
            let evidence = try await service.seal([
                ServiceEvidence.stated(isDevelopment: try await isDevelopment())
            ])
            switch try await database.status(.tellInstallation, [.json(evidence)]) {
            case "told", "exists": return
            case "lost_race": continue
            default: throw .internalFailure(code: "status")
            }
        }
        throw .unavailable
    }

    /// Records the publication of policies that people did not publish: those that came with a migration of
    /// this program, and in development all.
    ///
    /// - Returns: The versions that are refused, oldest first: an audit would not believe them. Somebody has
    ///   put them in force in the database.
    /// - Throws: ``StoreFailure``.
    package func recordPolicies() async throws(StoreFailure) -> [Int] {
        // First the policies: one that people publish meanwhile is then found among the publications.
        let stored = try await database.run { connection throws(PostgresError) in
            try connection.execute(.everyPolicy, []).map { row throws(PostgresError) in
                StoredPolicy(
                    version: try row["version"], digest: try row["digest"],
                    document: try row["document"], activeFrom: try row["active_from"])
            }
        }
        let published = try await publishedVersions()
        let open = stored.filter { published[$0.version] != $0.digest.hex }
        let believesAll = try await isDevelopment()
        func isBelieved(_ policy: StoredPolicy) -> Bool {
            believesAll || Migration.policies[policy.version] == policy.digest
        }
        try await service.record(
            open.filter(isBelieved).map { policy in
                ServiceEvidence.published(
                    version: policy.version, digest: policy.digest, document: policy.document,
                    activeFrom: policy.activeFrom)
            })
        return open.filter { !isBelieved($0) }.map(\.version)
    }

    private struct StoredPolicy: Sendable {
        let version: Int
        let digest: Digest
        let document: Bytes
        let activeFrom: Instant
    }

    private func isDevelopment() async throws(StoreFailure) -> Bool {
        try await database.query(.readInstallation, []) { rows throws(PostgresError) in
            guard let row = try rows.single() else {
                throw .malformedColumn("is_development")
            }
            return try row["is_development"]
        }
    }

    /// What evidence says was published: digests in hex by version.
    private func publishedVersions() async throws(StoreFailure) -> [Int: String] {
        let store = PostgresEvidenceStore(
            database: database, keyEncryption: keyEncryption, service: service)
        var published: [Int: String] = [:]
        var after: ID<Countersign.Evidence>?
        while true {
            let (found, hasMore) = try await store.stored(
                EvidenceQuery(
                    actionID: nil, customerID: nil, credentialID: nil,
                    kind: EvidenceKind.policyPublished.rawValue, from: nil, to: nil, limit: 500,
                    after: after))
            for record in found {
                guard case .integer(let version)? = store.opened(record).body?["version"],
                    let leaf = EvidenceLeaf(decoding: record.record.leaf)
                else { continue }
                published[Int(version)] = leaf.policy?.hex
            }
            guard hasMore, let last = found.last else { return published }
            after = last.record.id
        }
    }
}
