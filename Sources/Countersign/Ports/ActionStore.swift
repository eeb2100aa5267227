/// What creating, questioning and cancelling actions needs from the database.
package protocol ActionStore: DecisionStore {
    /// Reads what a creation needs; makes the customer known first when it is not.
    func loadForCreation(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationContext

    /// Stores an action with its first challenge, its evidence and the answer under its key.
    func create(
        _ creation: ActionCreation, on context: CreationContext
    ) async throws(StoreFailure) -> CreationResult

    /// The customer's active passkeys.
    func passkeys(of subject: ID<Subject>) async throws(StoreFailure) -> [ListedPasskey]

    /// Stores another challenge; the earlier one is dead from then on.
    func issue(
        _ challenge: Challenge, on context: DecisionContext
    ) async throws(StoreFailure) -> IssueResult

    /// Cancels an action that is pending, held, or ready and never tried.
    ///
    /// - Returns: `nil` for a lost race, else the action as it then is.
    func cancel(
        reason: String, on context: DecisionContext
    ) async throws(StoreFailure) -> RecordedAction?
}

/// What was read to create an action.
package struct CreationContext: Sendable {
    package let at: Instant
    package let policy: Policy
    /// What the policy would look at if the action were approved now by the best of credentials.
    package let state: RecordedState
    /// The customer's active passkeys.
    package let passkeys: [ListedPasskey]
    /// What was answered under the same key before.
    package let answered: AnsweredCommand?
    package let subject: ID<Subject>
    /// The customer's data key, wrapped.
    package let wrappedKey: Bytes

    package init(
        at: Instant, policy: Policy, state: RecordedState, passkeys: [ListedPasskey],
        answered: AnsweredCommand?,
        subject: ID<Subject>, wrappedKey: Bytes
    ) {
        self.at = at
        self.policy = policy
        self.state = state
        self.passkeys = passkeys
        self.answered = answered
        self.subject = subject
        self.wrappedKey = wrappedKey
    }
}

/// A command that was carried out under an idempotency key.
package struct AnsweredCommand: Sendable {
    package let fingerprint: Digest
    package let answer: Bytes

    package init(fingerprint: Digest, answer: Bytes) {
        self.fingerprint = fingerprint
        self.answer = answer
    }
}

/// An action to be stored.
package struct ActionCreation: Sendable {
    package let command: CreateActionCommand
    package let fingerprint: Digest
    package let action: RecordedAction
    package let challenge: Challenge
    package let answer: Bytes
}

/// What came of storing an action.
package enum CreationResult: Sendable {
    case created
    /// Another request with this key was quicker: read its answer.
    case keyUsed
    /// Another request with this key has not finished within the time to wait.
    case keyInFlight
    case externalIDExists
    case tooManyOpen
}

/// What came of storing another challenge.
package enum IssueResult: Sendable {
    case issued, lostRace, tooManyOpen
}
