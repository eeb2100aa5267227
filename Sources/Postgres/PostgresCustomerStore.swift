package import Countersign
package import Evidence

/// Removes payees and recovers customers in Postgres.
///
/// Every load is one statement without locks; every write is one call of a function in
/// `sql/migrations/V0015_events_recovery.sql`, which is one transaction.
package struct PostgresCustomerStore: CustomerStore {
    private let database: Database
    private let sealer: EvidenceSealer
    private let policies = PolicyReader()

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - sealer: Makes the evidence of everything that is written.
    package init(database: Database, sealer: EvidenceSealer) {
        self.database = database
        self.sealer = sealer
    }

    package func loadForRemoval(
        of payee: ID<Payee>, from customer: CustomerID
    ) async throws(StoreFailure) -> PayeeRemovalContext? {
        try await database.query(.loadPayeeRemoval, [.text(customer.text), .id(payee)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return PayeeRemovalContext(
                at: try row["now"], customer: try CustomerVersion(row),
                identity: PayeeIdentity(
                    name: try word("name", row) { try? DisplayText($0, .payeeName) },
                    account: try word("account", row) { try? Account(text: $0) }),
                isRemoved: try row["is_removed"])
        }
    }

    package func remove(
        _ command: RemovePayeeCommand, on context: PayeeRemovalContext
    ) async throws(StoreFailure) -> Bool {
        let evidence = try seal(
            [CustomerEvidence.removed(command, context.identity)], context.customer, context.at)
        return try await database.succeeded(
            "removed", .removePayee,
            [
                .id(context.customer.subject), .int64(context.customer.version),
                .id(command.payee), .json(evidence),
            ])
    }

    package func loadForRecovery(
        of customer: CustomerID
    ) async throws(StoreFailure) -> RecoveryContext? {
        try await database.query(.loadRecovery, [.text(customer.text)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return RecoveryContext(
                at: try row["now"], policy: try policies.policy(row),
                customer: try CustomerVersion(row), recoveredAt: try row["recovered_at"],
                credentials: try ChainHead.list("live_credentials", row).map {
                    RecoveryContext.LiveCredential(id: $0.id, head: $0.head)
                },
                openActions: try ChainHead.list("open_actions", row).map {
                    RevocationContext.OpenAction(id: $0.id, head: $0.head)
                },
                openQuestions: try OpenQuestions(row) ?? .none)
        }
    }

    package func recover(
        _ recovery: Recovery, on context: RecoveryContext
    ) async throws(StoreFailure) -> RecoveryResult {
        let heads = ChainHeads(
            actions: Dictionary(
                uniqueKeysWithValues: recovery.cancelled.map { ($0.id, $0.head) }),
            credentials: Dictionary(
                uniqueKeysWithValues: context.credentials.map { ($0.id, $0.head) }))
        let evidence = try seal(
            CustomerEvidence.recovered(recovery, on: context), context.customer, context.at, heads)
        let cancelled = recovery.cancelled
        let status = try await database.status(
            .recoverCustomer,
            [
                .id(context.customer.subject), .int64(context.customer.version),
                .instant(context.at), .text(recovery.token?.id),
                .instant(recovery.token?.expiresAt), .bool(recovery.heldApprovals == .keep),
                .idArray(context.credentials.map(\.id)),
                .int64Array(context.credentials.map { Int64($0.head.length) }),
                .idArray(cancelled.map(\.id)),
                .int64Array(cancelled.map { Int64($0.head.length) }),
            ] + OpenQuestions.parameters(context.openQuestions) + [.json(evidence)])
        switch status {
        case "recovered": return .recovered
        case "lost_race": return .lostRace
        case "token_used": return .tokenSpent
        default: throw .internalFailure(code: "status")
        }
    }

    package func record(
        _ fault: AuthorizationFault, of command: RecoverCustomerCommand, on context: RecoveryContext
    ) async throws(StoreFailure) {
        let evidence = try seal(
            [CustomerEvidence.refused(command, fault)], context.customer, context.at)
        let status = try await database.status(
            .recordRefusedRecovery, [.id(context.customer.subject), .json(evidence)])
        guard status == "recorded" else { throw .internalFailure(code: "status") }
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }

    private func seal(
        _ drafts: [EvidenceDraft], _ customer: CustomerVersion, _ at: Instant,
        _ heads: ChainHeads = ChainHeads()
    ) throws(StoreFailure) -> Bytes {
        try sealer.records(
            drafts, subject: customer.subject, wrappedKey: customer.wrappedKey, at: at, heads: heads
        ).json
    }
}
