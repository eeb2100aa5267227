import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `A transfer confirmed by a browser` {
    let bank: TestBank

    init() throws { bank = try TestBank() }

    private func command(
        _ asked: TestBank.Asked, browserBoundKey: P256PrivateKey? = nil
    ) throws -> DecideCommand {
        bank.command(
            .approve, asked,
            try bank.phone.confirm(
                asked.challenge.approveMessage, browserBoundKey: browserBoundKey))
    }

    @Test func `is approved by the passkey, and once`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try command(asked)
        let decision = try #require(try await bank.decide(command).decision).recorded
        #expect(decision.outcome == .approved)
        guard case .decided(_, let replayed) = try await bank.decide(command) else {
            Issue.record("the same answer was refused")
            return
        }
        #expect(replayed)
        let other = try self.command(asked)
        #expect(try await bank.decide(other).refusal == .alreadyDecided(.approved))
    }

    @Test func `is another answer with another part, of another kind or by a browser's key`()
        throws
    {
        let asked = try bank.ask(try Fixtures.transfer())
        let message = asked.challenge.approveMessage
        guard case .payment(let payment) = try bank.phone.confirm(message) else { return }
        let answers: [UnverifiedAssertion] = [
            .payment(payment), .passkey(payment.passkey),
            .payment(PaymentAssertion(passkey: payment.passkey, browserBoundSignature: [])),
            .payment(PaymentAssertion(passkey: payment.passkey, browserBoundSignature: [1])),
        ]
        #expect(Set(answers.map(\.bytesToCompare)).count == answers.count)
        #expect(Set(answers.map(\.reference)) == [.passkey(rawID: payment.passkey.rawID)])
    }

    @Test func `is approved with a browser's own key too`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let command = try command(asked, browserBoundKey: .generate())
        #expect(try await bank.decide(command).decision?.recorded.outcome == .approved)
    }

    @Test func `costs an attempt when something else was shown`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let other = try Fixtures.message(try Fixtures.transfer("12.00")).bytes
        guard case .transfer(let transfer) = try Fixtures.transfer("12.00") else { return }
        let shown = try Fixtures.paymentRequest(
            transfer, sha256(asked.challenge.approveMessage), [], Seconds(300))
        let proofs = try [
            bank.phone.confirm(asked.challenge.approveMessage, request: shown),
            bank.phone.confirm(other),
        ]
        for (index, proof) in proofs.enumerated() {
            let outcome = try await bank.decide(bank.command(.approve, asked, proof))
            #expect(outcome.refusal == .authenticationFailed)
            #expect(bank.store.now.failures == index + 1)
        }
        let reasons = bank.store.now.rulings.compactMap { ruling in
            if case .fail(let attempt) = ruling { attempt.reason } else { nil }
        }
        #expect(reasons == [.paymentTotalMismatch, .challengeMismatch])
    }

    @Test func `is a confirmation of nothing else`() async throws {
        let asked = try bank.ask(try Fixtures.newPayee())
        let shown = try bank.phone.confirm(
            try Fixtures.message(try Fixtures.transfer()).bytes)
        let outcome = try await bank.decide(bank.command(.approve, asked, shown))
        #expect(outcome.refusal == .authenticationFailed)
        guard case .fail(let attempt)? = bank.store.now.rulings.last else { return }
        #expect(attempt.reason == .paymentNotAllowed)
    }

    @Test func `never rejects`() async throws {
        let asked = try bank.ask(try Fixtures.transfer())
        let proof = try bank.phone.confirm(asked.challenge.rejectMessage)
        let outcome = try await bank.decide(bank.command(.reject, asked, proof))
        #expect(outcome.refusal == .authenticationFailed)
    }

    @Test func `is refused where the policy wants a device key`() async throws {
        let policy = try Fixtures.policy(setting: "factors.transfer", to: ["device_key"])
        bank.store.change { $0.policy = policy }
        let asked = try bank.ask(try Fixtures.transfer())
        let outcome = try await bank.decide(try command(asked))
        let demand = CredentialDemand(kinds: [.deviceKey], profiles: [], backupEligible: true)
        #expect(outcome.refusal == .policy(.credentialNotAllowed(demand)))
    }
}

/// For those who have nothing but a message and its proof.
@Suite struct `A message whose payment a browser showed` {
    private func isConfirmed(
        _ content: ActionContent, _ decision: SignedDecision = .approve,
        _ changes: [String: JSON?] = [:]
    ) throws -> Bool {
        let message = try Fixtures.message(content, decision: decision)
        guard case .payment(let payment) = try TestBank().phone.confirm(message.bytes),
            let shown = SignedJSON.decodeClientData(payment.passkey.clientDataJSON)
        else { throw InvalidValue("payment", "The fixture is no payment.") }
        return message.isConfirmed(
            byPayment: changes.reduce(shown) { $0.setting($1.key, to: $1.value) })
    }

    @Test func `is confirmed as the approval of that transfer`() throws {
        let transfer = try Fixtures.transfer()
        #expect(try isConfirmed(transfer))
        #expect(try !isConfirmed(transfer, .reject))
        #expect(try !isConfirmed(transfer, .approve, ["payment.total.value": "12.00"]))
        #expect(try !isConfirmed(transfer, .approve, ["payment.rpId": "other.example"]))
    }

    @Test func `is confirmed by no client data of another type`() throws {
        for type in ["webauthn.get", "payment.GET", nil] as [JSON?] {
            #expect(try !isConfirmed(Fixtures.transfer(), .approve, ["type": type]))
        }
    }
}

@Suite struct `What a page is offered for a payment` {
    private func offered(
        _ content: ActionContent, passkeys: [Bytes] = [[1]], policy: Policy? = nil
    ) throws -> (JSON, Challenge) {
        let bank = try TestBank()
        let action = try bank.ask(content).action
        let issued = bank.issuer.issue(
            for: action, at: Fixtures.at, rules: try (policy ?? Fixtures.policy()).rules,
            passkeys: passkeys.map {
                ListedPasskey(
                    credentialID: $0, transports: [], isBackupEligible: false, profiles: [])
            })
        return (issued.json, issued.challenge)
    }

    @Test func `is the transfer under the challenge of its approval`() throws {
        let (json, challenge) = try offered(try Fixtures.transfer())
        let data = json["payment"]?["data"]
        #expect(data?.bytes("challenge") == sha256(challenge.approveMessage).bytes)
        #expect(data?["credentialIds"] == ["AQ"])
        #expect(
            json["payment"]?["total"]?["amount"] == ["currency": "EUR", "value": "120.00"])
    }

    @Test func `is nothing where a browser could not confirm`() throws {
        let policy = try Fixtures.policy(setting: "factors.transfer", to: ["device_key"])
        let offers = try [
            offered(Fixtures.newPayee()), offered(Fixtures.contactChange()),
            offered(Fixtures.transfer(), passkeys: []),
            offered(Fixtures.transfer(), policy: policy),
        ]
        for (json, _) in offers { #expect(json["payment"] == nil) }
    }
}
