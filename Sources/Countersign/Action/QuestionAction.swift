/// What came of asking for another challenge.
package enum ChallengeOutcome: Sendable {
    /// The member `challenge` of the answer.
    case issued(JSON)
    case refused(DecisionRefusal)
    /// More live challenges than the policy allows for one customer.
    case tooManyOpen(retryAfter: Seconds)
}

/// What came of cancelling.
package enum CancelOutcome: Sendable {
    case cancelled(RecordedAction)
    case refused(DecisionRefusal)
}

/// Asks again, and takes back.
package struct QuestionAction<Store: ActionStore>: Sendable {
    private let store: Store
    private let issuer: ChallengeIssuer

    private static var racesMax: Int { 100 }

    package init(store: Store, issuer: ChallengeIssuer) {
        self.store = store
        self.issuer = issuer
    }

    /// Issues another challenge; the earlier one is dead.
    ///
    /// - Throws: ``StoreFailure``; asking again is safe.
    package func issueChallenge(
        for action: ID<Action>
    ) async throws(StoreFailure) -> ChallengeOutcome {
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(action: action, challenge: nil, credential: nil)
            else { return .refused(.notFound) }
            if let refusal = DecisionRefusal(closed: context.action, at: context.at)
                ?? DecisionRefusal(locked: context.customer, at: context.at)
                ?? DecisionRefusal(exhausted: context.action)
            {
                return .refused(refusal)
            }
            guard context.actionIsIntact else { return .refused(.authenticationFailed) }
            let rules = context.policy.rules
            let issued = issuer.issue(
                for: context.action, at: context.at, rules: rules,
                passkeys: try await store.passkeys(of: context.versions.subject))
            switch try await store.issue(issued.challenge, on: context) {
            case .issued: return .issued(issued.json)
            case .lostRace: continue
            case .tooManyOpen: return .tooManyOpen(retryAfter: rules.challengeLifetime)
            }
        }
        throw .unavailable
    }

    /// Cancels an action before it is signed, or after that while nothing was sent to core banking.
    ///
    /// - Throws: ``StoreFailure``; asking again is safe.
    package func cancel(
        _ action: ID<Action>, reason: String
    ) async throws(StoreFailure) -> CancelOutcome {
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(action: action, challenge: nil, credential: nil)
            else { return .refused(.notFound) }
            switch context.action.execution {
            case .held, .ready: break
            case .none:
                if let refusal = DecisionRefusal(closed: context.action, at: context.at)
                    ?? DecisionRefusal(exhausted: context.action)
                {
                    return .refused(refusal)
                }
            case .cancelled: return .refused(.actionCancelled)
            case .inProgress, .executed, .refused, .unknown:
                return .refused(.alreadyDecided(context.action.authorization))
            }
            if let cancelled = try await store.cancel(reason: reason, on: context) {
                return .cancelled(cancelled)
            }
        }
        throw .unavailable
    }
}
