/// Lets people propose, sign and withdraw acts.
///
/// Signing has the shape of ``DecideAction``: load without locks, verify and rule purely, commit if all that
/// was read still holds.
package struct Acts<Store: ActStore, Verifier: AssertionVerifier>: ActService {
    let store: Store
    let verifier: Verifier
    let asker: PersonAsker
    let isAtLeastAsStrict: PolicyStrictness

    /// More open acts at a time are no person's.
    package static var openMax: Int { 10 }
    /// Lost races that are tried again.
    static var racesMax: Int { 100 }

    /// - Parameters:
    ///   - store: Where acts are kept.
    ///   - verifier: Believes signatures: the one for customers' passkeys.
    ///   - asker: Makes messages and options.
    ///   - isAtLeastAsStrict: What one person may publish; see ``PolicyRules/isAtLeastAsStrict(as:)``.
    package init(
        store: Store, verifier: Verifier, asker: PersonAsker,
        isAtLeastAsStrict: @escaping PolicyStrictness
    ) {
        self.store = store
        self.verifier = verifier
        self.asker = asker
        self.isAtLeastAsStrict = isAtLeastAsStrict
    }

    package func propose(
        _ command: ProposeActCommand
    ) async throws(StoreFailure) -> ActQuestionOutcome {
        for _ in 0..<Self.racesMax {
            guard let context = try await store.load(command.person) else {
                return .refused(.notFound)
            }
            let draft: ActDraft
            switch try await draw(command, context) {
            case .success(let drawn): draft = drawn
            case .failure(let refusal):
                if refusal.recordedWord != nil {
                    // Told only once it is on record.
                    guard try await store.refuse(command, because: refusal, on: context)
                    else { continue }
                }
                return .refused(refusal)
            }
            guard !context.signingKeys.isEmpty else { return .refused(.noKey) }
            let act = act(command.kind, draft, context)
            let asked = question(act, context)
            switch try await store.create(act, asked.challenge, openMax: Self.openMax) {
            case .created: return .asked(act, challenge: asked.json)
            case .tooManyOpen: return .refused(.tooManyOpen(retryAfter: PersonAsker.lifetime))
            case .lostRace: continue
            }
        }
        throw .unavailable
    }

    /// The document of a new act, made from what was sent and what is recorded.
    private func draw(
        _ command: ProposeActCommand, _ context: ProposalContext
    ) async throws(StoreFailure) -> Result<ActDraft, ActRefusal> {
        guard command.kind.isFor(context.person.role) else { return .failure(.kindNotAllowed) }
        func draft(_ document: JSON) -> ActDraft { ActDraft(document: document) }
        switch command.kind {
        case .publishPolicy, .tightenPolicy:
            return try await drawPolicy(command, context).map(draft)
        case .admitKey: return drawAdmission(command, context).map(draft)
        case .releaseHold, .cancelHold: return try await drawHold(command).map(draft)
        case .approveAction: return try await drawApproval(command)
        case .importPayees:
            do throws(InvalidActMember) {
                return .success(draft(try PayeeImportRequest(command.document).document))
            } catch {
                return .failure(.invalid(error))
            }
        }
    }

    private func drawPolicy(
        _ command: ProposeActCommand, _ context: ProposalContext
    ) async throws(StoreFailure) -> Result<JSON, ActRefusal> {
        guard let newest = context.policies.last else {
            throw .internalFailure(code: "policy")
        }
        let proposal: PolicyProposal
        do throws(InvalidActMember) {
            proposal = try PolicyProposal(command.document, newest: newest.version)
        } catch {
            return .failure(.invalid(error))
        }
        guard try await store.knowsTimeZone(proposal.rules.timeZone) else {
            return .failure(
                .invalid(
                    InvalidActMember(
                        "/policy/time_zone", "time_zone", "There is no such time zone.")))
        }
        switch publication(of: proposal, as: command.kind, context) {
        case .success: return .success(proposal.document(against: newest))
        case .failure(let refusal): return .failure(refusal)
        }
    }

    private func drawAdmission(
        _ command: ProposeActCommand, _ context: ProposalContext
    ) -> Result<JSON, ActRefusal> {
        do throws(InvalidActMember) {
            let id = try KeyAdmission.keyID(of: command.document)
            return admissible(id, context).map { key in
                KeyAdmission.document(of: key, sha256: asker.sha256)
            }
        } catch {
            return .failure(.invalid(error))
        }
    }

    private func act(
        _ kind: ActKind, _ draft: ActDraft, _ context: ProposalContext
    ) -> RecordedAct {
        let bytes = draft.document.encoded
        let latest = context.at + RecordedAct.lifetime
        return RecordedAct(
            id: asker.makeID(at: context.at), kind: kind, role: context.person.role,
            document: bytes, content: draft.document, digest: asker.sha256(bytes), state: .open,
            createdBy: context.person,
            createdAt: context.at, expiresAt: draft.expiresAt.map { min($0, latest) } ?? latest)
    }

    package func challenge(
        _ act: ID<Act>, for person: ID<Client>
    ) async throws(StoreFailure) -> ActQuestionOutcome {
        for _ in 0..<Self.racesMax {
            guard let context = try await store.load(act, for: person, challenge: nil) else {
                return .refused(.notFound)
            }
            if let refusal = refusal(of: context) { return .refused(refusal) }
            if context.act.signature(of: person) != nil { return .refused(.alreadySigned) }
            if context.act.stage(of: person) == .approve, !context.act.isProposed {
                return .refused(.notProposed)
            }
            guard !context.base.signingKeys.isEmpty else { return .refused(.noKey) }
            if let found = tampered(in: context) {
                guard
                    try await store.recordTampering(found, contradicting: context.act.document)
                else { continue }
                return .refused(.approvalChanged)
            }
            let asked = question(context.act, context.base)
            if try await store.ask(asked.challenge) {
                return .asked(context.act, challenge: asked.json)
            }
        }
        throw .unavailable
    }

    /// A question to the person about an act, and how it is shown.
    private func question(
        _ act: RecordedAct, _ context: ProposalContext
    ) -> (challenge: RecordedActChallenge, json: JSON) {
        let id: ID<ActChallenge> = asker.makeID(at: context.at)
        let stage = act.stage(of: context.person.id)
        let expiresAt = min((context.at + PersonAsker.lifetime).wholeSeconds, act.expiresAt)
            .wholeSeconds
        let message = ActMessage(
            actID: act.id, audience: asker.audience, challengeID: id, documentDigest: act.digest,
            expiresAt: expiresAt, kind: act.kind, nonce: asker.makeNonce(),
            person: context.person.name, role: act.role, stage: stage
        ).bytes
        let challenge = RecordedActChallenge(
            id: id, act: act.id, person: context.person.id, stage: stage, message: message,
            state: .live, createdAt: context.at, expiresAt: expiresAt)
        let json: JSON = [
            "id": .string(id.text), "act_id": .string(act.id.text),
            "stage": .string(stage.rawValue), "expires_at": .string(expiresAt.text),
            "message": .string(Base64.encodeURL(message)),
            "webauthn": asker.requestOptions(
                asker.sha256(message), context.signingKeys.map(\.listed), PersonAsker.lifetime),
        ]
        return (challenge, json)
    }

    package func act(
        _ id: ID<Act>, of role: PersonRole
    ) async throws(StoreFailure) -> RecordedAct? {
        try await store.act(id, of: role)
    }

    package func acts(_ query: ActQuery) async throws(StoreFailure) -> [RecordedAct] {
        try await store.acts(query)
    }

    package func withdraw(
        _ act: ID<Act>, by person: ID<Client>, reason: DisplayText
    ) async throws(StoreFailure) -> ActOutcome {
        for _ in 0..<Self.racesMax {
            guard let context = try await store.load(act, for: person, challenge: nil) else {
                return .refused(.notFound)
            }
            switch context.act.state {
            case .withdrawn:
                // What is answered must be durable: the row may be visible before it is.
                try await store.barrier()
                return .recorded(context.act)
            case .done, .expired: return .refused(.closed(context.act.state))
            case .open: break
            }
            do throws(StoreFailure) {
                // The next round reads what was written and answers that.
                _ = try await store.withdraw(context, reason: reason)
            } catch .outcomeUnknown {
                try await settle()
            }
        }
        throw .unavailable
    }

    /// After a lost answer to a commit: waits for what that commit waits for, so that reading again
    /// tells what became of it.
    func settle() async throws(StoreFailure) {
        do throws(StoreFailure) { try await store.barrier() } catch { throw .outcomeUnknown }
    }
}
