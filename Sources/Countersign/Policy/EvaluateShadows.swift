/// What a decision would have come to under a shadow.
package struct ShadowVerdict: Sendable {
    package let evidence: ID<Evidence>
    /// `nil` when the action cannot be read.
    package let kind: ActionKind?
    package let band: PolicyComparison.Band?
    package let before: SimulatedOutcome
    /// `nil` when it cannot be decided again.
    package let after: SimulatedOutcome?

    /// Decides.
    ///
    /// - Parameters:
    ///   - decision: What was recorded.
    ///   - policy: The draft; `nil` when it cannot be read.
    package init(_ decision: RecordedVerdict, under policy: Policy?) {
        evidence = decision.evidence
        before = decision.outcome
        let inputs = decision.inputs()
        kind = inputs?.content.kind
        band = inputs.flatMap { PolicyComparison.Band($0.content) }
        guard let policy, let (content, state) = inputs else {
            after = nil
            return
        }
        after = SimulatedOutcome(policy.decide(content, state))
    }

    /// The word of ``after`` in the database and in metrics.
    package var word: String { after?.word ?? "undecidable" }
}

/// Decides under each shadow what was decided under the policy in force.
///
/// Any number of instances may do it at once: a verdict is a pure function of recorded inputs, and
/// the database keeps one of each.
package struct EvaluateShadows: Sendable {
    private let queue: any ShadowQueue
    private let report: @Sendable (ShadowVerdict) -> Void

    /// Decisions of one transaction.
    package static let batchMax = 500
    /// Batches of one shadow before the next one has its turn.
    package static let batchesMax = 20

    /// - Parameters:
    ///   - queue: Where decisions come from.
    ///   - report: Told each verdict that was recorded; must return at once.
    package init(
        queue: any ShadowQueue, report: @escaping @Sendable (ShadowVerdict) -> Void
    ) {
        self.queue = queue
        self.report = report
    }

    /// One round over all shadows.
    ///
    /// - Parameter reach: How far back to look; `whole` once a minute is enough.
    /// - Returns: Whether there may be more to do at once.
    /// - Throws: ``StoreFailure``, after every shadow had its turn; the next round tries again.
    package func callAsFunction(_ reach: ShadowReach) async throws(StoreFailure) -> Bool {
        var hasMore = false
        var failure: StoreFailure?
        for shadow in try await queue.incomplete() {
            do throws(StoreFailure) {
                if try await evaluate(shadow, reach) { hasMore = true }
            } catch {
                // What is wrong with one stops none of the others.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return hasMore
    }

    private func evaluate(
        _ shadow: EvaluatedShadow, _ reach: ShadowReach
    ) async throws(StoreFailure) -> Bool {
        for _ in 0..<Self.batchesMax {
            let decisions = try await queue.undecided(
                by: shadow.id, limit: Self.batchMax, reach: reach)
            if !decisions.isEmpty {
                let verdicts = decisions.map { ShadowVerdict($0, under: shadow.policy) }
                let recorded = try await queue.record(verdicts, of: shadow.id)
                for verdict in verdicts where recorded.contains(verdict.evidence) {
                    report(verdict)
                }
            }
            if decisions.count < Self.batchMax {
                try await queue.advance(shadow.id)
                return false
            }
        }
        return true
    }
}
