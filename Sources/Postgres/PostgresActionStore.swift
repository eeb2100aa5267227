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
        let (subject, wrapped) = subjects.make()
        try await database.run { connection throws(PostgresError) in
            _ = try connection.execute(
                .ensureCustomer,
                [.text(command.customerID.text), .id(subject), .bytes(wrapped)])
        }
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
                ])
            guard let row = try rows.single() else { return nil }
            var answered: AnsweredCommand?
            if let fingerprint: Digest = try row["fingerprint"] {
                answered = AnsweredCommand(fingerprint: fingerprint, answer: try row["answer"])
            }
            return CreationContext(
                at: try row["now"], policy: try policies.policy(row), passkeys: try passkeys(row),
                answered: answered, subject: try row["subject_id"], wrappedKey: try row["wrapped"])
        }
    }

    package func create(
        _ creation: ActionCreation, on context: CreationContext
    ) async throws(StoreFailure) -> CreationResult {
        let evidence = try sealer.entries(
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

    package func passkeys(of subject: ID<Subject>) async throws(StoreFailure) -> [Bytes] {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.passkeys, [.id(subject)]).single() else {
                return []
            }
            return try passkeys(row)
        }
    }

    private func passkeys(_ row: Row) throws(PostgresError) -> [Bytes] {
        let text: String = try row["passkeys"]
        return text.split(separator: ",").compactMap { Hex.decode($0) }
    }

    package func issue(
        _ challenge: Challenge, on context: DecisionContext
    ) async throws(StoreFailure) -> IssueResult {
        let evidence = try entries(
            [ActionEvidence.issued(challenge, for: context.action.id)], on: context
        ).json
        let status = try await write(
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
        let evidence = try entries(
            [ActionEvidence.cancelled(action.id, reason: reason)], on: context
        ).json
        let status = try await write(
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

    package func barrier() async throws(StoreFailure) {
        try await database.run { connection throws(PostgresError) in
            _ = try connection.execute(.barrier, [])
        }
    }

    /// Runs a function that answers with a status.
    func write(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> String {
        try await database.run { connection throws(PostgresError) in
            try connection.status(statement, parameters)
        }
    }

    /// Seals drafts that continue the chains of a loaded action and credential.
    func entries(
        _ drafts: [EvidenceDraft], on context: DecisionContext
    ) throws(StoreFailure) -> [SealedEvidence] {
        var heads = [ID<Credential>: ChainHead]()
        if let credential = context.credential, let head = context.versions.credential {
            heads[credential.id] = head
        }
        return try sealer.entries(
            drafts, subject: context.versions.subject, wrappedKey: context.versions.wrappedKey,
            at: context.at,
            heads: ChainHeads(
                actions: [context.action.id: context.versions.action], credentials: heads))
    }
}

/// Makes the random stand-in of a customer and its data key.
package struct SubjectMaker: Sendable {
    private let keyEncryption: KeyEncryptionKey
    let entropy: EntropySource

    package init(keyEncryption: KeyEncryptionKey, entropy: EntropySource) {
        self.keyEncryption = keyEncryption
        self.entropy = entropy
    }

    /// A fresh subject with its data key, wrapped.
    package func make() -> (subject: ID<Subject>, wrappedKey: Bytes) {
        // Random, not a UUIDv7: it shall not tell when somebody became a customer. Version 4 by form.
        var bits: UInt128 = 0
        for byte in entropy(16) { bits = bits << 8 | UInt128(byte) }
        bits = bits & ~(0xF << 76) | 0x4 << 76
        bits = bits & ~(0b11 << 62) | 0b10 << 62
        let subject = ID<Subject>(rawValue: bits)
        return (subject, keyEncryption.wrapFreshKey(for: subject, entropy: entropy))
    }
}

extension EvidenceSealer {
    /// Seals drafts, or fails what they belong to.
    ///
    /// - Throws: ``StoreFailure/internalFailure(code:)`` when the customer's key cannot be unwrapped.
    func entries(
        _ drafts: [EvidenceDraft], subject: ID<Subject>, wrappedKey: Bytes, at: Instant,
        heads: ChainHeads
    ) throws(StoreFailure) -> [SealedEvidence] {
        guard
            let entries = seal(
                drafts, subject: subject, wrappedKey: wrappedKey, at: at, heads: heads)
        else { throw .internalFailure(code: "data_key") }
        return entries
    }
}

extension [SealedEvidence] {
    /// As the database's functions take them.
    var json: Bytes { JSON.array(map(\.json)).encoded }
}

extension Connection {
    /// Runs a function that answers with one row of one column `status`.
    borrowing func status(
        _ statement: Statement, _ parameters: [Parameter]
    ) throws(PostgresError) -> String {
        guard let row = try execute(statement, parameters).single() else {
            throw .malformedColumn("status")
        }
        return try row["status"]
    }
}
