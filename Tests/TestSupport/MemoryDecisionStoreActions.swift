package import Countersign

extension MemoryDecisionStore: ActionStore {
    package func loadForCreation(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationContext {
        try locked { world throws(StoreFailure) in
            world.loads += 1
            return CreationContext(
                at: world.at, policy: world.policy, state: world.state(command.content, nil),
                passkeys: world.passkeys,
                answered: world.answers[command.idempotencyKey], subject: world.subject,
                wrappedKey: [])
        }
    }

    package func create(
        _ creation: ActionCreation, on context: CreationContext
    ) async throws(StoreFailure) -> CreationResult {
        try locked { world throws(StoreFailure) in
            switch world.nextFault() {
            case nil, .tampered: return world.store(creation)
            case .lostRace: return .keyInFlight
            case .unavailable: throw .unavailable
            case .answerLost(let written):
                if written { _ = world.store(creation) }
                throw .outcomeUnknown
            }
        }
    }

    package func passkeys(of subject: ID<Subject>) async throws(StoreFailure) -> [ListedPasskey] {
        now.passkeys
    }

    package func issue(
        _ challenge: Challenge, on context: DecisionContext
    ) async throws(StoreFailure) -> IssueResult {
        try locked { world throws(StoreFailure) in
            if let fault = world.nextFault() {
                guard case .lostRace = fault else { throw .unavailable }
                return .lostRace
            }
            guard world.openChallenges < world.policy.rules.openChallengesMax else {
                return .tooManyOpen
            }
            for stored in world.challenges.values
            where stored.action == context.action.id && stored.challenge.state == .live {
                world.spend(stored.challenge.id, .superseded)
            }
            world.challenges[challenge.id] = .init(action: context.action.id, challenge: challenge)
            world.actions[context.action.id]?.sequence += 1
            return .issued
        }
    }

    package func cancel(
        reason: String, on context: DecisionContext
    ) async throws(StoreFailure) -> RecordedAction? {
        try locked { world throws(StoreFailure) in
            if let fault = world.nextFault() {
                guard case .lostRace = fault else { throw .unavailable }
                return nil
            }
            let id = context.action.id
            let isPending = context.action.authorization == .pending
            world.setState(
                of: id, isPending ? .cancelled : context.action.authorization,
                isPending ? .none : .cancelled, context.action.hold)
            world.voidChallenges(of: id)
            return world.actions[id]?.action
        }
    }
}

extension MemoryWorld {
    fileprivate var passkeys: [ListedPasskey] {
        credentials.compactMap { credential in
            guard credential.isActive, case .passkey(let passkey) = credential.stored else {
                return nil
            }
            return ListedPasskey(
                credentialID: passkey.credentialID, transports: [],
                isBackupEligible: passkey.backupEligible, profiles: credential.profiles)
        }
    }

    fileprivate var openChallenges: Int {
        challenges.values.filter { $0.challenge.state == .live && $0.challenge.expiresAt > at }
            .count
    }

    fileprivate mutating func store(_ creation: ActionCreation) -> CreationResult {
        let key = creation.command.idempotencyKey
        if let quicker = quickerAnswer {
            answers[key] = quicker
            quickerAnswer = nil
        }
        guard answers[key] == nil else { return .keyUsed }
        if let external = creation.action.externalID {
            guard externalIDs.insert(external).inserted else { return .externalIDExists }
        }
        guard openChallenges < policy.rules.openChallengesMax else { return .tooManyOpen }
        answers[key] = AnsweredCommand(fingerprint: creation.fingerprint, answer: creation.answer)
        actions[creation.action.id] = StoredAction(action: creation.action)
        challenges[creation.challenge.id] = StoredChallenge(
            action: creation.action.id, challenge: creation.challenge)
        return .created
    }
}
