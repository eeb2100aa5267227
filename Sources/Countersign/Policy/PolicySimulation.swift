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
    /// How many decisions came to what.
    package struct Count: Hashable, Sendable {
        package var before = 0
        package var after = 0
    }

    /// A decision that would have come to something else.
    package struct Change: Sendable, Equatable {
        package let action: ID<Action>
        package let kind: ActionKind
        package let decidedAt: Instant
        package let before: SimulatedOutcome
        package let after: SimulatedOutcome
    }

    /// Decisions by `allowed`, `held` and `refused`.
    package private(set) var outcomes: [String: Count] = [:]
    /// Decisions that were held or refused, by the word of the rule.
    package private(set) var rules: [String: Count] = [:]
    /// Transfers that were held or refused, by currency and band of amount.
    package private(set) var bands: [Band: Count] = [:]
    package private(set) var decided = 0
    package private(set) var changed = 0
    /// The first of the changed ones, as many as were asked for.
    package private(set) var changes: [Change] = []

    private let draft: Policy
    private let changesMax: Int

    /// - Parameters:
    ///   - draft: The rules to try; its version means nothing.
    ///   - changesMax: How many changed decisions are listed.
    package init(draft: Policy, changesMax: Int) {
        self.draft = draft
        self.changesMax = changesMax
    }

    /// A currency and a power of ten of its minor units, from which the band reaches to the next.
    package struct Band: Hashable, Sendable {
        package let currency: Currency
        package let from: Int64

        init(_ amount: Money) {
            currency = amount.currency
            var from: Int64 = 1
            while from <= amount.minorUnits / 10 { from *= 10 }
            self.from = from
        }
    }

    /// Decides one more.
    package mutating func replay(_ recorded: RecordedVerdict) {
        let before = recorded.outcome
        let after = SimulatedOutcome(draft.decide(recorded.content, recorded.state))
        decided += 1
        outcomes[before.word, default: Count()].before += 1
        outcomes[after.word, default: Count()].after += 1
        if let rule = before.rule { rules[rule, default: Count()].before += 1 }
        if let rule = after.rule { rules[rule, default: Count()].after += 1 }
        if case .transfer(let transfer) = recorded.content {
            let band = Band(transfer.amount)
            if before != .allowed { bands[band, default: Count()].before += 1 }
            if after != .allowed { bands[band, default: Count()].after += 1 }
        }
        guard before != after else { return }
        changed += 1
        if changes.count < changesMax {
            changes.append(
                Change(
                    action: recorded.action, kind: recorded.content.kind,
                    decidedAt: recorded.state.at, before: before, after: after))
        }
    }
}

extension PolicySimulation {
    /// The report, as the API and the command line show it.
    package var json: JSON {
        [
            "decided": .integer(Int64(decided)),
            "changed": .integer(Int64(changed)),
            "outcomes": counts(outcomes),
            "rules": counts(rules),
            "amount_bands": .array(
                bands.sorted {
                    ($0.key.currency.code, $0.key.from) < ($1.key.currency.code, $1.key.from)
                }
                .map { band, count in
                    [
                        "currency": .string(band.currency.code),
                        "from": .string(
                            Money(minorUnits: band.from, currency: band.currency).decimal),
                        "before": .integer(Int64(count.before)),
                        "after": .integer(Int64(count.after)),
                    ]
                }),
            "changes": .array(changes.map(\.json)),
        ]
    }

    private func counts(_ counts: [String: Count]) -> JSON {
        .object(
            counts.sorted { $0.key < $1.key }.map { name, count in
                .init(
                    name,
                    [
                        "before": .integer(Int64(count.before)),
                        "after": .integer(Int64(count.after)),
                    ])
            })
    }
}

extension PolicySimulation.Change {
    fileprivate var json: JSON {
        [
            "action_id": .string(action.text), "kind": .string(kind.rawValue),
            "decided_at": .string(decidedAt.text), "before": before.json, "after": after.json,
        ]
    }
}

extension SimulatedOutcome {
    fileprivate var json: JSON { ["outcome": .string(word), "rule": .optional(rule)] }
}
