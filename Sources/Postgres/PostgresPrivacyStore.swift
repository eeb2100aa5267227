package import Countersign
package import Evidence

/// Erases customers in Postgres, and keeps legal holds.
///
/// What is looked at is read as the service, and nothing but the three functions of
/// `sql/migrations/V0033_privacy.sql` is called as `countersign_privacy`: the service itself cannot erase.
package struct PostgresPrivacyStore: PrivacyService {
    /// How often something may change between looking and erasing.
    private static let racesMax = 5

    private let database: Database
    private let privacy: Database?
    private let sealer: EvidenceSealer
    private let service: ServiceSubject
    private let retentionDays: Int

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - privacy: As the role `countersign_privacy`; without it every call is ``StoreFailure/unavailable``.
    ///   - sealer: Makes the evidence of legal holds.
    ///   - service: Records erasures.
    ///   - retentionDays: How old a customer's newest record must be. The database knows the law's least.
    package init(
        database: Database, privacy: Database?, sealer: EvidenceSealer, service: ServiceSubject,
        retentionDays: Int
    ) {
        self.database = database
        self.privacy = privacy
        self.sealer = sealer
        self.service = service
        self.retentionDays = retentionDays
    }

    /// What erasing looks at.
    private struct Found: Sendable {
        let at: Instant
        let customer: CustomerVersion
        let serviceRecords: [ID<Countersign.Evidence>]
        let newestAt: Instant?
        let records: Int64

        init(_ row: Row) throws(PostgresError) {
            at = try row["now"]
            customer = try CustomerVersion(row)
            serviceRecords = try row.list("service_records") { ID($0) }
            newestAt = try row["newest_at"]
            records = try row["records"]
        }
    }

    package func erase(
        _ customer: CustomerID, by client: ID<Client>
    ) async throws(StoreFailure) -> ErasureOutcome {
        guard let privacy else { throw .unavailable }
        for _ in 0..<Self.racesMax {
            guard let found = try await load(customer) else { return .refused(.notFound) }
            let draft = PrivacyEvidence.erased(
                found.customer.subject, by: client, records: found.records,
                serviceRecords: found.serviceRecords, retentionDays: retentionDays)
            let (evidence, id) = try await seal(draft)
            let status = try await privacy.status(
                .eraseCustomer,
                [
                    .id(found.customer.subject), .int64(found.customer.version),
                    .int(retentionDays), .idArray(found.serviceRecords), .json(evidence),
                ])
            switch status {
            case "erased":
                return .erased(
                    ErasedCustomer(
                        subject: found.customer.subject, evidence: id, at: found.at,
                        records: found.records))
            case "unknown": return .refused(.notFound)
            case "legal_hold": return .refused(.legalHold)
            case "action_open": return .refused(.actionOpen)
            case "retention":
                let days = Seconds(Int64(retentionDays) * 86_400)
                return .refused(.retention(until: (found.newestAt ?? found.at) + days))
            case "lost_race": continue
            default: throw .internalFailure(code: "status")
            }
        }
        throw .unavailable
    }

    package func setLegalHold(
        _ command: LegalHoldCommand
    ) async throws(StoreFailure) -> LegalHoldOutcome? {
        try await change(
            .setLegalHold, PrivacyEvidence.holdSet(command), command.customer, done: "set",
            already: "exists")
    }

    package func liftLegalHold(
        _ command: LegalHoldCommand
    ) async throws(StoreFailure) -> LegalHoldOutcome? {
        try await change(
            .liftLegalHold, PrivacyEvidence.holdLifted(command), command.customer, done: "lifted",
            already: "none")
    }

    private func change(
        _ statement: Statement, _ draft: EvidenceDraft, _ customer: CustomerID, done: String,
        already: String
    ) async throws(StoreFailure) -> LegalHoldOutcome? {
        guard let privacy else { throw .unavailable }
        guard let found = try await load(customer) else { return nil }
        let records = try sealer.records(
            [draft], subject: found.customer.subject, wrappedKey: found.customer.wrappedKey,
            at: found.at, heads: ChainHeads())
        guard let record = records.first else { throw .internalFailure(code: "evidence") }
        let status = try await privacy.status(
            statement, [.id(found.customer.subject), .json(records.json)])
        switch status {
        case done: return .changed(record.id)
        case already: return .unchanged
        case "unknown": return nil
        default: throw .internalFailure(code: "status")
        }
    }

    private func load(_ customer: CustomerID) async throws(StoreFailure) -> Found? {
        try await database.query(.loadErasure, [.text(customer.text)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try Found(row)
        }
    }

    private func seal(
        _ draft: EvidenceDraft
    ) async throws(StoreFailure) -> (Bytes, ID<Countersign.Evidence>) {
        let records = try await service.records([draft])
        guard let record = records.first else { throw .internalFailure(code: "evidence") }
        return (records.json, record.id)
    }
}
