import Countersign
import TestSupport
import Testing

@Suite struct `Deciding` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    @Test(arguments: [CredentialKind.deviceKey, .passkey], ActionKind.allCases)
    func `approves what the customer's key signed`(
        credential: CredentialKind, kind: ActionKind
    ) async throws {
        let asked = try bank.ask(try Fixtures.content(kind))
        let outcome = try await bank.decide(bank.command(.approve, asked, by: credential))
        let decision = try #require(outcome.decision)
        #expect(!decision.replayed)
        #expect(decision.recorded.outcome == .approved)
        #expect(decision.recorded.challengeID == asked.challenge.id)
        guard case .approve(let signed, _) = bank.store.now.rulings.last else {
            Issue.record("no approval was written")
            return
        }
        #expect(signed.message == asked.challenge.approveMessage)
        #expect(signed.credential.kind == credential)
    }

    @Test(arguments: [CredentialKind.deviceKey, .passkey])
    func `rejects what the customer's key rejected`(credential: CredentialKind) async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let outcome = try await bank.decide(bank.command(.reject, asked, by: credential))
        #expect(try #require(outcome.decision).recorded.outcome == .rejected)
        #expect(bank.store.now.counters.isEmpty)
    }

    @Test func `does not take the signature of one decision for the other`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let approval = try bank.phone.sign(asked.challenge.approveMessage)
        let rejection = try bank.phone.sign(asked.challenge.rejectMessage)
        for command in [
            bank.command(.reject, asked, approval), bank.command(.approve, asked, rejection),
        ] {
            #expect(try await bank.decide(command).refusal == .authenticationFailed)
        }
        #expect(bank.store.now.decisions.isEmpty)
    }

    @Test func `gives a byte-equal assertion the recorded answer, made durable first`()
        async throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try bank.command(.approve, asked)
        let first = try #require(try await bank.decide(command).decision)
        #expect(bank.store.now.barriers == 0)
        let moved = asked.action.with(authorization: .approved, execution: .executed, hold: nil)
        bank.store.change { $0.actions[asked.action.id]?.action = moved }
        let again = try #require(try await bank.decide(command).decision)
        #expect(again.replayed)
        #expect(again.recorded.evidenceID == first.recorded.evidenceID)
        #expect(again.recorded.action.execution == .ready)
        #expect(bank.store.now.barriers == 1)
        #expect(bank.store.now.rulings.count == 1)
    }

    @Test func `does not repeat an answer that it cannot make durable`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try bank.command(.approve, asked)
        _ = try await bank.decide(command)
        bank.store.change { $0.barrierFails = true }
        await #expect(throws: StoreFailure.unavailable) { try await bank.decide(command) }
    }

    /// ECDSA signs with fresh randomness, so the same key over the same bytes is another assertion.
    @Test func `gives any other assertion on a decided action no answer but that it is decided`()
        async throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try bank.command(.approve, asked)
        _ = try await bank.decide(command)
        let others = [
            try bank.command(.approve, asked), try bank.command(.approve, asked, by: .passkey),
            try bank.command(.reject, asked), try bank.wrongCommand(asked),
            // The accepted bytes, but as a rejection.
            DecideCommand(action: asked.action.id, decision: .reject, proof: command.proof),
        ]
        for other in others {
            #expect(try await bank.decide(other).refusal == .alreadyDecided(.approved))
        }
        let unsigned = DecideCommand(
            action: asked.action.id, decision: .reject, proof: .unsigned(.notMe))
        #expect(try await bank.decide(unsigned).refusal == .alreadyDecided(.approved))
        #expect(bank.store.now.rulings.count == 1)
        #expect(bank.store.now.failures == 0)
    }

    @Test func `does not take the assertion of another challenge of the same action`() async throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        let newer = TestBank.Asked(
            action: asked.action, challenge: bank.challenge(for: asked.action))
        let old = try bank.phone.sign(asked.challenge.approveMessage)
        #expect(
            try await bank.decide(bank.command(.approve, newer, old)).refusal
                == .authenticationFailed)
        #expect(
            try await bank.decide(bank.command(.approve, asked, old)).refusal
                == .challengeSuperseded)
        #expect(try await bank.decide(bank.command(.approve, newer)).decision != nil)
    }

    @Test func `does not take the challenge or the signature of another action`() async throws {
        let mine = try bank.ask(try Fixtures.transfer("10.00"))
        let other = try bank.ask(try Fixtures.transfer("20.00"))
        let signature = try bank.phone.sign(other.challenge.approveMessage)
        #expect(
            try await bank.decide(bank.command(.approve, mine, signature)).refusal
                == .authenticationFailed)
        let mixed = DecideCommand(
            action: mine.action.id, decision: .approve,
            proof: .signed(challenge: other.challenge.id, signature))
        #expect(try await bank.decide(mixed).refusal == .notFound)
    }

    @Test func `believes only an active credential of this customer`() async throws {
        let stranger = try TestPhone(1)
        let asked = try bank.ask(try Fixtures.transfer())
        let message = asked.challenge.approveMessage
        for kind in [CredentialKind.deviceKey, .passkey] {
            let assertion = try stranger.answer(message, by: kind)
            #expect(
                try await bank.decide(bank.command(.approve, asked, assertion)).refusal
                    == .authenticationFailed)
        }
        bank.store.change { [phone = bank.phone] world in
            world.failures = 0
            world.credentials = [phone.registered(.deviceKey, isActive: false)]
        }
        #expect(
            try await bank.decide(bank.command(.approve, asked)).refusal == .authenticationFailed)
        let reasons = bank.store.now.rulings.compactMap(\.failure)
        #expect(reasons == [.credentialUnknown, .credentialUnknown, .credentialUnknown])
    }

    /// Else a record that was damaged would lock its customer out, and end the key.
    @Test func `counts nothing against the customer whose key's record is damaged`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let damaged = RegisteredCredential(
            id: bank.phone.deviceKeyID, kind: .deviceKey, isActive: true,
            stored: .deviceKey(
                StoredDeviceKey(
                    id: bank.phone.deviceKeyID, key: [], signatureFormat: .der, appAttest: nil)),
            publicKey: [], createdAt: Fixtures.at - Seconds(1), profiles: [], backupState: false,
            failures: 99, openQuestions: .none, evidenceID: Fixtures.id(30))
        bank.store.change { $0.credentials = [damaged] }
        for decision in [SignedDecision.approve, .reject] {
            let command = try bank.command(decision, asked)
            await #expect(throws: StoreFailure.internalFailure(code: "stored_key_invalid")) {
                try await bank.decide(command)
            }
        }
        #expect(bank.store.now.rulings.isEmpty && bank.store.now.failures == 0)
    }

    @Test func `believes no credential that was enrolled after the question was asked`()
        async throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try bank.command(.approve, asked)
        let times = [Instant(milliseconds: asked.challenge.createdAt.milliseconds + 1)]
        for createdAt in times + [asked.challenge.createdAt] {
            bank.store.change { [phone = bank.phone] world in
                world.credentials = [phone.registered(.deviceKey, createdAt: createdAt)]
            }
            let outcome = try await bank.decide(command)
            #expect((outcome.decision != nil) == (createdAt == asked.challenge.createdAt))
        }
        #expect(bank.store.now.rulings.compactMap(\.failure) == [.credentialUnknown])
    }

    @Test func `spends the challenge of a good proof that the policy refuses, and nothing else`()
        async throws
    {
        let asked = try bank.ask(try Fixtures.transfer("500.01"))
        let command = try bank.command(.approve, asked)
        guard
            case .policy(.limitExceeded(.singleMax, _, _)) = try await bank.decide(command).refusal
        else {
            Issue.record("the limit was not looked at")
            return
        }
        let world = bank.store.now
        #expect(world.challenges[asked.challenge.id]?.challenge.state == .consumed)
        #expect(world.actions[asked.action.id]?.action.authorization == .pending)
        #expect(world.counters.isEmpty)
        #expect(try await bank.decide(command).refusal == .challengeConsumed)
    }

    @Test func `gives a challenge no time beyond its expiry`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try bank.command(.approve, asked)
        bank.store.change { $0.at = asked.challenge.expiresAt }
        #expect(try await bank.decide(command).refusal == .challengeExpired)
        bank.store.change {
            $0.at = Instant(milliseconds: asked.challenge.expiresAt.milliseconds - 1)
        }
        #expect(try await bank.decide(command).decision != nil)
    }

    @Test func `gives an action no time beyond its expiry`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.at = asked.action.expiresAt }
        let unsigned = DecideCommand(
            action: asked.action.id, decision: .reject, proof: .unsigned(.other))
        #expect(try await bank.decide(unsigned).refusal == .actionExpired)
        #expect(try await bank.decide(bank.command(.approve, asked)).refusal == .actionExpired)
    }
}

