import Countersign
import TestSupport
import Testing

extension CancelOutcome {
    fileprivate var refusal: DecisionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    fileprivate var cancelled: RecordedAction? {
        if case .cancelled(let action) = self { action } else { nil }
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
        let outcome = try await bank.cancelAction(asked.action.id, reason: "customer called")
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
            try await bank.cancelAction(asked.action.id, reason: "late").refusal
                == .actionExpired)
        // What was approved is held or waits after that as well.
        let held = asked.action.with(authorization: .approved, execution: .held, hold: nil)
        bank.store.change { $0.actions[asked.action.id]?.action = held }
        #expect(try await bank.cancelAction(asked.action.id, reason: "late").cancelled != nil)
    }

    @Test func `of nothing finds nothing`() async throws {
        #expect(
            try await bank.cancelAction(Fixtures.id(900), reason: "x").refusal == .notFound)
    }

    @Test func `that lost a race is looked at again, not for ever`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.lostRace] }
        #expect(try await bank.cancelAction(asked.action.id, reason: "x").cancelled != nil)
        let other = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = Array(repeating: .lostRace, count: 1000) }
        await #expect(throws: StoreFailure.unavailable) {
            try await bank.cancelAction(other.action.id, reason: "x")
        }
    }
}
