package import Countersign

/// What the database's functions do with a ruling: check everything, then write.
extension MemoryWorld {
    mutating func write(_ ruling: Ruling, _ context: DecisionContext) -> CommitResult {
        let id = context.action.id
        switch ruling {
        case .answer(let outcome): return .done(outcome)
        case .approve(let signed, let allowance):
            guard holds(signed, context), fits(allowance.reservations) else { return .lostRace }
            for reservation in allowance.reservations {
                let key = "\(reservation.dimension) \(reservation.windowStart)"
                counters[key, default: 0] += reservation.amount
            }
            spend(signed.challenge.id, .consumed)
            contactHoldUntil = [contactHoldUntil, allowance.contactHoldUntil].compactMap(\.self)
                .max()
            version += 1
            failures = 0
            let execution: Execution = allowance.hold == nil ? .ready : .held
            return decide(id, .approved, execution, allowance.hold, signed)
        case .reject(let signed):
            guard holds(signed, context) else { return .lostRace }
            spend(signed.challenge.id, .consumed)
            failures = 0
            return decide(id, .rejected, .none, nil, signed)
        case .rejectUnsigned:
            guard isPending(context) else { return .lostRace }
            voidChallenges(of: id)
            return decide(id, .rejected, .none, nil, nil)
        case .refuse(let signed, let refusal):
            guard holds(signed, context) else { return .lostRace }
            spend(signed.challenge.id, .consumed)
            actions[id]?.sequence += 1
            failures = 0
            return .done(.refused(.policy(refusal)))
        case .fail(let attempt): return record(attempt, context)
        case .tampered:
            guard actions[id]?.sequence == context.versions.action.length else { return .lostRace }
            actions[id]?.sequence += 1
            voidChallenges(of: id)
            return .done(.refused(.authenticationFailed))
        }
    }

    private func isPending(_ context: DecisionContext) -> Bool {
        guard let stored = actions[context.action.id] else { return false }
        return stored.action.authorization == .pending && stored.action.expiresAt > at
            && stored.sequence == context.versions.action.length
    }

    private func isUnlocked() -> Bool { lockedUntil.map { $0 <= at } ?? true }

    private func isLive(_ challenge: ID<Challenge>) -> Bool {
        challenges[challenge].map { $0.challenge.state == .live && $0.challenge.expiresAt > at }
            ?? false
    }

    private func holds(_ signed: SignedRuling, _ context: DecisionContext) -> Bool {
        version == context.versions.customer && isUnlocked() && isPending(context)
            && isLive(signed.challenge.id)
            && credentials.contains { $0.id == signed.credential.id && $0.isActive }
    }

    private func fits(_ reservations: [Reservation]) -> Bool {
        reservations.allSatisfy { used($0.dimension, $0.windowStart) + $0.amount <= $0.cap }
    }

    private mutating func record(
        _ attempt: FailedAttempt, _ context: DecisionContext
    ) -> CommitResult {
        let id = context.action.id
        guard failures == context.customer.failures, isUnlocked(), isPending(context),
            isLive(attempt.challenge.id)
        else { return .lostRace }
        let isDead = attempt.exhaustsChallenge || attempt.failsAction
        spend(attempt.challenge.id, isDead ? .exhausted : .live, failed: true)
        actions[id]?.failures += 1
        actions[id]?.sequence += 1
        if attempt.failsAction { setState(of: id, .failed, .none, nil) }
        failures = attempt.locksUntil == nil ? failures + 1 : 0
        lockedUntil = attempt.locksUntil ?? lockedUntil
        return .done(.refused(.authenticationFailed))
    }

    private mutating func decide(
        _ id: ID<Action>, _ outcome: Authorization, _ execution: Execution, _ hold: Hold?,
        _ signed: SignedRuling?
    ) -> CommitResult {
        setState(of: id, outcome, execution, hold)
        actions[id]?.sequence += 1
        guard let action = actions[id]?.action, let leafHash = Digest(Fixtures.bytes32(8)) else {
            return .lostRace
        }
        let decision = RecordedDecision(
            outcome: outcome, challengeID: signed?.challenge.id,
            assertionDigest: signed?.assertionDigest, action: action, evidenceID: Fixtures.id(40),
            leafHash: leafHash)
        decisions[id] = decision
        return .done(.decided(decision, replayed: false))
    }

    mutating func setState(
        of id: ID<Action>, _ authorization: Authorization, _ execution: Execution, _ hold: Hold?
    ) {
        guard let action = actions[id]?.action else { return }
        actions[id]?.action = action.with(
            authorization: authorization, execution: execution, hold: hold)
    }

    /// Gives a challenge another state, and one more failure when it failed.
    package mutating func spend(
        _ id: ID<Challenge>, _ state: Challenge.State, failed: Bool = false
    ) {
        guard let old = challenges[id]?.challenge else { return }
        challenges[id]?.challenge = Challenge(
            id: old.id, state: state, failures: old.failures + (failed ? 1 : 0), nonce: old.nonce,
            approveMessage: old.approveMessage, rejectMessage: old.rejectMessage,
            createdAt: old.createdAt, expiresAt: old.expiresAt)
    }

    mutating func voidChallenges(of action: ID<Action>) {
        for stored in challenges.values
        where stored.action == action && stored.challenge.state == .live {
            spend(stored.challenge.id, .void)
        }
    }
}
