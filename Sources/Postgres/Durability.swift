package import Countersign

/// What has to be true of the server before a decision is answered.
package enum DurabilityDemand: Sendable {
    /// A commit is on disk here and wherever the server's standbys are asked for.
    case production
    /// Anything goes: a server that no customer's decision depends on.
    case development
}

/// Why the service must not start on this database.
package enum DurabilityFailure: Error, Equatable, Sendable {
    case notRead(StoreFailure)
    /// A setting of the server, or of this role, under which an answered commit can be lost.
    case weak(setting: String, value: String)
}

/// The settings that a commit's durability depends on.
package struct Durability: Hashable, Sendable {
    package let synchronousCommit: String
    package let fsync: Bool
    package let fullPageWrites: Bool
    /// Whether commits wait for standbys; without any, a decision is lost with the server's disk.
    package let hasStandbys: Bool

    package init(
        synchronousCommit: String, fsync: Bool, fullPageWrites: Bool, hasStandbys: Bool
    ) {
        self.synchronousCommit = synchronousCommit
        self.fsync = fsync
        self.fullPageWrites = fullPageWrites
        self.hasStandbys = hasStandbys
    }

    /// Refuses what is weaker than `demand`, in the order of how much would be lost.
    ///
    /// - Throws: ``DurabilityFailure/weak(setting:value:)``.
    package func check(_ demand: DurabilityDemand) throws(DurabilityFailure) {
        switch demand {
        case .development: return
        case .production:
            try require(fsync, "fsync", "off")
            try require(fullPageWrites, "full_page_writes", "off")
            // Weaker than `on`: off, local and remote_write answer before the standby's disk has it.
            try require(
                ["on", "remote_apply"].contains(synchronousCommit), "synchronous_commit",
                synchronousCommit)
        }
    }

    private func require(
        _ isStrong: Bool, _ setting: String, _ value: String
    ) throws(DurabilityFailure) {
        guard isStrong else { throw .weak(setting: setting, value: value) }
    }
}

extension Database {
    /// Reads what commits depend on and refuses what is weaker than `demand`; for the start.
    ///
    /// - Returns: The settings, of which a missing standby is the caller's to warn about.
    /// - Throws: ``DurabilityFailure``.
    package func verifyDurability(
        _ demand: DurabilityDemand
    ) async throws(DurabilityFailure) -> Durability {
        let durability: Durability
        do throws(StoreFailure) {
            durability = try await query(.durability, []) { rows throws(PostgresError) in
                guard let row = try rows.single() else { throw .malformedColumn("durability") }
                return Durability(
                    synchronousCommit: try row["synchronous_commit"],
                    fsync: try row["fsync"] == "on",
                    fullPageWrites: try row["full_page_writes"] == "on",
                    hasStandbys: try row["has_standbys"])
            }
        } catch {
            throw .notRead(error)
        }
        try durability.check(demand)
        return durability
    }
}
