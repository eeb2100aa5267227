/// What decisions came to, and what they would have come to under a draft.
///
/// Memory does not grow with the number of decisions.
package struct PolicyComparison: Sendable {
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

        package init(
            action: ID<Action>, kind: ActionKind, decidedAt: Instant, before: SimulatedOutcome,
            after: SimulatedOutcome
        ) {
            self.action = action
            self.kind = kind
            self.decidedAt = decidedAt
            self.before = before
            self.after = after
        }
    }

    /// A currency and a power of ten of its minor units, from which the band reaches to the next.
    package struct Band: Hashable, Sendable {
        package let currency: Currency
        package let from: Int64

        /// Takes what was recorded of a band.
        package init(currency: Currency, from: Int64) {
            self.currency = currency
            self.from = from
        }

        /// The band of an amount.
        package init(_ amount: Money) {
            currency = amount.currency
            var from: Int64 = 1
            while from <= amount.minorUnits / 10 { from *= 10 }
            self.from = from
        }

        /// The band of a transfer's amount; `nil` for every other action.
        package init?(_ content: ActionContent) {
            guard case .transfer(let transfer) = content else { return nil }
            self.init(transfer.amount)
        }
    }

    /// Decisions by `allowed`, `held` and `refused`.
    package private(set) var outcomes: [String: Count] = [:]
    /// Decisions that were held or refused, by the word of the rule.
    package private(set) var rules: [String: Count] = [:]
    /// Transfers that were held or refused, by currency and band of amount.
    package private(set) var bands: [Band: Count] = [:]
    package private(set) var decided = 0
    package private(set) var changed = 0
    /// Decisions that could not be decided again, and are counted nowhere else: their record, or
    /// the draft, cannot be read.
    package private(set) var undecidable = 0
    /// Some of the changed ones, as many as are listed.
    package private(set) var changes: [Change] = []

    /// Nothing compared yet.
    package init() {}

    /// Counts decisions that are alike.
    ///
    /// - Parameters:
    ///   - before: What they came to.
    ///   - after: What they would have come to.
    ///   - band: The band of their amount, when they are transfers.
    ///   - times: How many there are.
    package mutating func count(
        before: SimulatedOutcome, after: SimulatedOutcome, band: Band?, times: Int = 1
    ) {
        decided += times
        outcomes[before.word, default: Count()].before += times
        outcomes[after.word, default: Count()].after += times
        if let rule = before.rule { rules[rule, default: Count()].before += times }
        if let rule = after.rule { rules[rule, default: Count()].after += times }
        if let band {
            if before != .allowed { bands[band, default: Count()].before += times }
            if after != .allowed { bands[band, default: Count()].after += times }
        }
        if before != after { changed += times }
    }

    /// Counts decisions that cannot be decided again.
    package mutating func countUndecidable(times: Int = 1) { undecidable += times }

    /// Lists a change that was counted.
    package mutating func list(_ change: Change) { changes.append(change) }
}

extension PolicyComparison {
    /// The report with what it says of itself.
    ///
    /// - Parameter isComplete: Whether it is about all decisions that were asked for.
    /// - Returns: The report, as the API and the command line show it.
    package func report(isComplete: Bool) -> JSON {
        .object(
            [
                .init("complete", .bool(isComplete)),
                .init("undecidable", .integer(Int64(undecidable))),
            ] + members)
    }

    private var members: [JSON.Member] {
        [
            .init("decided", .integer(Int64(decided))),
            .init("changed", .integer(Int64(changed))),
            .init("outcomes", counts(outcomes)),
            .init("rules", counts(rules)),
            .init(
                "amount_bands",
                .array(
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
                    })),
            .init("changes", .array(changes.map(\.json))),
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

extension PolicyComparison.Change {
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
