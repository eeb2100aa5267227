/// The decisions of the past, as a dry run reads them.
package protocol PolicyHistory: Sendable {
    /// Recorded decisions of a period, oldest first, a page at a time.
    ///
    /// - Parameters:
    ///   - period: The time of the decisions; its end does not belong to it.
    ///   - position: Where the page before ended; `nil` for the first.
    ///   - limit: The most decisions of a page.
    /// - Returns: The page.
    /// - Throws: ``StoreFailure``.
    func decisions(
        in period: Range<Instant>, after position: PolicyHistoryPosition?, limit: Int
    ) async throws(StoreFailure) -> PolicyHistoryPage
}

/// Decisions in the order of their time.
package struct PolicyHistoryPage: Sendable {
    package let verdicts: [RecordedVerdict]
    /// Where the next page begins; `nil` when this was the last.
    package let next: PolicyHistoryPosition?

    package init(verdicts: [RecordedVerdict], next: PolicyHistoryPosition?) {
        self.verdicts = verdicts
        self.next = next
    }
}

/// A place between two decisions.
package struct PolicyHistoryPosition: Sendable {
    package let at: Instant
    package let evidence: ID<Evidence>

    package init(at: Instant, evidence: ID<Evidence>) {
        self.at = at
        self.evidence = evidence
    }
}

/// Tries a draft on the decisions of a period.
package struct SimulatePolicy: Sendable {
    private let history: any PolicyHistory
    private let sha256: Hasher256

    private static let pageSize = 2000
    /// The most decisions of one dry run.
    package static let decisionsMax = 1_000_000

    package init(history: any PolicyHistory, sha256: Hasher256) {
        self.history = history
        self.sha256 = sha256
    }

    /// - Parameters:
    ///   - rules: What the draft says.
    ///   - period: The time of the decisions.
    ///   - changesMax: How many changed decisions are listed.
    /// - Returns: The report; its `complete` tells whether the period held no more than
    ///   ``decisionsMax``.
    /// - Throws: ``StoreFailure``.
    package func callAsFunction(
        _ rules: PolicyRules, over period: Range<Instant>, changesMax: Int
    ) async throws(StoreFailure) -> JSON {
        var simulation = PolicySimulation(
            draft: Policy(version: 0, digest: sha256([]), rules: rules), changesMax: changesMax)
        var page = try await load(period, after: nil).get()
        while true {
            let next = page.next
            // The next page is read and decoded while this one is decided.
            async let following = next == nil ? nil : await load(period, after: next)
            for verdict in page.verdicts { simulation.replay(verdict) }
            guard simulation.comparison.decided < Self.decisionsMax, let result = await following
            else { return simulation.comparison.report(isComplete: next == nil) }
            page = try result.get()
        }
    }

    private func load(
        _ period: Range<Instant>, after position: PolicyHistoryPosition?
    ) async -> Result<PolicyHistoryPage, StoreFailure> {
        do throws(StoreFailure) {
            return .success(
                try await history.decisions(in: period, after: position, limit: Self.pageSize))
        } catch { return .failure(error) }
    }
}
