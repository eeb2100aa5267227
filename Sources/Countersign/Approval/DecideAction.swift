/// A request to approve or to reject an action.
package struct DecideCommand: Sendable {
    /// What comes with the request.
    package enum Proof: Sendable {
        case signed(challenge: ID<Challenge>, UnverifiedAssertion)
        /// Only for a rejection.
        case unsigned(RejectionReason)
    }

    package let action: ID<Action>
    package let decision: SignedDecision
    package let proof: Proof

    package init(action: ID<Action>, decision: SignedDecision, proof: Proof) {
        self.action = action
        self.decision = decision
        self.proof = proof
    }
}

/// Approves or rejects an action: load, verify, decide, commit.
///
/// Nothing is locked while a signature is verified. The commit compares everything that was read and
/// reports a lost race instead of writing; then all of it is read and decided again.
package struct DecideAction<Store: DecisionStore, Verifier: AssertionVerifier>: Sendable {
    private let store: Store
    private let verifier: Verifier
    private let sha256: Hasher256

    /// Lost races that are tried again before the caller is told to come back. A customer's own
    /// parallel requests are the only competitors, so this is reached only by an attack on one's self.
    private static var racesMax: Int { 100 }

    package init(store: Store, verifier: Verifier, sha256: Hasher256) {
        self.store = store
        self.verifier = verifier
        self.sha256 = sha256
    }

    /// - Throws: ``StoreFailure``; after ``StoreFailure/outcomeUnknown`` the same request may be sent
    ///   again and gets the one true answer.
    package func callAsFunction(_ command: DecideCommand) async throws(StoreFailure)
        -> DecisionOutcome
    {
        let reference = DecideAction.reference(command.proof)
        var tampered = false
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(
                    action: command.action, challenge: reference?.challenge,
                    credential: reference?.credential)
            else { return .refused(.notFound) }
            let ruling = tampered ? .tampered : try decide(command, context)
            if case .answer(let outcome) = ruling {
                // What is answered again must be durable: the row may be visible before it is.
                if case .decided = outcome { try await store.barrier() }
                return outcome
            }
            do throws(StoreFailure) {
                switch try await store.commit(ruling, on: context) {
                case .done(let outcome): return outcome
                case .lostRace: continue
                case .tampered: tampered = true
                }
            } catch .outcomeUnknown {
                // The barrier waits for what the lost commit waits for. Then reading again tells.
                do throws(StoreFailure) { try await store.barrier() } catch {
                    throw .outcomeUnknown
                }
            }
        }
        throw .unavailable
    }

    private static func reference(
        _ proof: DecideCommand.Proof
    ) -> (challenge: ID<Challenge>, credential: CredentialReference)? {
        switch proof {
        case .signed(let challenge, let assertion): (challenge, assertion.reference)
        case .unsigned: nil
        }
    }

    /// All control flow of a decision, in the order of `DecisionRefusal`. Pure.
    ///
    /// - Throws: ``StoreFailure/internalFailure(code:)`` for a record of a key that cannot be used: no
    ///   proof could be told from another, so none is a failure of the customer's.
    package func decide(
        _ command: DecideCommand, _ context: DecisionContext
    ) throws(StoreFailure) -> Ruling {
        guard case .signed(let challengeID, let assertion) = command.proof else {
            return decideUnsigned(command, context)
        }
        guard let challenge = context.challenge else { return .answer(.refused(.notFound)) }
        let digest = sha256(assertion.bytesToCompare)
        if let decision = context.decision, decision.challengeID == challengeID,
            decision.assertionDigest == digest,
            decision.outcome == (command.decision == .approve ? .approved : .rejected)
        {
            return .answer(.decided(decision, replayed: true))
        }
        if let refusal = DecisionRefusal(closed: context.action, at: context.at)
            ?? DecisionRefusal(dead: challenge, at: context.at)
            ?? DecisionRefusal(locked: context.customer, at: context.at)
            ?? DecisionRefusal(exhausted: context.action, challenge)
        {
            return .answer(.refused(refusal))
        }
        let message = challenge.message(command.decision)
        guard context.actionIsIntact, StoredMessages.agree(context.action, challenge) else {
            return .tampered
        }
        do throws(VerificationFailure) {
            guard let credential = context.credential, credential.isActive,
                // A key that was enrolled later was not asked. Whoever gets one in by fraud finds no
                // open question that it could answer.
                credential.createdAt <= challenge.createdAt,
                let state = context.state
            else { throw .credentialUnknown }
            let verified = try verifier.verify(assertion, by: credential.stored, over: message)
            let signed = SignedRuling(
                challenge: challenge, credential: credential, assertion: assertion,
                verified: verified, message: message, state: state, assertionDigest: digest)
            return rule(command.decision, signed, context)
        } catch {
            guard error != .storedKeyInvalid else { throw .unusableRecord(error) }
            return .fail(attempt(failing: error, of: assertion, at: challenge, context))
        }
    }

    private func rule(
        _ decision: SignedDecision, _ signed: SignedRuling, _ context: DecisionContext
    ) -> Ruling {
        switch decision {
        case .reject: return .reject(signed)
        case .approve:
            switch context.policy.decide(context.action.content, signed.state) {
            case .allowed(let allowance): return .approve(signed, allowance)
            case .refused(let refusal): return .refuse(signed, refusal)
            }
        }
    }

    private func decideUnsigned(_ command: DecideCommand, _ context: DecisionContext) -> Ruling {
        guard case .unsigned(let reason) = command.proof, command.decision == .reject else {
            preconditionFailure("only a rejection may be unsigned")
        }
        if let decision = context.decision, decision.outcome == .rejected,
            decision.assertionDigest == nil
        {
            return .answer(.decided(decision, replayed: true))
        }
        // Neither a lock nor the state of a challenge matters: this can only stop something.
        if let refusal = DecisionRefusal(closed: context.action, at: context.at)
            ?? DecisionRefusal(exhausted: context.action)
        {
            return .answer(.refused(refusal))
        }
        return .rejectUnsigned(reason: reason)
    }

    /// The counts after one more failure. Four limits, of which each does its own thing.
    private func attempt(
        failing reason: VerificationFailure, of assertion: UnverifiedAssertion,
        at challenge: Challenge, _ context: DecisionContext
    ) -> FailedAttempt {
        let attempts = context.policy.rules.attempts
        let locks = context.customer.failures + 1 >= attempts.perCustomer
        return FailedAttempt(
            challenge: challenge, assertion: assertion, reason: reason,
            exhaustsChallenge: challenge.failures + 1 >= attempts.perChallenge,
            failsAction: context.actionFailures + 1 >= attempts.perAction,
            locksUntil: locks ? context.at + attempts.lock : nil,
            suspends: context.credential?.endingWithOneMoreFailure)
    }
}

/// Whether what is stored still says what was signed, or is to be signed.
package enum StoredMessages {
    /// Decodes both stored messages and compares them with the stored action, member by member.
    package static func agree(_ action: RecordedAction, _ challenge: Challenge) -> Bool {
        agrees(challenge.approveMessage, .approve, action, challenge)
            && agrees(challenge.rejectMessage, .reject, action, challenge)
    }

    private static func agrees(
        _ bytes: Bytes, _ decision: SignedDecision, _ action: RecordedAction, _ challenge: Challenge
    ) -> Bool {
        guard let message = SignedMessage(decoding: bytes) else { return false }
        return message.actionID == action.id && message.challengeID == challenge.id
            && message.customerID == action.customerID && message.decision == decision
            && message.expiresAt == challenge.expiresAt && message.nonce == challenge.nonce
            && message.content == action.content
    }
}
