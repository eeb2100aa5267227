import Countersign
import TestSupport
import Testing

extension CreationOutcome {
    fileprivate var refusal: CreationRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    fileprivate var answer: (bytes: Bytes, replayed: Bool)? {
        if case .created(let bytes, let replayed) = self { (bytes, replayed) } else { nil }
    }
}

@Suite struct `Creating an action` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    private func command(
        _ content: ActionContent? = nil, key: String = "k-1", customer: String = "c-1001",
        externalID: String? = nil, risk: JSON? = nil
    ) throws -> CreateActionCommand {
        CreateActionCommand(
            client: Fixtures.id(20), customerID: try CustomerID(customer),
            content: try content ?? Fixtures.transfer(),
            externalID: try externalID.map { try ExternalID($0) }, risk: risk, idempotencyKey: key)
    }

    @Test(arguments: ActionKind.allCases)
    func `stores it with a challenge whose two messages say exactly it`(
        kind: ActionKind
    ) async throws {
        let content = try Fixtures.content(kind)
        _ = try #require(try await bank.create(try command(content)).answer)
        let world = bank.store.now
        let action = try #require(world.actions.values.first?.action)
        let challenge = try #require(world.challenges.values.first?.challenge)
        #expect(action.content == content)
        #expect(action.authorization == .pending)
        #expect(action.execution == .none)
        #expect(action.policyVersion == 3)
        #expect(action.expiresAt == Fixtures.at + Seconds(900))
        #expect(challenge.expiresAt == Fixtures.at + Seconds(300))
        for decision in [SignedDecision.approve, .reject] {
            let message = try #require(SignedMessage(decoding: challenge.message(decision)))
            #expect(message.content == content)
            #expect(message.decision == decision)
            #expect(message.actionID == action.id)
            #expect(message.challengeID == challenge.id)
            #expect(message.customerID.text == "c-1001")
            #expect(message.audience == Fixtures.audience)
            #expect(message.nonce == challenge.nonce)
            #expect(message.expiresAt == challenge.expiresAt)
        }
    }

    @Test func `again with the same key gives the first answer, made durable`() async throws {
        let first = try #require(try await bank.create(command()).answer)
        #expect(!first.replayed)
        #expect(bank.store.now.barriers == 0)
        let again = try #require(try await bank.create(command()).answer)
        #expect(again.replayed)
        #expect(again.bytes == first.bytes)
        #expect(bank.store.now.barriers == 1)
        #expect(bank.store.now.actions.count == 1)
    }

    /// The same command after normalisation is the same command.
    @Test func `again in another spelling is the same command`() async throws {
        _ = try await bank.create(command(Fixtures.transfer("120")))
        let spelled = try Fixtures.transfer("120.0", debtor: "de89 3704 0044 0532 0130 00")
        #expect(try await bank.create(command(spelled)).answer?.replayed == true)
    }

    @Test func `with the key of any other command is refused`() async throws {
        _ = try await bank.create(command(externalID: "e-1", risk: ["score": .integer(1)]))
        let others = try [
            command(externalID: "e-1"), command(externalID: "e-2", risk: ["score": .integer(1)]),
            command(risk: ["score": .integer(1)]),
            command(externalID: "e-1", risk: ["score": .integer(2)]),
            command(customer: "c-1002", externalID: "e-1", risk: ["score": .integer(1)]),
            command(
                Fixtures.transfer("120.01"), externalID: "e-1", risk: ["score": .integer(1)]),
            command(Fixtures.newPayee(), externalID: "e-1", risk: ["score": .integer(1)]),
        ]
        for other in others {
            #expect(try await bank.create(other).refusal == .idempotencyKeyReused)
        }
        #expect(bank.store.now.actions.count == 1)
        #expect(bank.store.now.barriers == 0)
    }

    @Test func `that another with its key overtook gives that one's answer`() async throws {
        let mine = try command()
        let fingerprint = Fixtures.sha256(mine.bytesToCompare)
        bank.store.change {
            $0.quickerAnswer = AnsweredCommand(fingerprint: fingerprint, answer: [1, 2, 3])
        }
        let answer = try #require(try await bank.create(mine).answer)
        #expect(answer.bytes == [1, 2, 3])
        #expect(answer.replayed)
        #expect(bank.store.now.loads == 2)
        #expect(bank.store.now.actions.isEmpty)
    }

    @Test func `that another command with its key overtook is refused`() async throws {
        let other = Fixtures.sha256(try command(Fixtures.newPayee()).bytesToCompare)
        bank.store.change {
            $0.quickerAnswer = AnsweredCommand(fingerprint: other, answer: [1])
        }
        #expect(try await bank.create(command()).refusal == .idempotencyKeyReused)
    }

    @Test func `whose key is still being worked on is told so`() async throws {
        bank.store.change { $0.faults = [.lostRace] }
        #expect(try await bank.create(command()).refusal == .idempotencyInFlight)
    }

    @Test func `with the caller's own reference twice is refused`() async throws {
        _ = try await bank.create(command(externalID: "e-1"))
        #expect(
            try await bank.create(command(key: "k-2", externalID: "e-1")).refusal
                == .externalIDExists)
    }

    @Test func `beyond the open challenges of a customer is refused`() async throws {
        for number in 0..<10 {
            #expect(try await bank.create(command(key: "k-\(number)")).answer != nil)
        }
        #expect(
            try await bank.create(command(key: "k-10")).refusal
                == .tooManyOpenChallenges(retryAfter: Seconds(300)))
        bank.store.change { $0.at = Fixtures.at + Seconds(300) }
        #expect(try await bank.create(command(key: "k-10")).answer != nil)
    }

    @Test func `whose commit was not answered is unknown, and safe to send again`() async throws {
        bank.store.change { $0.faults = [.answerLost(written: true)] }
        let mine = try command()
        await #expect(throws: StoreFailure.outcomeUnknown) { try await bank.create(mine) }
        #expect(try await bank.create(mine).answer?.replayed == true)
        #expect(bank.store.now.actions.count == 1)
    }

    /// Absent, empty and a text that reads alike are different commands.
    @Test func `has a fingerprint of everything in it`() throws {
        let prints = try [
            command(), command(externalID: "null"), command(risk: .null), command(risk: ""),
            command(risk: [:]), command(risk: []), command(customer: "c-1002"),
            command(Fixtures.transfer(reference: "")), command(Fixtures.contactChange()),
        ].map(\.bytesToCompare)
        #expect(Set(prints).count == prints.count)
        #expect(try command(key: "a").bytesToCompare == command(key: "b").bytesToCompare)
    }
}

