package import Countersign
import Crypto
package import WebAuthn

/// The use cases over a store in memory, and a customer whose phone can answer them.
///
/// The customer has both kinds of credential and the fixtures' payee, long established.
package struct TestBank: Sendable {
    package let store: MemoryDecisionStore
    package let phone: TestPhone
    package let issuer: ChallengeIssuer
    package let create: CreateAction<MemoryDecisionStore>
    package let issueChallenge: IssueChallenge<MemoryDecisionStore>
    package let cancelAction: CancelAction<MemoryDecisionStore>
    package let decide: DecideAction<MemoryDecisionStore, CustomerProofVerifier>

    package init(policy: Policy? = nil) throws {
        phone = try TestPhone()
        var world = MemoryWorld(policy: try policy ?? Fixtures.policy())
        world.credentials = [phone.registered(.deviceKey), phone.registered(.passkey)]
        world.payees[try Account(iban: Fixtures.payeeIBAN)] = Fixtures.establishedPayee
        store = MemoryDecisionStore(world)
        let payments = try Fixtures.payments()
        issuer = ChallengeIssuer(
            audience: Fixtures.audience, entropy: .openSSL, sha256: .openSSL,
            requestOptions: { challenge, passkeys, lifetime in
                [
                    "challenge": .string(challenge.hex),
                    "passkeys": .integer(Int64(passkeys.count)),
                    "lifetime": .integer(lifetime.count),
                ]
            },
            paymentRequest: { transfer, challenge, passkeys, lifetime in
                PaymentRequestData(
                    party: payments, transfer: transfer, challenge: challenge.bytes,
                    timeout: lifetime, passkeys: passkeys
                ).json
            })
        create = CreateAction(store: store, issuer: issuer, sha256: .openSSL)
        issueChallenge = IssueChallenge(store: store, issuer: issuer)
        cancelAction = CancelAction(store: store)
        decide = DecideAction(store: store, verifier: try Fixtures.verifier(), sha256: .openSSL)
    }

    /// A stored action with a live challenge.
    package struct Asked: Sendable {
        package let action: RecordedAction
        package let challenge: Challenge

        package init(action: RecordedAction, challenge: Challenge) {
            self.action = action
            self.challenge = challenge
        }
    }

    /// Stores a pending action with a live challenge.
    package func ask(_ content: ActionContent) throws -> Asked {
        let world = store.now
        let action = RecordedAction(
            id: issuer.makeID(at: world.at), customerID: try CustomerID("c-1001"), content: content,
            externalID: nil, risk: .unsaid, policyVersion: world.policy.version,
            authorization: .pending,
            execution: .none, hold: nil, createdAt: world.at,
            expiresAt: world.at + world.policy.rules.actionLifetime)
        store.change { $0.actions[action.id] = .init(action: action) }
        return Asked(action: action, challenge: challenge(for: action))
    }

    /// Stores another live challenge for an action; the earlier one is superseded.
    package func challenge(for action: RecordedAction) -> Challenge {
        let world = store.now
        let challenge = issuer.issue(
            for: action, at: world.at, rules: world.policy.rules, passkeys: []
        ).challenge
        store.change { world in
            for stored in world.challenges.values
            where stored.action == action.id && stored.challenge.state == .live {
                world.spend(stored.challenge.id, .superseded)
            }
            world.challenges[challenge.id] = .init(action: action.id, challenge: challenge)
        }
        return challenge
    }

    /// The command by which the customer's own phone decides.
    package func command(
        _ decision: SignedDecision, _ asked: Asked, by kind: CredentialKind = .deviceKey
    ) throws -> DecideCommand {
        let assertion = try phone.answer(asked.challenge.message(decision), by: kind)
        return self.command(decision, asked, assertion)
    }

    /// A command with any assertion.
    package func command(
        _ decision: SignedDecision, _ asked: Asked, _ assertion: UnverifiedAssertion
    ) -> DecideCommand {
        DecideCommand(
            action: asked.action.id, decision: decision,
            proof: .signed(challenge: asked.challenge.id, assertion))
    }

    /// A command with a signature of the right key over something else.
    package func wrongCommand(_ asked: Asked, salt: UInt8 = 0) throws -> DecideCommand {
        command(.approve, asked, try phone.sign([salt]))
    }
}
