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
    }

    package let until: Instant
    package let rule: Rule

    package init(until: Instant, rule: Rule) {
        self.until = until
        self.rule = rule
    }
}

/// A stored action with where it stands.
package struct RecordedAction: Sendable {
    package let id: ID<Action>
    package let customerID: CustomerID
    package let content: ActionContent
    package let externalID: String?
    package let policyVersion: Int
    package let authorization: Authorization
    package let execution: Execution
    package let hold: Hold?
    package let createdAt: Instant
    package let expiresAt: Instant

    package init(
        id: ID<Action>, customerID: CustomerID, content: ActionContent, externalID: String?,
        policyVersion: Int, authorization: Authorization, execution: Execution, hold: Hold?,
        createdAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.customerID = customerID
        self.content = content
        self.externalID = externalID
        self.policyVersion = policyVersion
        self.authorization = authorization
        self.execution = execution
        self.hold = hold
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The same action in other states, as a decision leaves it or a reader sees it.
    package func with(
        authorization: Authorization, execution: Execution, hold: Hold?
    ) -> RecordedAction {
        RecordedAction(
            id: id, customerID: customerID, content: content, externalID: externalID,
            policyVersion: policyVersion, authorization: authorization, execution: execution,
            hold: hold, createdAt: createdAt, expiresAt: expiresAt)
    }
}

/// A single-use question for one action. At most one per action is live.
package struct Challenge: Sendable {
    /// Where a challenge stands. Every state but `live` is final.
    package enum State: String, Sendable {
        case live
        /// A newer challenge took its place.
        case superseded
        /// Answered, for good or for a refusal by policy.
        case consumed
        /// Its attempts are used up.
        case exhausted
        /// Dead with its action, or by tampering.
        case void
    }

    package let id: ID<Challenge>
    package let state: State
    package let failures: Int
    package let nonce: Bytes
    package let approveMessage: Bytes
    package let rejectMessage: Bytes
    package let createdAt: Instant
    package let expiresAt: Instant

    package init(
        id: ID<Challenge>, state: State, failures: Int, nonce: Bytes, approveMessage: Bytes,
        rejectMessage: Bytes, createdAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.state = state
        self.failures = failures
        self.nonce = nonce
        self.approveMessage = approveMessage
        self.rejectMessage = rejectMessage
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The stored bytes of one of its two messages.
    package func message(_ decision: SignedDecision) -> Bytes {
        switch decision {
        case .approve: approveMessage
        case .reject: rejectMessage
        }
    }
}
