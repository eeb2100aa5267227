package import Countersign
package import Evidence

/// Keeps actions in Postgres.
///
/// Every load is one statement without locks; every write is one call of a function in
/// `sql/migrations/V0004_action_functions.sql`, which is one transaction.
package struct PostgresActionStore: ActionStore {
    /// The route under which creations remember their idempotency keys.
    static let creationRoute = "POST /v1/actions"

    let database: Database
    let sealer: EvidenceSealer
    let policies = PolicyReader()
    private let subjects: SubjectMaker

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - sealer: Makes the evidence of everything that is written.
    ///   - subjects: Makes stand-ins for customers that are not known yet.
    package init(database: Database, sealer: EvidenceSealer, subjects: SubjectMaker) {
        self.database = database
        self.sealer = sealer
        self.subjects = subjects
    }

    package func loadForCreation(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationContext {
        if let context = try await creationContext(command) { return context }
        try await subjects.introduce(command.customerID, to: database)
        guard let context = try await creationContext(command) else {
            throw .internalFailure(code: "customer")
        }
        return context
    }

    private func creationContext(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationContext? {
        try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(
                .loadCreation,
                [
                    .text(command.customerID.text), .id(command.client),
                    .text(Self.creationRoute), .text(command.idempotencyKey),
                    .text(command.content.payeeAccount?.text),
                    .text(command.content.amount?.currency.code),
                ])
            guard let row = try rows.single() else { return nil }
            var answered: AnsweredCommand?
            if let fingerprint: Digest = try row["fingerprint"] {
                answered = AnsweredCommand(fingerprint: fingerprint, answer: try row["answer"])
            }
            let at: Instant = try row["now"]
            return CreationContext(
                at: at, policy: try policies.policy(row),
                state: try RecordedState(
                    row, at: at, risk: RecordedRisk(given: command.risk), nil),
                passkeys: try [ListedPasskey](row), answered: answered,
                subject: try row["subject_id"], wrappedKey: try row["wrapped"])
        }
    }

    package func create(
        _ creation: ActionCreation, on context: CreationContext
    ) async throws(StoreFailure) -> CreationResult {
        let evidence = try sealer.records(
            ActionEvidence.created(creation), subject: context.subject,
            wrappedKey: context.wrappedKey, at: context.at, heads: ChainHeads()
        ).json
        return try await database.run { connection throws(PostgresError) in
            let status: String
            do throws(PostgresError) {
                status = try connection.status(
                    .createAction,
                    [
                        .id(context.subject), .id(creation.command.client),
                        .text(Self.creationRoute), .text(creation.command.idempotencyKey),
                        .digest(creation.fingerprint), .bytes(creation.answer),
                        .int(context.policy.rules.openChallengesMax),
                        .json(ActionColumns.json(of: creation).encoded),
                        .json(creation.challenge.columns.encoded), .json(evidence),
                    ])
            } catch .lockTimeout {
                // Another request with this key, or for this customer, holds the rows.
                return .keyInFlight
            } catch .constraintViolated(name: "action_external_id_unique", sqlState: _) {
                // Unique across customers, so the customer's lock does not order these two; the other
                // one was quicker, and nothing of this one was written.
                return .externalIDExists
            }
            switch status {
            case "created": return .created
            case "idempotency_exists": return .keyUsed
            case "external_id_exists": return .externalIDExists
            case "too_many_open": return .tooManyOpen
            default: throw .malformedColumn("status")
            }
        }
    }

    package func passkeys(of subject: ID<Subject>) async throws(StoreFailure) -> [ListedPasskey] {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.passkeys, [.id(subject)]).single() else {
                return []
            }
            return try [ListedPasskey](row)
        }
    }

    package func issue(
        _ challenge: Challenge, on context: DecisionContext
    ) async throws(StoreFailure) -> IssueResult {
        let evidence = try records(
            [ActionEvidence.issued(challenge, for: context.action.id)], on: context
        ).json
        let status = try await database.status(
            .issueChallenge,
            [
                .id(context.versions.subject), .id(context.action.id),
                .int(context.versions.action.length),
                .int(context.policy.rules.openChallengesMax), .json(challenge.columns.encoded),
                .json(evidence),
            ])
        switch status {
        case "issued": return .issued
        case "lost_race": return .lostRace
        case "too_many_open": return .tooManyOpen
        default: throw .internalFailure(code: "status")
        }
    }

    package func cancel(
        reason: String, on context: DecisionContext
    ) async throws(StoreFailure) -> RecordedAction? {
        let action = context.action
        let evidence = try records(
            [ActionEvidence.cancelled(action.id, reason: reason)], on: context
        ).json
        let status = try await database.status(
            .cancelAction,
            [
                .id(context.versions.subject), .id(action.id),
                .int(context.versions.action.length), .json(evidence),
            ])
        guard status == "cancelled" else { return nil }
        return action.authorization == .pending
            ? action.with(authorization: .cancelled, execution: .none, hold: nil)
            : action.with(authorization: action.authorization, execution: .cancelled, hold: nil)
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }

    /// Seals drafts that continue the chains of a loaded action and credential.
    func records(
        _ drafts: [EvidenceDraft], on context: DecisionContext
    ) throws(StoreFailure) -> [SealedEvidence] {
        var heads = [ID<Credential>: ChainHead]()
        if let credential = context.credential, let head = context.versions.credential {
            heads[credential.id] = head
        }
        return try sealer.records(
            drafts, subject: context.versions.subject, wrappedKey: context.versions.wrappedKey,
            at: context.at,
            heads: ChainHeads(
                actions: [context.action.id: context.versions.action], credentials: heads))
    }
}
