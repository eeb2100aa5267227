package import Countersign
package import Evidence

/// Reads evidence for auditors; every reading is recorded before it is answered.
package struct PostgresEvidenceStore: EvidenceService {
    private let database: Database
    private let keyEncryption: KeyEncryptionKey
    private let service: ServiceSubject

    package init(database: Database, keyEncryption: KeyEncryptionKey, service: ServiceSubject) {
        self.database = database
        self.keyEncryption = keyEncryption
        self.service = service
    }

    package func records(
        _ query: EvidenceQuery, reader: ID<Client>
    ) async throws(StoreFailure) -> EvidencePage {
        let completeUntil = completeUntil(query, at: try await service.now())
        let (found, hasMore) = try await stored(query)
        try await service.record([
            ServiceEvidence.read(by: reader, filter: try await filter(query), count: found.count)
        ])
        let records = found.map(opened)
        return EvidencePage(
            records: records, next: hasMore ? records.last?.id : nil, completeUntil: completeUntil)
    }

    package func record(
        _ id: ID<Countersign.Evidence>, reader: ID<Client>
    ) async throws(StoreFailure) -> EvidenceDetail? {
        guard let found = try await stored(id) else { return nil }
        try await service.record([
            ServiceEvidence.read(by: reader, filter: ["id": .string(id.text)], count: 1)
        ])
        let record = opened(found)
        return EvidenceDetail(
            record: record, message: record.body?.bytes("message"),
            assertion: record.body.flatMap { RecordedAssertion(evidence: $0, of: found.record) })
    }

    package func bundle(
        of id: ID<Countersign.Evidence>, reader: ID<Client>
    ) async throws(StoreFailure) -> BundleOutcome {
        let bundles = PostgresBundles(database: database, keyEncryption: keyEncryption)
        let outcome = try await bundles.bundle(of: id)
        if case .bundle = outcome {
            try await service.record([
                ServiceEvidence.read(by: reader, filter: ["bundle": .string(id.text)], count: 1)
            ])
        }
        return outcome
    }

    package func export(
        _ query: EvidenceQuery, format: String, reader: ID<Client>
    ) async throws(StoreFailure) -> any EvidenceExport {
        // An export without a last record would go on with what it records itself.
        let now = try await service.now()
        var bounded = query
        bounded.to = min(query.to ?? now, now)
        let filter = try await filter(bounded)
        try await service.record([
            ServiceEvidence.exported(to: reader, filter: filter, format: format, count: nil)
        ])
        return PostgresEvidenceExport(
            store: self, query: bounded, completeUntil: completeUntil(query, at: now)
        ) {
            [service] count async throws(StoreFailure) in
            try await service.record([
                ServiceEvidence.exported(to: reader, filter: filter, format: format, count: count)
            ])
        }
    }

    private func completeUntil(_ query: EvidenceQuery, at now: Instant) -> Instant {
        let complete = Instant(milliseconds: now.milliseconds - Self.lateMilliseconds)
        return min(complete, query.to ?? complete)
    }

    /// How long after the time in its ID a record may become visible, in milliseconds: an ID is at most five
    /// minutes old when its record is written, and no role's statement may take longer than ten (roles.sql).
    private static let lateMilliseconds: Int64 = 920_000

    /// What was asked for, as the evidence of the reading keeps it: a customer by the random subject, and an
    /// external ID by the actions that have it, since what is told of a reader is not erased with the customer who
    /// was read about.
    private func filter(_ query: EvidenceQuery) async throws(StoreFailure) -> JSON {
        let actions = try await actions(query.externalID)
        guard let customer = query.customerID else {
            return query.json(customer: nil, actions: actions)
        }
        let subject = try await database.query(.loadCustomer, [.text(customer.text)]) {
            rows throws(PostgresError) -> ID<Subject>? in
            guard let row = try rows.single() else { return nil }
            return try row["subject_id"]
        }
        return query.json(customer: subject?.text ?? "unknown", actions: actions)
    }

    private func actions(_ external: ExternalID?) async throws(StoreFailure) -> [ID<Action>]? {
        guard let external else { return nil }
        return try await database.query(.actionsOfExternalID, [.text(external.text)]) {
            rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try row["id"] }
        }
    }

    /// Records that a command is about to show evidence.
    ///
    /// - Throws: ``StoreFailure``: then nothing may be shown.
    package func record(
        _ query: EvidenceQuery, by command: ServiceEvidence.ReadingCommand
    ) async throws(StoreFailure) {
        try await service.record([
            ServiceEvidence.read(by: command, filter: try await filter(query))
        ])
    }

    /// Records that a command is about to show one record.
    ///
    /// - Throws: ``StoreFailure``: then it may not be shown.
    package func record(
        _ id: ID<Countersign.Evidence>, by command: ServiceEvidence.ReadingCommand
    ) async throws(StoreFailure) {
        try await service.record([
            ServiceEvidence.read(by: command, filter: ["id": .string(id.text)])
        ])
    }

    /// One stored record, for `countersign evidence`; not recorded as a reading.
    ///
    /// - Throws: ``StoreFailure``.
    package func stored(
        _ id: ID<Countersign.Evidence>
    ) async throws(StoreFailure) -> Found? {
        try await database.run { connection throws(PostgresError) in
            try connection.execute(.readEvidence, [.id(id)]).single().map {
                row throws(PostgresError) in try Found(row)
            }
        }
    }

    /// The stored records of a query, for `countersign evidence`; not recorded as a reading.
    ///
    /// - Returns: The records with their customers, and whether more follow.
    /// - Throws: ``StoreFailure``.
    package func stored(
        _ query: EvidenceQuery
    ) async throws(StoreFailure) -> (found: [Found], hasMore: Bool) {
        let rows = try await database.run { connection throws(PostgresError) in
            try connection.execute(
                .listEvidence,
                [.json(query.columns.encoded), .id(query.after), .int(query.limit + 1)]
            ).map { row throws(PostgresError) in try Found(row) }
        }
        return (Array(rows.prefix(query.limit)), rows.count > query.limit)
    }

    /// A stored record and whose it is.
    package struct Found: Sendable {
        package let record: StoredEvidence
        package let customer: CustomerID?

        fileprivate init(_ row: Row) throws(PostgresError) {
            record = try StoredEvidence(row)
            let id: String? = try row["customer_id"]
            customer = id == nil ? nil : try word("customer_id", row) { try? CustomerID($0) }
        }
    }

    /// A stored record as the API shows it, with its decrypted body, and in it as one member more what was kept
    /// beside it.
    package func opened(_ found: Found) -> EvidenceRecord {
        let record = found.record
        let opened = record.open(with: keyEncryption)
        var body = opened.flatMap { JSON(recorded: $0.body) }
        if case .object(let members)? = body,
            let attachment = opened?.attachment.flatMap({ JSON(recorded: $0) })
        {
            body = .object(members + [.init("attachment", attachment)])
        }
        return EvidenceRecord(
            id: record.id, kind: record.kind,
            at: EvidenceLeaf(decoding: record.leaf)?.at ?? record.recordedAt,
            actionID: record.action, customerID: found.customer, credentialID: record.credential,
            leaf: record.leaf, leafHash: EvidenceSealer.leafHash(record.leaf), body: body)
    }
}

