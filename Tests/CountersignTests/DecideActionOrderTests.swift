import Countersign
import TestSupport
import Testing

/// When several reasons hold at once, the answer is the earliest of the documented order.
@Suite struct `The order of answers` {
    /// The reasons in the documented order (`docs/api.md`), each with what makes it hold.
    ///
    /// Some cannot hold together, because they are states of one thing; those say so by a group.
    enum Reason: Int, CaseIterable {
        case actionUnknown, challengeUnknown, replay, decided, expired, cancelled
        case superseded, consumed, void, challengeExpired, locked, failed, exhausted
        case tampered, wrongProof, factor, payee, limit

        /// States of one thing exclude each other.
        var group: Int {
            switch self {
            case .replay, .decided, .expired, .cancelled, .failed: 1
            case .superseded, .consumed, .void, .exhausted: 2
            case .challengeUnknown, .actionUnknown: 3
            // Tampering and a wrong proof get the same answer, and so do not tell which was first.
            case .tampered, .wrongProof: 4
            case .challengeExpired, .locked, .factor, .payee, .limit: rawValue + 100
            }
        }
    }

    @Test func `holds for each reason alone`() async throws {
        for reason in Reason.allCases { try await expect([reason]) }
    }

    @Test func `holds for every two reasons at once`() async throws {
        var pairs = 0
        for first in Reason.allCases {
            for second in Reason.allCases
            where first.rawValue < second.rawValue && first.group != second.group {
                // A replay is answered before the challenge is even looked for, but an assertion that
                // was accepted had a challenge of this action.
                if second == .replay, first.group == 3 { continue }
                try await expect([first, second])
                pairs += 1
            }
        }
        #expect(pairs > 100)
    }

    private func expect(_ reasons: [Reason]) async throws {
        let situation = try Situation()
        // Later reasons first: a decision recorded for a replay must see the others as well.
        for reason in reasons.reversed() { try situation.make(reason) }
        let outcome = try await situation.bank.decide(situation.command())
        guard let first = reasons.first else { return }
        #expect(situation.isAnswer(outcome, to: first), "\(reasons) gave \(outcome)")
    }
}

/// A transfer that would be approved, until reasons against it are added.
private final class Situation {
    let bank: TestBank
    private var asked: TestBank.Asked
    private var proof: UnverifiedAssertion
    private var action: ID<Action>
    private var challenge: ID<Challenge>
    private let until = Fixtures.at + Seconds(600)

    init() throws {
        bank = try TestBank()
        asked = try bank.ask(try Fixtures.transfer("500.00"))
        proof = try bank.phone.sign(asked.challenge.approveMessage)
        action = asked.action.id
        challenge = asked.challenge.id
    }

    func command() -> DecideCommand {
        DecideCommand(
            action: action, decision: .approve, proof: .signed(challenge: challenge, proof))
    }

    func make(_ reason: `The order of answers`.Reason) throws {
        let id = asked.action.id
        let challengeID = asked.challenge.id
        switch reason {
        case .actionUnknown: action = Fixtures.id(900)
        case .challengeUnknown: challenge = try bank.ask(Fixtures.newPayee()).challenge.id
        case .replay: record(proof)
        case .decided: record(try bank.phone.sign([1]))
        case .expired: state(.expired)
        case .cancelled: state(.cancelled)
        case .failed: state(.failed)
        case .superseded: bank.store.change { $0.spend(challengeID, .superseded) }
        case .consumed: bank.store.change { $0.spend(challengeID, .consumed) }
        case .void: bank.store.change { $0.spend(challengeID, .void) }
        case .exhausted: bank.store.change { $0.spend(challengeID, .exhausted) }
        case .challengeExpired: bank.store.change { $0.at = Fixtures.at + Seconds(300) }
        case .locked: bank.store.change { [until] in $0.lockedUntil = until }
        case .tampered: bank.store.change { $0.actions[id]?.isIntact = false }
        case .wrongProof: proof = try bank.phone.sign([2])
        case .factor:
            let policy = try Fixtures.policy(setting: "factors.transfer", to: ["passkey"])
            bank.store.change { $0.policy = policy }
        case .payee: bank.store.change { $0.payees = [:] }
        case .limit:
            bank.store.change { world in
                world.counters["day:EUR \(Fixtures.bankDay)"] = 50_001
            }
        }
    }

    private func state(_ authorization: Authorization) {
        let closed = asked.action.with(authorization: authorization, execution: .none, hold: nil)
        bank.store.change { [asked] in $0.actions[asked.action.id]?.action = closed }
    }

    private func record(_ assertion: UnverifiedAssertion) {
        let decided = asked.action.with(authorization: .approved, execution: .ready, hold: nil)
        let digest = Fixtures.sha256(assertion.bytesToCompare)
        bank.store.change { [asked] world in
            world.actions[asked.action.id]?.action = decided
            world.decisions[asked.action.id] = RecordedDecision(
                outcome: .approved, challengeID: asked.challenge.id, assertionDigest: digest,
                action: decided, evidenceID: Fixtures.id(40), leafHash: digest)
        }
    }

    func isAnswer(
        _ outcome: DecisionOutcome, to reason: `The order of answers`.Reason
    ) -> Bool {
        switch (reason, outcome) {
        case (.replay, .decided(_, replayed: true)): true
        case (_, .decided): false
        case (_, .refused(let refusal)): refusal == expected(reason)
        }
    }

    private func expected(_ reason: `The order of answers`.Reason) -> DecisionRefusal? {
        switch reason {
        case .actionUnknown, .challengeUnknown: .notFound
        case .replay: nil
        case .decided: .alreadyDecided(.approved)
        case .expired: .actionExpired
        case .cancelled: .actionCancelled
        case .superseded: .challengeSuperseded
        case .consumed, .void: .challengeConsumed
        case .challengeExpired: .challengeExpired
        case .locked: .customerLocked(until: until)
        case .failed, .exhausted: .attemptsExhausted
        case .tampered, .wrongProof: .authenticationFailed
        case .factor:
            .policy(
                .credentialNotAllowed(
                    CredentialDemand(kinds: [.passkey], profiles: [], backupEligible: true)))
        case .payee: .policy(.payeeUnknown)
        case .limit:
            refusal(of: .dailyMax, allowed: "499.99", window: Fixtures.bankDay)
        }
    }

    private func refusal(
        of limit: PolicyRefusal.Limit, allowed: String, window: String?
    ) -> DecisionRefusal? {
        accepted { () throws(InvalidValue) in
            .policy(
                .limitExceeded(
                    limit: limit,
                    allowed: try Money(decimal: allowed, currency: Currency("EUR")), window: window)
            )
        }
    }
}