@Suite struct `Unsigned rejections` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    private func command(_ asked: TestBank.Asked, _ reason: RejectionReason) -> DecideCommand {
        DecideCommand(action: asked.action.id, decision: .reject, proof: .unsigned(reason))
    }

    @Test(arguments: RejectionReason.allCases)
    func `stop an action, and say that they are unsigned`(reason: RejectionReason) async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let outcome = try await bank.decide(command(asked, reason))
        let decision = try #require(outcome.decision)
        #expect(decision.recorded.outcome == .rejected)
        #expect(decision.recorded.assertionDigest == nil)
        guard case .rejectUnsigned(reason: reason) = bank.store.now.rulings.last else {
            Issue.record("another ruling was written")
            return
        }
        #expect(try await bank.decide(command(asked, reason)).decision?.replayed == true)
        #expect(bank.store.now.barriers == 1)
        #expect(
            try await bank.decide(bank.command(.approve, asked)).refusal
                == .alreadyDecided(.rejected))
    }

    @Test func `work while the customer is locked`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        bank.store.change { $0.lockedUntil = Fixtures.at + Seconds(600) }
        #expect(
            try await bank.decide(bank.command(.reject, asked)).refusal
                == .customerLocked(until: Fixtures.at + Seconds(600)))
        #expect(try await bank.decide(command(asked, .notMe)).decision != nil)
    }

    @Test func `are not possible on what is closed`() async throws {
        let refusals: [(Authorization, DecisionRefusal)] = [
            (.approved, .alreadyDecided(.approved)), (.cancelled, .actionCancelled),
            (.expired, .actionExpired), (.failed, .attemptsExhausted),
        ]
        for (authorization, refusal) in refusals {
            let asked = try bank.ask(try Fixtures.transfer())
            let closed = asked.action.with(
                authorization: authorization, execution: .none, hold: nil)
            bank.store.change { $0.actions[asked.action.id]?.action = closed }
            #expect(try await bank.decide(command(asked, .notMe)).refusal == refusal)
        }
        #expect(bank.store.now.rulings.isEmpty)
    }
}
