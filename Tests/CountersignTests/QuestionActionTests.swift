import Countersign
import TestSupport
import Testing

extension ChallengeOutcome {
    fileprivate var refusal: DecisionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    fileprivate var isIssued: Bool { if case .issued = self { true } else { false } }
}

extension CancelOutcome {
    fileprivate var refusal: DecisionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    fileprivate var cancelled: RecordedAction? {
        if case .cancelled(let action) = self { action } else { nil }
    }
}

@Suite struct `Asking again` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    @Test func `makes the earlier challenge dead`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let outcome = try await bank.question.issueChallenge(for: asked.action.id)
        #expect(outcome.isIssued)
        #expect(bank.store.now.challenges[asked.challenge.id]?.challenge.state == .superseded)
        #expect(bank.store.now.challenges.count == 2)
        #expect(
            try await bank.decide(bank.command(.approve, asked)).refusal == .challengeSuperseded)
    }

    @Test func `is possible only while the action is pending`() async throws {
        let refusals: [(Authorization, DecisionRefusal)] = [
            (.approved, .alreadyDecided(.approved)), (.rejected, .alreadyDecided(.rejected)),
            (.cancelled, .actionCancelled), (.expired, .actionExpired),
            (.failed, .attemptsExhausted),
        ]
        for (authorization, refusal) in refusals {
            let asked = try bank.ask(try Fixtures.transfer())
            let closed = asked.action.with(
                authorization: authorization, execution: .none, hold: nil)
            bank.store.change { $0.actions[asked.action.id]?.action = closed }
            let outcome = try await bank.question.issueChallenge(for: asked.action.id)
            #expect(outcome.refusal == refusal)
            #expect(bank.store.now.challenges[asked.challenge.id]?.challenge.state == .live)
        }
        #expect(
            try await bank.question.issueChallenge(for: Fixtures.id(900)).refusal == .notFound)
    }

    @Test func `ends with the action, to the instant`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.at = asked.action.expiresAt }
        #expect(
            try await bank.question.issueChallenge(for: asked.action.id).refusal == .actionExpired)
        bank.store.change {
            $0.at = Instant(milliseconds: asked.action.expiresAt.milliseconds - 1)
        }
        #expect(try await bank.question.issueChallenge(for: asked.action.id).isIssued)
    }

    @Test func `is not possible while the customer is locked, which is told before the attempts`()
        async throws
    {
        let until = Fixtures.at + Seconds(60)
        let asked = try bank.ask(try Fixtures.transfer())
        let failed = asked.action.with(authorization: .failed, execution: .none, hold: nil)
        bank.store.change { $0.lockedUntil = until }
        #expect(
            try await bank.question.issueChallenge(for: asked.action.id).refusal
                == .customerLocked(until: until))
        bank.store.change { $0.actions[asked.action.id]?.action = failed }
        #expect(
            try await bank.question.issueChallenge(for: asked.action.id).refusal
                == .customerLocked(until: until))
    }

    @Test func `is not possible for an action whose columns are no values`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.actions[asked.action.id]?.isIntact = false }
        #expect(
            try await bank.question.issueChallenge(for: asked.action.id).refusal
                == .authenticationFailed)
    }

    @Test func `has bounded races and open challenges`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.lostRace, .lostRace] }
        #expect(try await bank.question.issueChallenge(for: asked.action.id).isIssued)
        bank.store.change { $0.faults = Array(repeating: .lostRace, count: 1000) }
        await #expect(throws: StoreFailure.unavailable) {
            try await bank.question.issueChallenge(for: asked.action.id)
        }
        bank.store.change { $0.faults = [] }
        let policy = try Fixtures.policy(setting: "open_challenges_max", to: .integer(1))
        bank.store.change { $0.policy = policy }
        guard
            case .tooManyOpen(retryAfter: Seconds(300)) =
                try await bank.question.issueChallenge(for: asked.action.id)
        else {
            Issue.record("no bound on open challenges")
            return
        }
    }
}

@Suite struct `Cancelling` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    /// Every pair of states that an action can be in, and what cancelling it comes to.
    @Test(
        arguments: [
            (.pending, .none, nil), (.approved, .held, nil), (.approved, .ready, nil),
            (.approved, .inProgress, .alreadyDecided(.approved)),
            (.approved, .executed, .alreadyDecided(.approved)),
            (.approved, .refused, .alreadyDecided(.approved)),
            (.approved, .unknown, .alreadyDecided(.approved)),
            (.approved, .cancelled, .actionCancelled), (.cancelled, .none, .actionCancelled),
            (.rejected, .none, .alreadyDecided(.rejected)), (.expired, .none, .actionExpired),
            (.failed, .none, .attemptsExhausted),
        ] as [(Authorization, Execution, DecisionRefusal?)])
    func `is possible until core banking was told`(
        authorization: Authorization, execution: Execution, refusal: DecisionRefusal?
    ) async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let moved = asked.action.with(
            authorization: authorization, execution: execution, hold: nil)
        bank.store.change {
            $0.actions[asked.action.id]?.action = moved
            // A lock does not matter: cancelling can only stop something.
            $0.lockedUntil = Fixtures.at + Seconds(60)
        }
        let outcome = try await bank.question.cancel(asked.action.id, reason: "customer called")
        #expect(outcome.refusal == refusal)
        guard refusal == nil else { return }
        let cancelled = try #require(outcome.cancelled)
        #expect(cancelled.authorization == (authorization == .pending ? .cancelled : .approved))
        #expect(cancelled.execution == (authorization == .pending ? .none : .cancelled))
    }

    @Test func `of a pending action is possible only before it expires`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.at = asked.action.expiresAt }
        #expect(
            try await bank.question.cancel(asked.action.id, reason: "late").refusal
                == .actionExpired)
        // What was approved is held or waits after that as well.
        let held = asked.action.with(authorization: .approved, execution: .held, hold: nil)
        bank.store.change { $0.actions[asked.action.id]?.action = held }
        #expect(try await bank.question.cancel(asked.action.id, reason: "late").cancelled != nil)
    }

    @Test func `of nothing finds nothing`() async throws {
        #expect(
            try await bank.question.cancel(Fixtures.id(900), reason: "x").refusal == .notFound)
    }

    @Test func `that lost a race is looked at again, not for ever`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.lostRace] }
        #expect(try await bank.question.cancel(asked.action.id, reason: "x").cancelled != nil)
        let other = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = Array(repeating: .lostRace, count: 1000) }
        await #expect(throws: StoreFailure.unavailable) {
            try await bank.question.cancel(other.action.id, reason: "x")
        }
    }
}
