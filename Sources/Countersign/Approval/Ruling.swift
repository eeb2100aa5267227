/// What a decision comes to, before it is written. Made by a pure function, so it can be made again.
package enum Ruling: Sendable {
    /// Nothing is to be written.
    case answer(DecisionOutcome)
    case approve(SignedRuling, Allowance)
    case reject(SignedRuling)
    /// A rejection without an assertion: it can only stop something, and evidence says that it is
    /// unsigned.
    case rejectUnsigned(reason: RejectionReason)
    /// A good proof of something that the policy does not allow.
    case refuse(SignedRuling, PolicyRefusal)
    /// A proof that was not believed; one more failed attempt.
    case fail(FailedAttempt)
    /// The stored message and the stored action disagree.
    case tampered
}

/// A proof that was believed, with what it was a proof of.
package struct SignedRuling: Sendable {
    package let challenge: Challenge
    package let credential: RegisteredCredential
    package let assertion: UnverifiedAssertion
    package let verified: VerifiedAssertion
    /// The stored bytes that were signed.
    package let message: Bytes
    package let state: RecordedState
    /// SHA-256 of the assertion's bytes.
    package let assertionDigest: Digest
}

/// One attempt that failed, and what the counts make of it.
package struct FailedAttempt: Sendable {
    package let challenge: Challenge
    package let assertion: UnverifiedAssertion
    package let reason: VerificationFailure
    /// No further attempt at this challenge.
    package let exhaustsChallenge: Bool
    /// No further challenge for this action: it becomes `failed`.
    package let failsAction: Bool
    /// The customer is locked until then.
    package let locksUntil: Instant?
    /// The credential is suspended, and this ends with it; `nil` when it is not.
    package let suspends: OpenQuestions?
}

/// Why a customer said no without signing; the raw value is its word in the API.
package enum RejectionReason: String, CaseIterable, Sendable {
    case notMe = "not_me"
    case incorrectData = "incorrect_data"
    case unexpected
    case other
}

/// What the caller is told about a decision.
package enum DecisionOutcome: Sendable {
    /// The decision as recorded; `replayed` when this same assertion had been accepted before.
    case decided(RecordedDecision, replayed: Bool)
    case refused(DecisionRefusal)
}

/// Why there is no decision, in the order in which the reasons are looked for.
package enum DecisionRefusal: Equatable, Sendable {
    /// No such action, or no such challenge of this action.
    case notFound
    case alreadyDecided(Authorization)
    case actionExpired
    case actionCancelled
    case challengeSuperseded
    case challengeConsumed
    case challengeExpired
    case customerLocked(until: Instant)
    /// This challenge or this action takes no further attempt.
    case attemptsExhausted
    /// Whatever was wrong with the proof; the reason is in evidence only (RTS Art. 4(3)(a)).
    case authenticationFailed
    case policy(PolicyRefusal)
}

extension DecisionRefusal {
    /// Why an action takes no decision any more; `nil` while it is pending, and when its attempts are
    /// used up, which is looked at later.
    ///
    /// An action counts as expired as soon as its time has passed, whenever that is written.
    package init?(closed action: RecordedAction, at: Instant) {
        switch action.authorization {
        case .approved, .rejected: self = .alreadyDecided(action.authorization)
        case .cancelled: self = .actionCancelled
        case .expired: self = .actionExpired
        case .failed: return nil
        case .pending:
            guard at >= action.expiresAt else { return nil }
            self = .actionExpired
        }
    }

    /// Why a challenge takes no answer any more; `nil` while it is live, and when its attempts are
    /// used up, which is looked at later.
    init?(dead challenge: Challenge, at: Instant) {
        switch challenge.state {
        case .superseded: self = .challengeSuperseded
        case .consumed, .void: self = .challengeConsumed
        case .live, .exhausted:
            guard at >= challenge.expiresAt else { return nil }
            self = .challengeExpired
        }
    }

    /// That a customer may not answer for now; `nil` when there is no lock.
    init?(locked customer: CustomerStanding, at: Instant) {
        guard let until = customer.lockedUntil, until > at else { return nil }
        self = .customerLocked(until: until)
    }

    /// That the action's attempts are used up, or those of its challenge.
    init?(exhausted action: RecordedAction, _ challenge: Challenge? = nil) {
        guard action.authorization == .failed || challenge?.state == .exhausted else { return nil }
        self = .attemptsExhausted
    }
}
