package import Countersign
import Crypto
import Evidence

/// Keeps acts in Postgres.
///
/// Every write is one call of a function in `sql/migrations/V0014_people_and_acts.sql`,
/// `V0016_hold_acts.sql`, `V0018_assisted_approval.sql`, `V0020_payee_import.sql` or `V0026_refused_acts.sql`,
/// which is one transaction; its evidence is of the service itself, and what becomes of an action is told on
/// the chain of that action too.
package struct PostgresActStore: ActStore {
    let database: Database
    let service: ServiceSubject
    let policies = PolicyReader()

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - service: Seals the evidence.
    package init(database: Database, service: ServiceSubject) {
        self.database = database
        self.service = service
    }

    package func load(_ person: ID<Client>) async throws(StoreFailure) -> ProposalContext? {
        try await database.run { connection throws(PostgresError) in
            try connection.proposal(of: person)
        }
    }

    package func load(
        _ act: ID<Act>, for person: ID<Client>, challenge: ID<ActChallenge>?
    ) async throws(StoreFailure) -> ActContext? {
        try await database.run { connection throws(PostgresError) in
            // The challenge before the act: one that is spent then comes with the signature that spent it,
            // by which an answer that is sent again is known. Writing compares all of it again.
            let asked = try connection.execute(
                .loadActChallenge, [.id(challenge), .id(act), .id(person)]
            ).single().map { row throws(PostgresError) in try RecordedActChallenge(row) }
            // The action before the act too: one whose hold this act has ended comes with the act done.
            let held = try connection.heldAction([.null, .id(act)])
            let assisted = try connection.assistedAction([.null, .id(act)], policies)
            guard let base = try connection.proposal(of: person),
                let found = try connection.acts(
                    of: base.person.role, id: act, state: nil, before: nil, limit: 1
                ).first
            else { return nil }
            return ActContext(
                base: base, act: found, challenge: asked, held: held, assisted: assisted)
        }
    }

    package func knowsTimeZone(_ name: String) async throws(StoreFailure) -> Bool {
        try await database.query(.knowsTimeZone, [.text(name)]) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("is_known") }
            return try row["is_known"]
        }
    }

    package func heldAction(_ id: ID<Action>) async throws(StoreFailure) -> HeldAction? {
        try await database.run { connection throws(PostgresError) in
            try connection.heldAction([.id(id), .null])
        }
    }

    package func create(
        _ act: RecordedAct, _ challenge: RecordedActChallenge, openMax: Int
    ) async throws(StoreFailure) -> ActCreation {
        let status = try await database.status(
            .createAct,
            [
                .json(act.columns.encoded), .json(challenge.columns.encoded), .int(openMax),
            ])
        switch status {
        case "created": return .created
        case "too_many_open": return .tooManyOpen
        case "lost_race": return .lostRace
        default: throw .internalFailure(code: "status")
        }
    }

    package func ask(_ challenge: RecordedActChallenge) async throws(StoreFailure) -> Bool {
        try await database.succeeded(
            "issued", .issueActChallenge,
            [.id(challenge.act), .json(challenge.columns.encoded)])
    }

    package func fail(
        _ command: SignActCommand, because failure: VerificationFailure, key: RecordedPersonKey?,
        on context: ActContext
    ) async throws(StoreFailure) -> Bool {
        let evidence = try await service.seal(
            [PersonEvidence.failed(command, because: failure, on: context)],
            keptBy: context.customerKey)
        return try await database.succeeded(
            "recorded", .failActSignature,
            [
                .id(command.act), .id(command.person), .id(command.challenge), .id(key?.id),
                .json(evidence),
            ])
    }

    package func sign(
        _ signature: NewActSignature, on context: ActContext
    ) async throws(StoreFailure) -> Bool {
        switch signature.effect {
        case .endHold(let ending): return try await end(ending, signature, context)
        case .approve(let ruling): return try await approve(ruling, signature, context)
        case .none, .publish, .admit, .allowImport: break
        }
        let evidence = try await service.seal(
            PersonEvidence.signed(signature, on: context, sha256: .openSSL),
            keptBy: context.customerKey)
        let rows: [Parameter] = [
            .json(signature.columns(at: context.base.at).encoded),
            .json(signature.keyState.encoded),
        ]
        switch signature.effect {
        case .none, .endHold, .approve:
            return try await database.succeeded("signed", .signAct, rows + [.json(evidence)])
        case .publish(let publication):
            return try await database.succeeded(
                "done", .publishPolicy,
                rows + [
                    .int(publication.version), .instant(publication.activeFrom),
                    .json(evidence),
                ])
        case .admit:
            return try await database.succeeded(
                "done", .admitPersonKey, rows + [.json(evidence)])
        case .allowImport:
            return try await database.succeeded("done", .allowImport, rows + [.json(evidence)])
        }
    }

    private func end(
        _ ending: HoldEnding, _ signature: NewActSignature, _ context: ActContext
    ) async throws(StoreFailure) -> Bool {
        let evidence = try await service.seal(
            PersonEvidence.signed(signature, on: context, sha256: .openSSL),
            then: [ActionEvidence.ended(ending, by: context.act, and: context.base.person)],
            of: ending.held.subject, wrappedKey: ending.held.wrappedKey,
            heads: ChainHeads(actions: [ending.held.id: ending.held.head]))
        return try await database.succeeded(
            "done", .endHold,
            [
                .json(signature.columns(at: context.base.at).encoded),
                .json(signature.keyState.encoded),
                .idArray(ending.earlier.map(\.id).sorted { $0.text < $1.text }),
                .json(evidence.service), .json(evidence.action),
            ])
    }

    package func withdraw(
        _ context: ActContext, reason: DisplayText
    ) async throws(StoreFailure) -> Bool {
        let evidence = try await service.seal(
            [PersonEvidence.withdrawn(context.act, by: context.base.person, reason: reason)],
            keptBy: context.customerKey)
        return try await database.succeeded(
            "withdrawn", .withdrawAct,
            [.id(context.act.id), .id(context.base.person.id), .json(evidence)])
    }

    package func act(
        _ id: ID<Act>, of role: PersonRole
    ) async throws(StoreFailure) -> RecordedAct? {
        try await database.run { connection throws(PostgresError) in
            try connection.acts(of: role, id: id, state: nil, before: nil, limit: 1).first
        }
    }

    package func acts(_ query: ActQuery) async throws(StoreFailure) -> [RecordedAct] {
        try await database.run { connection throws(PostgresError) in
            try connection.acts(
                of: query.role, id: nil, state: query.state, before: query.before,
                limit: query.limit)
        }
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }
}

