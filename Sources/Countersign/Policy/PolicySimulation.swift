/// A decision as it was recorded, to be decided again.
package struct RecordedVerdict: Sendable {
    package let action: ID<Action>
    package let content: ActionContent
    package let state: RecordedState
    package let outcome: SimulatedOutcome

    package init(
        action: ID<Action>, content: ActionContent, state: RecordedState, outcome: SimulatedOutcome
    ) {
        self.action = action
        self.content = content
        self.state = state
        self.outcome = outcome
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
/// Each is decided on what was recorded then, by itself: a transfer that the draft refuses still counts in
/// the sums of those after it. Pure; memory does not grow with the number of decisions.
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

    /// Decides one more.
    package mutating func replay(_ recorded: RecordedVerdict) {
        let before = recorded.outcome
        let after = SimulatedOutcome(draft.decide(recorded.content, recorded.state))
        comparison.count(
            before: before, after: after, band: PolicyComparison.Band(recorded.content))
        guard before != after, comparison.changes.count < changesMax else { return }
        comparison.list(
            PolicyComparison.Change(
                action: recorded.action, kind: recorded.content.kind,
                decidedAt: recorded.state.at, before: before, after: after))
    }
}
