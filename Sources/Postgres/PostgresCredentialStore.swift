package import Countersign
package import Evidence

/// Keeps customers' keys in Postgres.
///
/// Every load is one statement without locks; every write is one call of a function in
/// `sql/migrations/V0005_credential_functions.sql`, which is one transaction.
package struct PostgresCredentialStore: CredentialStore {
    let database: Database
    let sealer: EvidenceSealer
    let policies = PolicyReader()
    private let subjects: SubjectMaker

    /// Takes what every store is given.
    ///
    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - sealer: Makes the evidence of everything that is written.
    ///   - subjects: Makes stand-ins for customers that are not known yet.
    package init(database: Database, sealer: EvidenceSealer, subjects: SubjectMaker) {
        self.database = database
        self.sealer = sealer
        self.subjects = subjects
    }

    package func loadForOpening(
        _ customer: CustomerID
    ) async throws(StoreFailure) -> OpeningContext {
        if let context = try await openingContext(customer) { return context }
        try await subjects.introduce(customer, to: database)
        guard let context = try await openingContext(customer) else {
            throw .internalFailure(code: "customer")
        }
        return context
    }

    private func openingContext(
        _ customer: CustomerID
    ) async throws(StoreFailure) -> OpeningContext? {
        try await database.query(.loadEnrolmentOpening, [.text(customer.text)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try OpeningContext(row, policy: policies.policy(row))
        }
    }

    package func open(
        _ enrolment: RecordedEnrolment, openMax: Int, on context: OpeningContext
    ) async throws(StoreFailure) -> OpeningResult {
        let status = try await database.status(
            .beginEnrolment,
            [
                .id(context.customer.subject), .int(openMax), .id(enrolment.id),
                .text(enrolment.kind.rawValue), .text(enrolment.label),
                .bytes(enrolment.userHandle), .bytes(enrolment.message),
                .instant(enrolment.createdAt), .instant(enrolment.expiresAt),
            ])
        switch status {
        case "begun": return .opened
        case "too_many_open": return .tooManyOpen
        default: throw .internalFailure(code: "status")
        }
    }

    package func load(
        enrolment: ID<Enrolment>, of customer: CustomerID, voucher: VoucherReference?
    ) async throws(StoreFailure) -> EnrolmentContext? {
        try await database.query(
            .loadEnrolment,
            [.id(enrolment), .text(customer.text), .id(voucher?.challenge)]
                + CredentialReference.parameters(voucher?.credential)
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try EnrolmentContext(row, policy: policies.policy(row))
        }
    }

    package func question(
        _ authorization: RecordedAuthorization, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool {
        try await succeeded(
            "issued", .beginEnrolmentAuthorization,
            [
                .id(context.customer.subject), .id(context.enrolment.id), .id(authorization.id),
                .digest(authorization.keyDigest), .bytes(authorization.message),
                .instant(authorization.expiresAt),
            ])
    }

    package func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential] {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.activePolicy).single() else {
                throw .malformedColumn("policy")
            }
            let rules = try policies.policy(row).rules
            return try connection.execute(.listCredentials, [.text(customer.text)])
                .map { row throws(PostgresError) in try RecordedCredential(row, rules) }
        }
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }

    /// See ``Database/succeeded(_:_:_:)``.
    func succeeded(
        _ success: String, _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> Bool {
        try await database.succeeded(success, statement, parameters)
    }
}
