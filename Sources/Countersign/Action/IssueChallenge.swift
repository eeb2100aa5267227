/// What came of asking for another challenge.
package enum ChallengeOutcome: Sendable {
    /// The member `challenge` of the answer.
    case issued(JSON)
    case refused(DecisionRefusal)
    /// More live challenges than the policy allows for one customer.
    case tooManyOpen(retryAfter: Seconds)
}

/// Asks the customer again.
package struct IssueChallenge<Store: ActionStore>: Sendable {
    private let store: Store
    private let issuer: ChallengeIssuer

    /// As for ``DecideAction``.
    private static var racesMax: Int { 100 }

    package init(store: Store, issuer: ChallengeIssuer) {
        self.store = store
        self.issuer = issuer
    }

    /// Issues another challenge; the earlier one is dead.
    ///
    /// - Throws: ``StoreFailure``; asking again is safe.
    package func callAsFunction(
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
            guard context.actionIsIntact else {
                // Told only once it is on record: after a lost race nothing was written.
                guard case .done = try await store.commit(.tampered, on: context) else { continue }
                return .refused(.authenticationFailed)
            }
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
}
