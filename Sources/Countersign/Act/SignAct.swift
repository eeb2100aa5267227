extension Acts {
    package func sign(_ command: SignActCommand) async throws(StoreFailure) -> ActOutcome {
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(
                    command.act, for: command.person, challenge: command.challenge)
            else { return .refused(.notFound) }
            if isReplay(command, context) {
                // What is answered must be durable: the row may be visible before it is. And the act is read
                // again, since its signatures may have been read after its state.
                try await store.barrier()
                guard let act = try await store.act(command.act, of: context.act.role) else {
                    return .refused(.notFound)
                }
                return .recorded(act)
            }
            do throws(StoreFailure) {
                switch try ruling(command, context) {
                case .refuse(let refusal): return .refused(refusal)
                case .fail(let failure, let key):
                    guard try await store.fail(command, because: failure, key: key, on: context)
                    else { continue }
                    return .refused(.authenticationFailed)
                case .tampered(let found):
                    // Told only once it is on record: after a lost race nothing was written.
                    guard
                        try await store.recordTampering(
                            found, contradicting: context.act.document)
                    else { continue }
                    return .refused(.approvalChanged)
                case .refuseSigned(let signature, let refusal):
                    guard try await store.refuse(signature, because: refusal, on: context)
                    else { continue }
                    return .refused(refusal)
                case .record(let signature):
                    // The next round reads what was written and answers that.
                    _ = try await store.sign(signature, on: context)
                }
            } catch .outcomeUnknown {
                try await settle()
            }
        }
        throw .unavailable
    }

    /// Whether this very answer was recorded before.
    private func isReplay(_ command: SignActCommand, _ context: ActContext) -> Bool {
        guard let signature = context.act.signature(of: command.person) else { return false }
        return signature.challenge == command.challenge
            && signature.signature == command.assertion.signature
    }

    private enum Ruling {
        case refuse(ActRefusal)
        case fail(VerificationFailure, key: RecordedPersonKey?)
        /// What is stored of the action is not what was asked, or not what officers were shown.
        case tampered(AssistedAction)
        /// A good last signature of something that is not allowed.
        case refuseSigned(NewActSignature, ActRefusal)
        case record(NewActSignature)
    }

    /// All control flow of a signature. Pure.
    private func ruling(
        _ command: SignActCommand, _ context: ActContext
    ) throws(StoreFailure) -> Ruling {
        let act = context.act
        if act.signature(of: command.person) != nil { return .refuse(.alreadySigned) }
        if let refusal = refusal(of: context) { return .refuse(refusal) }
        guard let challenge = context.challenge else { return .refuse(.notFound) }
        switch challenge.state {
        case .superseded: return .refuse(.challengeSuperseded)
        case .consumed, .failed: return .refuse(.challengeConsumed)
        case .live: break
        }
        if challenge.expiresAt <= context.base.at { return .refuse(.challengeExpired) }
        if challenge.stage == .approve, !act.isProposed { return .refuse(.notProposed) }
        try demandIntegrity(of: challenge, context)
        if let found = tampered(in: context) { return .tampered(found) }
        return verify(command, challenge, context)
    }

    private func verify(
        _ command: SignActCommand, _ challenge: RecordedActChallenge, _ context: ActContext
    ) -> Ruling {
        guard
            let key = context.base.signingKeys.first(where: {
                $0.stored.credentialID == command.assertion.rawID
            })
        else { return .fail(.credentialUnknown, key: nil) }
        let verified: VerifiedAssertion
        do throws(VerificationFailure) {
            verified = try verifier.verify(
                .passkey(command.assertion), by: .passkey(key.stored), over: challenge.message)
        } catch {
            return .fail(error, key: key)
        }
        guard case .passkey(let signCount, _, let backupState) = verified else {
            return .fail(.credentialType, key: key)
        }
        func signature(_ effect: ActEffect) -> NewActSignature {
            NewActSignature(
                command: command, challenge: challenge, key: key, signCount: signCount,
                backupState: backupState, effect: effect)
        }
        switch effect(of: context) {
        case .success(let effect): return .record(signature(effect))
        case .failure(let refusal): return .refuseSigned(signature(.none), refusal)
        }
    }

    /// The stored message must be the question about the stored document, member by member; the database
    /// compares the same under its locks.
    private func demandIntegrity(
        of challenge: RecordedActChallenge, _ context: ActContext
    ) throws(StoreFailure) {
        let act = context.act
        guard asker.sha256(act.document) == act.digest,
            let message = ActMessage(decoding: challenge.message),
            message.actID == act.id, message.audience == asker.audience,
            message.challengeID == challenge.id, message.documentDigest == act.digest,
            message.kind == act.kind, message.role == act.role,
            message.stage == challenge.stage,
            message.stage == act.stage(of: context.base.person.id),
            message.person.utf8.elementsEqual(context.base.person.name.utf8)
        else { throw .internalFailure(code: "act_message") }
    }

    /// Why nobody can sign it any more, or not this person; `nil` when nothing is in the way.
    ///
    /// What would be evidence is not told here, where nobody has signed: it is asked with the last signature,
    /// which is recorded then. Otherwise an officer could ask again and again, and leave no trace.
    func refusal(of context: ActContext) -> ActRefusal? {
        guard context.act.state == .open else { return .closed(context.act.state) }
        switch prospect(of: context) {
        case .success: return nil
        // It was strict enough when it was proposed, else there would be no act: whoever signs tries nothing.
        case .failure(.notStricter): return .notStricter
        // A signature that would not be the last would be taken for one that counts.
        case .failure(.ownKey) where !context.act.needsOneMore: return .ownKey
        case .failure(let refusal): return refusal.recordedWord == nil ? refusal : nil
        }
    }

    private func effect(of context: ActContext) -> Result<ActEffect, ActRefusal> {
        context.act.needsOneMore ? prospect(of: context) : .success(.none)
    }

    /// What the act would bring about now, whoever has signed it so far.
    private func prospect(of context: ActContext) -> Result<ActEffect, ActRefusal> {
        switch context.act.kind {
        case .publishPolicy, .tightenPolicy:
            guard let newest = context.base.policies.last else { return .failure(.notFound) }
            do throws(InvalidActMember) {
                let proposal = try PolicyProposal(context.act.content, newest: newest.version)
                return publication(of: proposal, as: context.act.kind, context.base)
                    .map(ActEffect.publish)
            } catch {
                // Rules that this build reads otherwise than the one that took the document.
                return .failure(.invalid(error))
            }
        case .admitKey:
            guard let id = KeyAdmission.keyID(recorded: context.act.content) else {
                return .failure(.notFound)
            }
            return admissible(id, context.base).map(ActEffect.admit)
        case .releaseHold, .cancelHold: return ending(of: context).map(ActEffect.endHold)
        case .approveAction: return approval(of: context).map(ActEffect.approve)
        // Which rows they are is compared when they are imported.
        case .importPayees: return .success(.allowImport)
        }
    }

    /// The key, when this person may help to admit it.
    func admissible(
        _ id: ID<PersonKey>, _ context: ProposalContext
    ) -> Result<RecordedPersonKey, ActRefusal> {
        guard let key = context.keys.first(where: { $0.id == id }) else {
            return .failure(.notFound)
        }
        guard key.person.id != context.person.id else { return .failure(.ownKey) }
        guard key.status == .pending else { return .failure(.keyNotPending) }
        return .success(key)
    }
}
