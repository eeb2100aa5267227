import Countersign
import TestSupport
import Testing

extension ChallengeOutcome {
    fileprivate var refusal: DecisionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    fileprivate var isIssued: Bool { if case .issued = self { true } else { false } }
}

@Suite struct `Asking again` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    @Test func `makes the earlier challenge dead`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let outcome = try await bank.issueChallenge(for: asked.action.id)
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
            let outcome = try await bank.issueChallenge(for: asked.action.id)
            #expect(outcome.refusal == refusal)
            #expect(bank.store.now.challenges[asked.challenge.id]?.challenge.state == .live)
        }
        #expect(
            try await bank.issueChallenge(for: Fixtures.id(900)).refusal == .notFound)
    }

    @Test func `ends with the action, to the instant`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.at = asked.action.expiresAt }
        #expect(
            try await bank.issueChallenge(for: asked.action.id).refusal == .actionExpired)
        bank.store.change {
            $0.at = Instant(milliseconds: asked.action.expiresAt.milliseconds - 1)
        }
        #expect(try await bank.issueChallenge(for: asked.action.id).isIssued)
    }

    @Test func `is not possible while the customer is locked, which is told before the attempts`()
        async throws
    {
        let until = Fixtures.at + Seconds(60)
        let asked = try bank.ask(try Fixtures.transfer())
        let failed = asked.action.with(authorization: .failed, execution: .none, hold: nil)
        bank.store.change { $0.lockedUntil = until }
        #expect(
            try await bank.issueChallenge(for: asked.action.id).refusal
                == .customerLocked(until: until))
        bank.store.change { $0.actions[asked.action.id]?.action = failed }
        #expect(
            try await bank.issueChallenge(for: asked.action.id).refusal
                == .customerLocked(until: until))
    }

    @Test func `is not possible for an action whose columns are no values`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.actions[asked.action.id]?.isIntact = false }
        #expect(
            try await bank.issueChallenge(for: asked.action.id).refusal
                == .authenticationFailed)
    }

    @Test func `is refused for tampering only once that is on record`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change {
            $0.actions[asked.action.id]?.isIntact = false
            $0.faults = [.lostRace]
        }
        #expect(
            try await bank.issueChallenge(for: asked.action.id).refusal
                == .authenticationFailed)
        let written = bank.store.now.rulings.count { ruling in
            if case .tampered = ruling { true } else { false }
        }
        #expect(written == 2)
    }

    @Test func `has bounded races and open challenges`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.lostRace, .lostRace] }
        #expect(try await bank.issueChallenge(for: asked.action.id).isIssued)
        bank.store.change { $0.faults = Array(repeating: .lostRace, count: 1000) }
        await #expect(throws: StoreFailure.unavailable) {
            try await bank.issueChallenge(for: asked.action.id)
        }
        bank.store.change { $0.faults = [] }
        let policy = try Fixtures.policy(setting: "open_challenges_max", to: .integer(1))
        bank.store.change { $0.policy = policy }
        guard
            case .tooManyOpen(retryAfter: Seconds(300)) =
                try await bank.issueChallenge(for: asked.action.id)
        else {
            Issue.record("no bound on open challenges")
            return
        }
    }
}
