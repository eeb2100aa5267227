import Countersign
import TestSupport
import Testing

@Suite struct `Failed attempts` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    /// Fails until a challenge or action takes no more, by fresh challenges; the number of failures.
    private func fail(_ asked: TestBank.Asked, times: Int) async throws {
        for number in 0..<times {
            let command = try bank.wrongCommand(asked, salt: UInt8(number))
            #expect(try await bank.decide(command).refusal == .authenticationFailed)
        }
    }

    private func again(_ asked: TestBank.Asked) -> TestBank.Asked {
        TestBank.Asked(action: asked.action, challenge: bank.challenge(for: asked.action))
    }

    @Test func `kill a challenge at the third`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        try await fail(asked, times: 2)
        #expect(bank.store.now.challenges[asked.challenge.id]?.challenge.state == .live)
        try await fail(asked, times: 1)
        #expect(bank.store.now.challenges[asked.challenge.id]?.challenge.state == .exhausted)
        #expect(try await bank.decide(bank.command(.approve, asked)).refusal == .attemptsExhausted)
        #expect(try await bank.decide(bank.command(.approve, again(asked))).decision != nil)
    }

    /// NIST SP 800-63B-4 §3.2.2, standards D-02.
    @Test(arguments: [(98, true, false), (99, true, true), (100, true, true), (99, false, false)])
    func `suspend a key at its hundredth in a row, with all that is open`(
        failures: Int, isActive: Bool, suspends: Bool
    ) async throws {
        let open = OpenQuestions(challenges: [Fixtures.id(1)], authorizations: [Fixtures.id(2)])
        let key = bank.phone.registered(
            .deviceKey, isActive: isActive, failures: failures, openQuestions: open)
        bank.store.change { $0.credentials = [key] }
        try await fail(try bank.ask(try Fixtures.transfer()), times: 1)
        guard case .fail(let attempt)? = bank.store.now.rulings.last else {
            Issue.record("no failure")
            return
        }
        #expect(attempt.suspends == (suspends ? open : nil))
    }

    @Test func `up to the last but one leave the customer a right one`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        try await fail(asked, times: 2)
        #expect(try await bank.decide(bank.command(.approve, asked)).decision != nil)
        #expect(bank.store.now.failures == 0)
    }

    @Test func `fail an action at the fifth, and lock its customer`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        try await fail(asked, times: 3)
        let second = again(asked)
        try await fail(second, times: 2)
        let world = bank.store.now
        #expect(world.actions[asked.action.id]?.action.authorization == .failed)
        #expect(world.lockedUntil == Fixtures.at + Seconds(1800))
        // Even a right signature, and the lock is told before the attempts.
        #expect(
            try await bank.decide(bank.command(.approve, second)).refusal
                == .customerLocked(until: Fixtures.at + Seconds(1800)))
    }

    @Test func `of a failed action keep it failed when the lock is over`() async throws {
        let policy = try Fixtures.policy(setting: "action_lifetime_s", to: .integer(86_400))
        bank.store.change { $0.policy = policy }
        let asked = try bank.ask(try Fixtures.transfer())
        try await fail(asked, times: 3)
        try await fail(again(asked), times: 2)
        bank.store.change { $0.at = Fixtures.at + Seconds(1800) }
        #expect(
            try await bank.decide(bank.command(.approve, again(asked))).refusal
                == .attemptsExhausted)
    }

    @Test func `lock the customer at the fifth over all actions and methods`() async throws {
        let actions = try (0..<5).map { _ in try bank.ask(try Fixtures.transfer()) }
        try await fail(actions[0], times: 1)
        try await fail(actions[1], times: 1)
        for asked in actions[2...3] {
            let wrong = bank.command(.approve, asked, try bank.phone.assert([1]))
            #expect(try await bank.decide(wrong).refusal == .authenticationFailed)
        }
        #expect(bank.store.now.lockedUntil == nil)
        try await fail(actions[4], times: 1)
        let until = Fixtures.at + Seconds(1800)
        for asked in actions {
            #expect(bank.store.now.actions[asked.action.id]?.action.authorization == .pending)
            #expect(
                try await bank.decide(bank.command(.approve, asked)).refusal
                    == .customerLocked(until: until))
        }
        // A locked customer's attempts are not counted: nothing more is written.
        #expect(bank.store.now.rulings.count == 5)
    }

    @Test func `end to count with a success, for approvals and for rejections`() async throws {
        for decision in [SignedDecision.approve, .reject] {
            try await fail(try bank.ask(try Fixtures.transfer("1.00")), times: 2)
            try await fail(try bank.ask(try Fixtures.transfer("1.00")), times: 2)
            let right = try bank.ask(try Fixtures.transfer("1.00"))
            #expect(try await bank.decide(bank.command(decision, right)).decision != nil)
            #expect(bank.store.now.failures == 0)
        }
        #expect(bank.store.now.lockedUntil == nil)
    }

    @Test func `end when the lock is over, to the instant`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let until = Fixtures.at + Seconds(100)
        bank.store.change {
            $0.lockedUntil = until
            $0.at = Instant(milliseconds: until.milliseconds - 1)
        }
        let command = try bank.command(.approve, asked)
        #expect(try await bank.decide(command).refusal == .customerLocked(until: until))
        bank.store.change { $0.at = until }
        #expect(try await bank.decide(command).decision != nil)
    }

    @Test func `count only against a live challenge`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        _ = again(asked)
        let stranger = DecideCommand(
            action: asked.action.id, decision: .approve,
            proof: .signed(challenge: Fixtures.id(77), try bank.phone.sign([1])))
        #expect(try await bank.decide(bank.wrongCommand(asked)).refusal == .challengeSuperseded)
        #expect(try await bank.decide(stranger).refusal == .notFound)
        #expect(bank.store.now.rulings.isEmpty)
    }

    /// All orders of 64 parallel attempts come to the same counts.
    @Test func `are as many at once as one after another`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let commands = try (0..<64).map { try bank.wrongCommand(asked, salt: UInt8($0)) }
        let refusals = try await inParallel(commands)
        #expect(refusals.filter { $0 == .authenticationFailed }.count == 3)
        #expect(refusals.filter { $0 == .attemptsExhausted }.count == 61)
        #expect(bank.store.now.failures == 3)
    }

    private func inParallel(_ commands: [DecideCommand]) async throws -> [DecisionRefusal?] {
        try await withThrowingTaskGroup(of: DecisionRefusal?.self) { group in
            for command in commands {
                group.addTask { [bank] in try await bank.decide(command).refusal }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

@Suite struct `Races of decisions` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    @Test func `between 64 identical approvals give one decision and 63 times the same answer`()
        async throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try bank.command(.approve, asked)
        let outcomes = try await withThrowingTaskGroup(of: DecisionOutcome.self) { group in
            for _ in 0..<64 { group.addTask { [bank] in try await bank.decide(command) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let decisions = outcomes.compactMap(\.decision)
        #expect(decisions.count == 64)
        #expect(decisions.filter { !$0.replayed }.count == 1)
        #expect(Set(decisions.map(\.recorded.evidenceID)).count == 1)
        #expect(bank.store.now.counters["day:EUR \(Fixtures.bankDay)"] == 12_000)
    }

    @Test func `between approvals of many transfers never pass a limit`() async throws {
        let commands = try (0..<10).map { _ in
            try bank.command(.approve, try bank.ask(try Fixtures.transfer("300.00")))
        }
        let outcomes = try await withThrowingTaskGroup(of: DecisionOutcome.self) { group in
            for command in commands { group.addTask { [bank] in try await bank.decide(command) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0.decision != nil }.count == 3)
        #expect(bank.store.now.counters["day:EUR \(Fixtures.bankDay)"] == 90_000)
    }

    @Test func `that are lost are decided again on what is there then`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = Array(repeating: .lostRace, count: 7) }
        #expect(try await bank.decide(bank.command(.approve, asked)).decision != nil)
        #expect(bank.store.now.loads == 8)
    }

    @Test func `are not run for ever`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = Array(repeating: .lostRace, count: 1000) }
        let command = try bank.command(.approve, asked)
        await #expect(throws: StoreFailure.unavailable) { try await bank.decide(command) }
        #expect(bank.store.now.loads == 100)
    }

    @Test(arguments: [true, false])
    func `with a lost answer are settled by a barrier and another look`(written: Bool) async throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.answerLost(written: written)] }
        let decision = try #require(
            try await bank.decide(bank.command(.approve, asked)).decision)
        #expect(decision.recorded.outcome == .approved)
        #expect(decision.replayed == written)
        let world = bank.store.now
        #expect(world.barriers == (written ? 2 : 1))
        #expect(world.counters["day:EUR \(Fixtures.bankDay)"] == 12_000)
    }

    @Test func `with a lost answer and no barrier stay unknown`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change {
            $0.faults = [.answerLost(written: true)]
            $0.barrierFails = true
        }
        let command = try bank.command(.approve, asked)
        await #expect(throws: StoreFailure.outcomeUnknown) { try await bank.decide(command) }
    }

    @Test func `pass a failure of the database on`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.faults = [.unavailable] }
        let command = try bank.command(.approve, asked)
        await #expect(throws: StoreFailure.unavailable) { try await bank.decide(command) }
        #expect(bank.store.now.decisions.isEmpty)
    }
}
