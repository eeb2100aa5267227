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
                if let verdict = try RecordedVerdict(row) { verdicts.append(verdict) }
            }
            return PolicyHistoryPage(
                verdicts: verdicts, unreadable: rows.count - verdicts.count,
                next: rows.count == limit ? last : nil)
        }
    }
}

extension RecordedVerdict {
    /// Reads a decision; `nil` when what it looked at, or its action, says nothing that can be decided.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        let inputs: Bytes = try row["inputs"]
        guard let content = try ActionColumns.content(row),
            let state = RecordedState(decoding: inputs)
        else { return nil }
        self.init(
            action: try row["action_id"], content: content, state: state,
            outcome: try Self.outcome(row))
    }

    /// What a row of `policy_decision` came to.
    static func outcome(_ row: Row) throws(PostgresError) -> SimulatedOutcome {
        let word: String = try row["outcome"]
        let hold: String? = try row["hold_rule"]
        return word == Authorization.approved.rawValue
            ? hold.map { .held(rule: $0) } ?? .allowed : .refused(rule: word)
    }
}
