/// Whether the customer agreed. Final once it has left `pending`.
///
/// ```
/// pending ─▶ approved | rejected | expired | cancelled | failed
/// ```
package enum Authorization: String, CaseIterable, Sendable {
    case pending, approved, rejected, expired, cancelled
    /// All attempts are used up.
    case failed
}

/// What became of an approved action.
///
/// ```
/// none ─▶ held | ready      held ─▶ ready | cancelled      ready ─▶ in_progress | cancelled
/// in_progress ─▶ executed | refused | unknown               unknown ─▶ executed | refused
/// ```
package enum Execution: String, CaseIterable, Sendable {
    /// Not approved, so there is nothing to execute.
    case none
    /// Approved; not before its hold ends.
    case held
    /// Waits for its first delivery; the last state in which it can be cancelled.
    case ready
    /// Sent to core banking at least once. It may have taken effect, so there is no way back.
    case inProgress = "in_progress"
    case executed
    /// Core banking said no.
    case refused
    /// Core banking never gave an answer; it is asked until it does, never guessed.
    case unknown
    case cancelled
}

/// A time before which an approved action is not executed, with the rule that set it.
package struct Hold: Hashable, Sendable {
    /// The rules of a policy that hold; the raw value is the word in answers and evidence.
    package enum Rule: String, CaseIterable, Sendable {
        case payeeCoolingOff = "payee_cooling_off"
        case newCredentialCoolingOff = "new_credential_cooling_off"
        case contactChangeHold = "contact_change_hold"
        case recoveryHold = "recovery_hold"
        /// The bank gave a signal of risk.
        case signal
        /// What the bank's check of the payee's name found.
        case nameCheck = "name_check"
        /// A customer raises an own limit.
        case limitChangeDelay = "limit_change_delay"
        /// Officers approved it for a customer without a key.
        case assistedHold = "assisted_hold"
    }

    /// What happens when the time has come and nobody has decided.
    package enum End: String, CaseIterable, Sendable {
        case release, cancel
    }

    package let until: Instant
    package let rule: Rule
    package let end: End

    package init(until: Instant, rule: Rule, end: End) {
        self.until = until
        self.rule = rule
        self.end = end
    }
}
