package import Countersign
import Crypto
import Evidence

extension PostgresActStore {
    package func assistedAction(
        _ id: ID<Action>
    ) async throws(StoreFailure) -> AssistedAction? {
        try await database.run { connection throws(PostgresError) in
            try connection.assistedAction([.id(id), .null], policies)
        }
    }

    /// Records the last signature of an act that approves an action, with the decision.
    func approve(
        _ ruling: AssistedRuling, _ signature: NewActSignature, _ context: ActContext
    ) async throws(StoreFailure) -> Bool {
        let found = ruling.found
        let evidence = try await service.seal(
            PersonEvidence.signed(signature, on: context, sha256: .openSSL),
            then: DecisionEvidence.assisted(ruling, by: context.act, and: context.base.person),
            of: found.versions.subject, wrappedKey: found.versions.wrappedKey,
            heads: ChainHeads(actions: [found.action.id: found.versions.action]))
        let allowance = ruling.allowance
        let reserved = allowance.reservations
        return try await database.succeeded(
            "done", .approveAssisted,
            [
                .json(signature.columns(at: context.base.at).encoded),
                .json(signature.keyState.encoded),
                .idArray(ruling.earlier.map(\.id).sorted { $0.text < $1.text }),
                .int64(found.versions.customer), .int(found.policy.version),
                .int(found.versions.action.length), .instant(found.at), .text(found.state.bankDay),
                .instant(ruling.hold.until), .text(ruling.hold.rule.rawValue),
                .text(ruling.hold.end.rawValue),
                .textArray(reserved.map(\.dimension)), .dateArray(reserved.map(\.windowStart)),
                .int64Array(reserved.map(\.amount)), .int64Array(reserved.map(\.cap)),
                .json(allowance.ceilingColumns),
                // Unique like the question whose answer confirms it.
                .json(allowance.payeeColumns(id: signature.challenge.id.text)),
                .bool(found.action.content.kind == .transfer && found.state.payee == nil),
                .instant(allowance.contactHoldUntil), .bytes(found.state.encoded),
                .json(evidence.service), .json(evidence.action),
            ])
    }
}

extension PostgresActStore {
    package func refuse(
        _ signature: NewActSignature, because refusal: ActRefusal, on context: ActContext
    ) async throws(StoreFailure) -> Bool {
        let earlier = context.act.signatures.filter(\.counts).map(\.person)
        let told = PersonEvidence.refused(signature, because: refusal, on: context)
        let rows: [Parameter] = [
            .json(signature.columns(at: context.base.at).encoded),
            .json(signature.keyState.encoded),
            .idArray(earlier.map(\.id).sorted { $0.text < $1.text }),
        ]
        guard let found = context.assisted,
            let draft = DecisionEvidence.assisted(
                refusedTo: earlier + [context.base.person], because: refusal, of: found,
                by: context.act)
        else {
            let evidence = try await service.seal([told], keptBy: context.customerKey)
            return try await database.succeeded(
                "refused", .refuseAct, rows + [.json(evidence)])
        }
        let evidence = try await seal([told], then: draft, about: found)
        // Without a policy that was asked there is nothing that it looked at.
        let inputs: Parameter =
            refusal == .customerHasKey ? .null : .bytes(found.state.encoded)
        return try await database.succeeded(
            "refused", .refuseAssisted,
            rows + [
                .int64(found.versions.customer), .int(found.policy.version),
                .int(found.versions.action.length), .instant(found.at), inputs,
                .json(evidence.service), .json(evidence.action),
            ])
    }

    package func refuse(
        _ command: ProposeActCommand, because refusal: ActRefusal, on context: ProposalContext
    ) async throws(StoreFailure) -> Bool {
        var owner: ServiceSubject.BodyKey?
        if let action = command.action { owner = try await bodyKey(of: action) }
        let evidence = try await service.seal(
            [
                PersonEvidence.refused(
                    command, because: refusal, by: context.person,
                    // About a customer's action, and nobody's: nothing would ever erase it.
                    withContent: owner != nil || !command.kind.isAboutAction)
            ], keptBy: owner)
        return try await database.succeeded(
            "recorded", .recordRefusedAct,
            [.id(command.person), .id(owner == nil ? nil : command.action), .json(evidence)])
    }

    private func bodyKey(
        of action: ID<Action>
    ) async throws(StoreFailure) -> ServiceSubject.BodyKey? {
        try await database.query(.actionBodyKey, [.id(action)]) { rows throws(PostgresError) in
            try rows.single().map { row throws(PostgresError) in
                ServiceSubject.BodyKey(subject: try row["subject_id"], wrapped: try row["wrapped"])
            }
        }
    }

    package func recordTampering(
        _ found: AssistedAction, contradicting document: Bytes?
    ) async throws(StoreFailure) -> Bool {
        let draft = DecisionEvidence.tampered(found, contradicting: document)
        let evidence = try await seal([], then: draft, about: found)
        return try await database.succeeded(
            "recorded", .recordTampering,
            [
                .id(found.versions.subject), .id(found.action.id),
                .int(found.versions.action.length), .json(evidence.action),
            ])
    }

    private func seal(
        _ drafts: [EvidenceDraft], then draft: EvidenceDraft, about found: AssistedAction
    ) async throws(StoreFailure) -> (service: Bytes, action: Bytes) {
        try await service.seal(
            drafts, then: [draft], of: found.versions.subject,
            wrappedKey: found.versions.wrappedKey,
            heads: ChainHeads(actions: [found.action.id: found.versions.action]))
    }
}

extension Connection {
    /// Reads an action that officers want to approve: by its ID, or by that of an act.
    borrowing func assistedAction(
        _ parameters: [Parameter], _ policies: PolicyReader
    ) throws(PostgresError) -> AssistedAction? {
        guard let found = try execute(.findAssistedAction, parameters).single() else { return nil }
        let id: ID<Action> = try found["action_id"]
        // A key that comes between the two is found by the commit, which asks again.
        guard let row = try execute(.loadDecision, [.id(id), .null, .null, .null]).single() else {
            return nil
        }
        let context = try DecisionContext(row, policy: policies.policy(row))
        var state = try RecordedState(row, at: context.at, risk: context.action.risk, nil)
        state.isAssisted = true
        return AssistedAction(
            at: context.at, action: context.action, isIntact: context.actionIsIntact,
            hasUsableKey: try found["has_key"], policy: context.policy, state: state,
            versions: context.versions)
    }
}

extension Allowance {
    /// The caps on the time before, as the functions take them; `nil` for none.
    var ceilingColumns: Bytes? {
        ceilings.isEmpty ? nil : JSON.array(ceilings.map(\.json)).encoded
    }

    /// The payee that is added, under an ID, as the functions take it; `nil` for none.
    func payeeColumns(id: String) -> Bytes? {
        payeeTimes.map { times in
            let payee: JSON = [
                "id": .string(id), "usable_at": .string(times.usableAt.text),
                "new_until": .string(times.newUntil.text),
            ]
            return payee.encoded
        }
    }
}
