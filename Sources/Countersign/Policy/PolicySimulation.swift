/// A decision as it was recorded, to be decided again.
package struct RecordedVerdict: Sendable {
    /// Names the decision.
    package let evidence: ID<Evidence>
    package let action: ID<Action>
    /// What it came to.
    package let outcome: SimulatedOutcome
    private let content: ActionContent?
    private let state: Bytes

    /// - Parameters:
    ///   - evidence: Names the decision.
    ///   - action: What was decided on.
    ///   - outcome: What it came to.
    ///   - content: What it was about; `nil` when that cannot be read.
    ///   - state: What it looked at, as it was recorded.
    package init(
        evidence: ID<Evidence>, action: ID<Action>, outcome: SimulatedOutcome,
        content: ActionContent?, state: Bytes
    ) {
        self.evidence = evidence
        self.action = action
        self.outcome = outcome
        self.content = content
        self.state = state
    }

    /// What it was about and looked at; `nil` when one of both cannot be read: it was made before
    /// inputs were kept so, or somebody changed it.
    ///
    /// Reading is most of the work of a dry run, so it is done where the decision is made again and not
    /// where its row comes from the database.
    package func inputs() -> (content: ActionContent, state: RecordedState)? {
        guard let content, let state = RecordedState(decoding: state) else { return nil }
        return (content, state)
    }
}

/// What a decision came to, as a dry run compares it.
package enum SimulatedOutcome: Hashable, Sendable {
    case allowed
    /// The word of the rule that holds.
    case held(rule: String)
    /// The word of the rule that refuses.
    case refused(rule: String)

    /// What a verdict comes to.
    package init(_ verdict: PolicyVerdict) {
        switch verdict {
        case .allowed(let allowance):
            self = allowance.hold.map { .held(rule: $0.rule.rawValue) } ?? .allowed
        case .refused(let refusal): self = .refused(rule: refusal.word)
        }
    }

    /// Reads ``word`` and ``rule`` as they were recorded; `nil` when they do not go together.
    package init?(word: String, rule: String?) {
        switch (word, rule) {
        case ("allowed", nil): self = .allowed
        case ("held", let rule?): self = .held(rule: rule)
        case ("refused", let rule?): self = .refused(rule: rule)
        default: return nil
        }
    }

    /// `allowed`, `held` or `refused`.
    package var word: String {
        switch self {
        case .allowed: "allowed"
        case .held: "held"
        case .refused: "refused"
        }
    }

    /// The word of the rule; `nil` for what is allowed at once.
    package var rule: String? {
        switch self {
        case .allowed: nil
        case .held(let rule), .refused(let rule): rule
        }
    }
}

/// The dry run of a draft over recorded decisions: what each would have come to.
///
/// Each is decided on what was recorded then, by itself: a transfer that the draft refuses still
/// counts in the sums of those after it. Pure; memory does not grow with the number of decisions.
package struct PolicySimulation: Sendable {
    /// What the decisions came to so far.
    package private(set) var comparison = PolicyComparison()
    private let draft: Policy
    private let changesMax: Int

    /// - Parameters:
    ///   - draft: The rules to try; its version means nothing.
    ///   - changesMax: How many changed decisions are listed, the first ones.
    package init(draft: Policy, changesMax: Int) {
        self.draft = draft
        self.changesMax = changesMax
    }

    /// Decides one more, when it can be decided again.
    package mutating func replay(_ recorded: RecordedVerdict) {
        guard let (content, state) = recorded.inputs() else {
            comparison.countUndecidable()
            return
        }
        let before = recorded.outcome
        let after = SimulatedOutcome(draft.decide(content, state))
        comparison.count(before: before, after: after, band: PolicyComparison.Band(content))
        guard before != after, comparison.changes.count < changesMax else { return }
        comparison.list(
            PolicyComparison.Change(
                action: recorded.action, kind: content.kind, decidedAt: state.at,
                before: before, after: after))
    }
}
