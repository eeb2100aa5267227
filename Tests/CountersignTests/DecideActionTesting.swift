import Countersign

extension DecisionOutcome {
    /// Why there is no decision; `nil` when there is one.
    var refusal: DecisionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    var decision: (recorded: RecordedDecision, replayed: Bool)? {
        if case .decided(let recorded, let replayed) = self { (recorded, replayed) } else { nil }
    }
}

extension Ruling {
    /// Why a proof was not believed; `nil` for every other ruling.
    var failure: VerificationFailure? {
        if case .fail(let attempt) = self { attempt.reason } else { nil }
    }

    var isTampered: Bool { if case .tampered = self { true } else { false } }
}
