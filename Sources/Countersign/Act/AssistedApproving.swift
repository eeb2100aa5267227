/// An action that officers want to approve for its customer, with all that a decision looks at.
package struct AssistedAction: Sendable {
    /// The database's time at which this was read.
    package let at: Instant
    package let action: RecordedAction
    /// Whether the stored columns still say what the customer was first asked.
    package let isIntact: Bool
    /// Whether the customer has an active key, and so decides alone.
    package let hasUsableKey: Bool
    package let policy: Policy
    /// What the policy looks at: nobody's key, and that officers approve.
    package let state: RecordedState
    package let versions: RecordVersions

    /// Takes what was read.
    package init(
        at: Instant, action: RecordedAction, isIntact: Bool, hasUsableKey: Bool, policy: Policy,
        state: RecordedState, versions: RecordVersions
    ) {
        self.at = at
        self.action = action
        self.isIntact = isIntact
        self.hasUsableKey = hasUsableKey
        self.policy = policy
        self.state = state
        self.versions = versions
    }
}

/// An approval by officers, decided and ready to be recorded.
package struct AssistedRuling: Sendable {
    package let found: AssistedAction
    /// What was signed.
    package let approval: AssistedApproval
    package let allowance: Allowance
    /// What holds it; officers approve nothing that is not held.
    package let hold: Hold
    /// Those who have signed before, whose signatures count.
    package let earlier: [Person]
}

extension Acts {
    /// The document of a new act about an action, and until when it can be signed.
    func drawApproval(
        _ command: ProposeActCommand
    ) async throws(StoreFailure) -> Result<ActDraft, ActRefusal> {
        let request: AssistedRequest
        do throws(InvalidActMember) {
            request = try AssistedRequest(command.document)
        } catch {
            return .failure(.invalid(error))
        }
        for _ in 0..<Self.racesMax {
            guard let found = try await store.assistedAction(request.action) else {
                return .failure(.notFound)
            }
            if !found.isIntact, DecisionRefusal(over: found) == nil {
                guard try await store.recordTampering(found, contradicting: nil) else { continue }
            }
            return approvable(found).map { _, least in
                let approval = AssistedApproval(request, of: found.action, hold: least)
                return ActDraft(
                    document: approval.document, expiresAt: found.action.expiresAt)
            }
        }
        throw .unavailable
    }

    /// The action of an act when it is not what the customer was asked, or not what stands in the document
    /// that officers were shown: no action ever changes. `nil` when nobody decides it any more.
    func tampered(in context: ActContext) -> AssistedAction? {
        guard let found = context.assisted, DecisionRefusal(over: found) == nil else { return nil }
        guard found.isIntact else { return found }
        guard let shown = AssistedApproval(recorded: context.act.content) else { return nil }
        let stored = AssistedApproval(shown.request, of: found.action, hold: shown.hold)
        return stored == shown ? nil : found
    }

    /// What a recorded act about an action would bring about now.
    ///
    /// The policy decides anew, whatever it said when the act was proposed. Only the hold that the officers
    /// have signed must still be the one that it demands.
    func approval(of context: ActContext) -> Result<AssistedRuling, ActRefusal> {
        guard let found = context.assisted else { return .failure(.notFound) }
        return approvable(found).flatMap { allowance, least in
            guard let approval = AssistedApproval(recorded: context.act.content),
                approval
                    == AssistedApproval(approval.request, of: found.action, hold: least),
                approval.request.action == found.action.id, let hold = allowance.hold
            else { return .failure(.approvalChanged) }
            return .success(
                AssistedRuling(
                    found: found, approval: approval, allowance: allowance, hold: hold,
                    earlier: context.act.signatures.filter(\.counts).map(\.person)))
        }
    }

    /// What the approval comes with, and the hold that the policy demands of it at least.
    ///
    /// That the customer is locked is in nobody's way here: too many failures are a reason to ask the bank.
    private func approvable(
        _ found: AssistedAction
    ) -> Result<(Allowance, least: Seconds), ActRefusal> {
        if let refusal = DecisionRefusal(over: found) { return .failure(.action(refusal)) }
        guard found.isIntact else { return .failure(.approvalChanged) }
        if found.hasUsableKey { return .failure(.customerHasKey) }
        switch found.policy.decide(found.action.content, found.state) {
        case .refused(let refusal): return .failure(.action(.policy(refusal)))
        case .allowed(let allowance):
            let rules = found.policy.rules.of(segment: found.state.risk.segment)
            guard let least = rules.assisted?.hold else {
                return .failure(.action(.policy(.assistedNotAllowed)))
            }
            return .success((allowance, least: least))
        }
    }
}

extension DecisionRefusal {
    /// Why nobody approves an action any more; `nil` while it can be.
    fileprivate init?(over found: AssistedAction) {
        guard
            let refusal = DecisionRefusal(closed: found.action, at: found.at)
                ?? DecisionRefusal(exhausted: found.action)
        else { return nil }
        self = refusal
    }
}
