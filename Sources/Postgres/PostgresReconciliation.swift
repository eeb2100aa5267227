package import Countersign
import Evidence

/// An action that core banking executed, as its receipt says.
package struct ExecutedAction: Hashable, Sendable {
    package let action: ID<Action>
    /// The record of the approval.
    package let evidence: ID<Countersign.Evidence>
    /// Core banking's own; `nil` when it gave none, or the customer was erased.
    package let reference: String?
    package let isErased: Bool
    /// As a decimal, of what moves money; `nil` when the customer was erased.
    package let amount: String?
    package let currency: String?

    /// Takes what was read.
    package init(
        action: ID<Action>, evidence: ID<Countersign.Evidence>, reference: String?, isErased: Bool,
        amount: String?, currency: String?
    ) {
        self.action = action
        self.evidence = evidence
        self.reference = reference
        self.isErased = isErased
        self.amount = amount
        self.currency = currency
    }
}

/// Reads what was executed, for a comparison with core banking's own list.
package struct PostgresReconciliation: Sendable {
    private static let pageMax = 500

    private let database: Database
    private let service: ServiceSubject

    /// - Parameters:
    ///   - database: As the role `countersign_auditor`.
    ///   - service: Records the reading.
    package init(database: Database, service: ServiceSubject) {
        self.database = database
        self.service = service
    }

    /// Records that somebody compares; to be called before anything is shown.
    ///
    /// - Throws: ``StoreFailure``.
    package func record(from: Instant?, until: Instant?) async throws(StoreFailure) {
        try await service.record([
            ServiceEvidence.read(
                by: .reconcile,
                filter: ["from": .optional(from?.text), "to": .optional(until?.text)])
        ])
    }

    /// A page of actions whose approval is of a period, in the order of their IDs.
    ///
    /// - Returns: Empty after the last one.
    /// - Throws: ``StoreFailure``.
    package func page(
        after last: ID<Action>?, from: Instant?, until: Instant?
    ) async throws(StoreFailure) -> [ExecutedAction] {
        try await database.run { connection throws(PostgresError) in
            try connection.execute(
                .listExecuted,
                [.id(last), .instant(from), .instant(until), .int(Self.pageMax)]
            ).map { row throws(PostgresError) in
                ExecutedAction(
                    action: try row["action_id"], evidence: try row["evidence_id"],
                    reference: try row["reference"], isErased: try row["is_erased"],
                    amount: try row["amount"], currency: try row["currency"])
            }
        }
    }
}
