/// A measure that applies to an action, with the words of its rule.
struct AppliedMeasure {
    /// `signal:<word>` or `name_check:<result>`.
    let rule: String
    /// By what it holds, if it holds.
    let holdRule: Hold.Rule
    let measure: Measure
}

extension PolicyRules {
    /// The measures of the signals that the bank gave and of its name check, as they apply to a kind.
    ///
    /// A signal that the policy does not name does nothing: banks send more than a policy uses.
    func measures(for kind: ActionKind, _ risk: RecordedRisk) -> [AppliedMeasure] {
        var applied = risk.signals.compactMap { word in
            signals[word].map {
                AppliedMeasure(rule: "signal:\(word)", holdRule: .signal, measure: $0)
            }
        }
        if let check = risk.nameCheck, let measure = nameChecks[check] {
            applied.append(
                AppliedMeasure(
                    rule: "name_check:\(check.rawValue)", holdRule: .nameCheck, measure: measure))
        }
        return applied.filter { $0.measure.kinds.contains(kind) }
    }
}