extension Connection {
    fileprivate borrowing func proposal(
        of person: ID<Client>
    ) throws(PostgresError) -> ProposalContext? {
        guard
            let row = try execute(.loadPerson, [.id(person), .null]).single()
        else { return nil }
        let found = try Person(row, id: "id")
        return ProposalContext(
            at: try row["now"], person: found, keys: try personKeys(of: found.role),
            policies: try execute(.policiesAhead, []).map { row throws(PostgresError) in
                try PublishedPolicy(row)
            })
    }

    fileprivate borrowing func heldAction(
        _ parameters: [Parameter]
    ) throws(PostgresError) -> HeldAction? {
        try execute(.loadHeldAction, parameters).single().map { row throws(PostgresError) in
            try HeldAction(row)
        }
    }

    fileprivate borrowing func acts(
        of role: PersonRole, id: ID<Act>?, state: ActState?, before: ID<Act>?, limit: Int
    ) throws(PostgresError) -> [RecordedAct] {
        let rows = try execute(
            .listActs,
            [
                .text(role.rawValue), .id(id), .text(state?.rawValue), .id(before), .int(limit),
            ])
        let ids = try rows.map { row throws(PostgresError) -> ID<Act> in try row["id"] }
        let signatures = try execute(.listActSignatures, [.idArray(ids)])
            .map { row throws(PostgresError) -> (act: ID<Act>, signature: RecordedActSignature) in
                (try row["act_id"], try RecordedActSignature(row))
            }
        return try rows.map { row throws(PostgresError) in
            try RecordedAct(row, signatures: signatures)
        }
    }
}

extension ActContext {
    /// The key of the customer whose action the act is about; `nil` for every other act. What people sign about
    /// a customer has that customer's names and accounts in it, and is erased with them.
    var customerKey: ServiceSubject.BodyKey? {
        if let held { return .init(subject: held.subject, wrapped: held.wrappedKey) }
        return assisted.map {
            .init(subject: $0.versions.subject, wrapped: $0.versions.wrappedKey)
        }
    }
}

extension RecordedAct {
    /// The row's columns by name.
    fileprivate var columns: JSON {
        [
            "id": .string(id.text), "kind": .string(kind.rawValue),
            "role": .string(role.rawValue), "document": .bytea(document),
            "signatures_needed": .integer(Int64(kind.signaturesNeeded)),
            "created_by": .string(createdBy.id.text), "created_at": .string(createdAt.text),
            "expires_at": .string(expiresAt.text),
        ]
    }
}

extension NewActSignature {
    /// The row's columns by name.
    func columns(at: Instant) -> JSON {
        let assertion = command.assertion
        return [
            "act_id": .string(command.act.text), "client_id": .string(command.person.text),
            "person_key_id": .string(key.id.text), "challenge_id": .string(challenge.id.text),
            "message": .bytea(challenge.message),
            "client_data_json": .bytea(assertion.clientDataJSON),
            "authenticator_data": .bytea(assertion.authenticatorData),
            "signature": .bytea(assertion.signature), "signed_at": .string(at.text),
        ]
    }

    /// The key's sign count before and after, and its backup state after.
    var keyState: JSON {
        [
            "sign_count_before": .integer(Int64(key.stored.signCount)),
            "sign_count": .integer(Int64(signCount)), "backup_state": .bool(backupState),
        ]
    }
}