@Suite struct `Challenges` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    private func action(expiresAt: Instant) throws -> RecordedAction {
        RecordedAction(
            id: Fixtures.id(1), customerID: try CustomerID("c-1001"),
            content: try Fixtures.transfer(), externalID: nil, risk: .unsaid, policyVersion: 3,
            authorization: .pending, execution: .none, hold: nil, createdAt: Fixtures.at,
            expiresAt: expiresAt)
    }

    @Test func `end in whole seconds and never after their action`() throws {
        let rules = try Fixtures.policy().rules
        let at = Instant(milliseconds: Fixtures.at.milliseconds + 999)
        let long = bank.issuer.issue(
            for: try action(expiresAt: Fixtures.at + Seconds(900)), at: at, rules: rules,
            passkeys: [])
        #expect(long.challenge.expiresAt == Fixtures.at + Seconds(300))
        let short = bank.issuer.issue(
            for: try action(expiresAt: Fixtures.at + Seconds(100)), at: at, rules: rules,
            passkeys: [])
        #expect(short.challenge.expiresAt == Fixtures.at + Seconds(100))
    }

    @Test func `have fresh nonces and IDs`() throws {
        let rules = try Fixtures.policy().rules
        let action = try action(expiresAt: Fixtures.at + Seconds(900))
        let challenges = (0..<100).map { _ in
            bank.issuer.issue(for: action, at: Fixtures.at, rules: rules, passkeys: []).challenge
        }
        #expect(Set(challenges.map(\.nonce)).count == 100)
        #expect(Set(challenges.map(\.id)).count == 100)
        #expect(challenges.allSatisfy { $0.nonce.count == 32 })
    }

    @Test func `offer a passkey only when one may answer`() throws {
        let action = try action(expiresAt: Fixtures.at + Seconds(900))
        let rules = try Fixtures.policy().rules
        let strict = try Fixtures.policy(setting: "factors.transfer", to: ["device_key"]).rules
        let offered = bank.issuer.issue(
            for: action, at: Fixtures.at, rules: rules, passkeys: [.fixture([1]), .fixture([2])])
        for decision in [SignedDecision.approve, .reject] {
            let options = offered.json["webauthn"]?[decision.rawValue]
            let digest = Fixtures.sha256(offered.challenge.message(decision))
            #expect(options?["challenge"]?.text == digest.hex)
            #expect(options?["passkeys"] == .integer(2))
        }
        for (rules, passkeys) in [(rules, []), (strict, [.fixture([1])])]
            as [(PolicyRules, [ListedPasskey])]
        {
            let none = bank.issuer.issue(
                for: action, at: Fixtures.at, rules: rules, passkeys: passkeys)
            #expect(none.json["webauthn"] == nil)
        }
    }

    @Test func `offer only the passkeys that the policy lets approve this action`() throws {
        let policy = try Fixtures.policy(
            setting: "backup_eligible",
            to: ["transfer": ["allowed": .bool(true), "max": ["EUR": "119.99"]]])
        // The action's amount is one cent more.
        let issued = bank.issuer.issue(
            for: try action(expiresAt: Fixtures.at + Seconds(900)), at: Fixtures.at,
            rules: policy.rules,
            passkeys: [.fixture([1]), .fixture([2], isBackupEligible: true)])
        #expect(issued.json["webauthn"]?["approve"]?["passkeys"] == .integer(1))
        #expect(issued.json["webauthn"]?["reject"]?["passkeys"] == .integer(1))
    }

    @Test func `show their messages as they are signed`() throws {
        let issued = bank.issuer.issue(
            for: try action(expiresAt: Fixtures.at + Seconds(900)), at: Fixtures.at,
            rules: try Fixtures.policy().rules, passkeys: [])
        let messages = issued.json["messages"]
        #expect(
            messages?["approve"]?.text.flatMap { Base64.decodeURL($0) }
                == issued.challenge.approveMessage)
        #expect(
            messages?["reject"]?.text.flatMap { Base64.decodeURL($0) }
                == issued.challenge.rejectMessage)
        #expect(issued.json["attempts_left"] == .integer(3))
    }
}
