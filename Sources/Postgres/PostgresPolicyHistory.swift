package import Countersign

/// Reads the decisions of the past for a dry run.
package struct PostgresPolicyHistory: PolicyHistory {
    private let database: Database

    /// - Parameter database: As the role `countersign_service`.
    package init(database: Database) { self.database = database }

    package func decisions(
        in period: Range<Instant>, after position: PolicyHistoryPosition?, limit: Int
    ) async throws(StoreFailure) -> PolicyHistoryPage {
        try await database.query(
            .policyHistory,
            [
                .instant(period.lowerBound), .instant(period.upperBound), .instant(position?.at),
                .id(position?.evidence), .int(limit),
            ]
        ) { rows throws(PostgresError) in
            var verdicts: [RecordedVerdict] = []
            var last: PolicyHistoryPosition?
            for row in rows {
                last = PolicyHistoryPosition(
                    at: try row["decided_at"], evidence: try row["evidence_id"])
                verdicts.append(try RecordedVerdict(row))
            }
            return PolicyHistoryPage(
                verdicts: verdicts, next: rows.count == limit ? last : nil)
        }
    }
}

extension RecordedVerdict {
    /// Reads a decision with its action.
    init(_ row: Row) throws(PostgresError) {
        self.init(
            evidence: try row["evidence_id"], action: try row["action_id"],
            outcome: try Self.outcome(row), content: try ActionColumns.content(row),
            state: try row["inputs"])
    }

    /// What a row of `policy_decision` came to.
    private static func outcome(_ row: Row) throws(PostgresError) -> SimulatedOutcome {
        let word: String = try row["outcome"]
        let hold: String? = try row["hold_rule"]
        return word == Authorization.approved.rawValue
            ? hold.map { .held(rule: $0) } ?? .allowed : .refused(rule: word)
    }
}
