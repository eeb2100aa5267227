package import Countersign
import Crypto
import Evidence

/// The queue for core banking that fetches what is due and hands in its receipts itself.
extension PostgresDeliveryQueue: PullQueue {
    package func lease(
        limit: Int, for lease: Seconds
    ) async throws(StoreFailure) -> (announcements: [Claim], orders: [Claim]) {
        let announcements = try await claimAnnouncements(limit, lease)
        return (announcements, try await claimOrders(limit, lease, areKeysTold: true))
    }

    package func note(
        _ credential: ID<Credential>, lease: ID<Lease>
    ) async throws(StoreFailure) -> Bool {
        try await done(.settleAnnouncement, [.id(credential), .id(lease)])
    }

    package func receipt(
        of action: ID<Action>
    ) async throws(StoreFailure) -> OrderStanding? {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.loadReceipt, [.id(action)]).single() else {
                return nil
            }
            return OrderStanding(
                at: try row["now"], subject: try row["subject_id"], wrappedKey: try row["wrapped"],
                head: ChainHead(length: try row["seq"], leafHash: try row["head"]),
                receipt: try RecordedReceipt(row, of: action))
        }
    }

    package func settle(_ submitted: SubmittedReceipt) async throws(StoreFailure) -> Bool {
        let outcome: DeliveryOutcome =
            switch submitted.receipt {
            case .executed(let reference):
                .executed(reference: reference.text, raw: submitted.raw)
            case .refused(let reason): .refused(reason: reason.text, raw: submitted.raw)
            }
        return try await settle(submitted.action, lease: submitted.lease, phase: .push, outcome)
    }

    package func record(
        contradiction submitted: SubmittedReceipt, of recorded: RecordedReceipt,
        on standing: OrderStanding
    ) async throws(StoreFailure) -> Bool {
        let receipt = submitted.receipt
        let evidence = try sealer.records(
            [ActionEvidence.contradicted(submitted, recorded: recorded.receipt)],
            subject: standing.subject, wrappedKey: standing.wrappedKey, at: standing.at,
            heads: ChainHeads(actions: [submitted.action: standing.head]))
        let said = [receipt.status.rawValue, receipt.reference, receipt.reason]
        let status = try await database.status(
            .recordContradiction,
            [
                .id(standing.subject), .id(submitted.action), .int(standing.head.length),
                .text(receipt.status.rawValue), .text(receipt.reference), .text(receipt.reason),
                .digest(sha256(JSON.array(said.map(JSON.optional)).encoded)),
                .json(evidence.json),
            ])
        switch status {
        case "recorded", "known": return true
        case "lost_race": return false
        default: throw .internalFailure(code: "status")
        }
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }
}

extension RecordedReceipt {
    /// Reads the receipt of a load; `nil` when there is none.
    fileprivate init?(_ row: Row, of action: ID<Action>) throws(PostgresError) {
        let status: String? = try row["status"]
        guard let status = status.flatMap(CoreReceipt.Status.init) else { return nil }
        let receipt: CoreReceipt =
            switch status {
            case .executed:
                .executed(reference: try word("reference", row) { try? ReceiptText($0) })
            case .refused: .refused(reason: try word("reason", row) { try? ReceiptText($0) })
            }
        self.init(action: action, receipt: receipt, at: try row["received_at"])
    }
}
