package import Countersign
import Crypto
import Evidence

extension Administration {
    /// What came of importing a payee.
    package enum PayeeImportOutcome: Hashable, Sendable {
        case imported
        /// The account is an active payee of the customer already, or the row was imported before.
        case exists
        /// Two people have not signed this row under this act, or not lately, or not with keys that are
        /// still good; without an act, the database is not for development.
        case notSigned
    }

    /// An act that lets the operator import payees, as far as an import looks at it.
    package struct ImportAct: Hashable, Sendable {
        /// Whether enough people have signed it.
        package let isDone: Bool
        /// The digests of its rows, in hex.
        package let rows: [String]
    }

    /// Reads an act of the kind `payee.import`.
    ///
    /// - Returns: `nil` when there is none of this ID and kind.
    /// - Throws: ``StoreFailure``.
    package func importAct(_ id: ID<Act>) async throws(StoreFailure) -> ImportAct? {
        try await database.query(.readImportAct, [.id(id)]) { rows throws(PostgresError) in
            try rows.single().map { row throws(PostgresError) in
                let state: String = try row["state"]
                let document: Bytes = try row["document"]
                guard let content = JSON(recorded: document) else {
                    throw .malformedColumn("document")
                }
                return ImportAct(
                    isDone: state == ActState.done.rawValue,
                    rows: PayeeImportRequest.rows(recorded: content))
            }
        }
    }

    /// Imports an existing payee of the bank that two people have signed: established from the start.
    /// Doing it again changes nothing.
    ///
    /// - Throws: ``StoreFailure``.
    package func importPayee(
        _ row: PayeeRow, under act: ID<Act>
    ) async throws(StoreFailure) -> PayeeImportOutcome {
        try await importPayee(
            ServiceEvidence.ImportedPayee(row, under: act, digest: sha256(row.bytes)),
            [.id(act), .text(row.salt)])
    }

    /// The same of a payee that nobody signed, in development.
    ///
    /// - Throws: ``StoreFailure``.
    package func importPayee(
        _ identity: PayeeIdentity, alias: DisplayText, of customer: CustomerID
    ) async throws(StoreFailure) -> PayeeImportOutcome {
        try await importPayee(
            ServiceEvidence.ImportedPayee(customer: customer, identity: identity, alias: alias),
            [.null, .null])
    }

    private func importPayee(
        _ imported: ServiceEvidence.ImportedPayee, _ act: [Parameter]
    ) async throws(StoreFailure) -> PayeeImportOutcome {
        let known = try await customerKey(imported.customer)
        let payee = ID<Payee>(at: known.at, random: subjects.entropy(10))
        let evidence = try sealer.records(
            [ServiceEvidence.imported(payee: payee, imported)],
            subject: known.subject, wrappedKey: known.wrapped, at: known.at, heads: ChainHeads()
        ).json
        let status = try await database.status(
            .importPayee,
            [
                .id(known.subject), .id(payee), .text(imported.identity.account.text),
                .text(imported.identity.name.text), .text(imported.alias.text),
                .instant(known.at),
                .json(evidence),
            ] + act)
        switch status {
        case "imported": return .imported
        case "exists": return .exists
        case "not_signed": return .notSigned
        default: throw .internalFailure(code: "status")
        }
    }

    private typealias CustomerKey = (subject: ID<Subject>, wrapped: Bytes, at: Instant)

    private func customerKey(_ customer: CustomerID) async throws(StoreFailure) -> CustomerKey {
        if let found = try await loadCustomer(customer) { return found }
        try await subjects.introduce(customer, to: database)
        guard let found = try await loadCustomer(customer) else {
            throw .internalFailure(code: "customer")
        }
        return found
    }

    private func loadCustomer(_ customer: CustomerID) async throws(StoreFailure) -> CustomerKey? {
        try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(.loadCustomer, [.text(customer.text)])
            guard let row = try rows.single() else { return nil }
            return (try row["subject_id"], try row["wrapped"], try row["now"])
        }
    }
}