extension StoredEvidence {
    /// Reads a record with its body.
    init(_ row: Row) throws(PostgresError) {
        var body: EncryptedBody?
        if let wrapped: Bytes = try row["wrapped"], let salt: Bytes = try row["salt"] {
            body = EncryptedBody(
                salt: salt, nonce: try row["nonce"], ciphertext: try row["ciphertext"],
                wrappedKey: wrapped, of: try row["body_subject_id"])
        }
        try self.init(columns: row, body: body, isErased: try row["is_erased"])
    }

    /// Reads the columns of `evidence`.
    init(
        columns row: Row, body: EncryptedBody? = nil, isErased: Bool = false
    ) throws(PostgresError) {
        self.init(
            id: try row["id"], kind: try row["kind"], action: try row["action_id"],
            subject: try row["subject_id"], credential: try row["credential_id"],
            leaf: try row["leaf"], leafHash: try row["leaf_hash"],
            bodyCommitment: try row["body_commit"], recordedAt: try row["recorded_at"], body: body,
            isErased: isErased)
    }
}

extension EvidenceQuery {
    /// What was asked for, as the evidence of the reading keeps it.
    ///
    /// - Parameters:
    ///   - customer: The customer's random subject.
    ///   - actions: Those that have the external ID.
    /// - Returns: One object; what was not asked for is `null`.
    fileprivate func json(customer: String?, actions: [ID<Action>]?) -> JSON {
        .object(
            [
                .init("customer", .optional(customer)),
                .init(
                    "external_id_of", actions.map { .array($0.map { .string($0.text) }) } ?? .null),
                .init("after", .optional(after?.text)), .init("from", .optional(from?.text)),
                .init("to", .optional(to?.text)),
            ] + members)
    }

    /// As `find_evidence` takes it; what is `null` there is not asked for.
    fileprivate var columns: JSON {
        // No record is older than 1970, an ID can tell no earlier time, and Postgres knows no year 0.
        func clamped(_ instant: Instant?) -> JSON {
            .optional(instant.map { max($0, Instant(milliseconds: 0)).text })
        }
        return .object(
            [
                .init("customer_id", .optional(customerID?.text)), .init("from", clamped(from)),
                .init("to", clamped(to)), .init("external_id", .optional(externalID?.text)),
            ] + members)
    }

    private var members: [JSON.Member] {
        [
            .init("action_id", .optional(actionID?.text)),
            .init("subject_id", .optional(subject?.text)),
            .init("credential_id", .optional(credentialID?.text)),
            .init("kind", .optional(kind)), .init("outcome", .optional(outcome)),
            .init("policy_version", policyVersion.map { .integer(Int64($0)) } ?? .null),
            .init("policy_digest", .optional(policyDigest?.hex)),
            .init("hold", .optional(hold?.word)),
        ]
    }
}

extension HoldFilter {
    fileprivate var word: String {
        switch self {
        case .with: "with"
        case .without: "without"
        case .rule(let rule): rule
        }
    }
}

extension RecordedAssertion {
    /// Reads the assertion back from the body of a signed decision.
    fileprivate init?(evidence body: JSON, of record: StoredEvidence) {
        guard let credential = record.credential, let assertion = body["assertion"],
            let key = body.bytes("public_key"), let signature = assertion.bytes("signature")
        else { return nil }
        if let clientData = assertion.bytes("client_data_json"),
            let authenticatorData = assertion.bytes("authenticator_data")
        {
            self.init(
                credentialID: credential, publicKeySPKI: key,
                proof: .passkey(
                    signature: signature, clientDataJSON: clientData,
                    authenticatorData: authenticatorData))
        } else {
            guard let format = body.signatureFormat else { return nil }
            self.init(
                credentialID: credential, publicKeySPKI: key,
                proof: .deviceKey(signature: signature, format: format))
        }
    }
}
