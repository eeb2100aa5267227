package import Countersign

/// Lets core banking fetch orders and hand in receipts: the other way to deliver.
///
/// As with sending, an order comes at least once, and core banking does an action ID once. What is leased
/// and not answered comes again when its lease is over; it never becomes unknown, since there is nobody
/// who could stop asking.
package struct PullDelivery: ExecutionService {
    private let queue: any PullQueue
    private let mayLease: Bool
    private let promise: PromiseMaker

    /// How long an order rests that does not match its own message: nobody can carry it out.
    private static let inconsistentRest = Seconds(300)
    /// As for ``DecideAction``.
    private static let racesMax = 100

    /// - Parameters:
    ///   - queue: Where work comes from.
    ///   - mayLease: Whether orders are for fetching. Receipts are taken in any case: they may be late.
    ///   - promise: Promises the records of approvals.
    package init(queue: any PullQueue, mayLease: Bool, promise: @escaping PromiseMaker) {
        self.queue = queue
        self.mayLease = mayLease
        self.promise = promise
    }

    package func lease(
        limit: Int, for lease: Seconds
    ) async throws(StoreFailure) -> LeasedWork? {
        guard mayLease else { return nil }
        let (announcements, orders) = try await queue.lease(limit: limit, for: lease)
        var documents: [LeasedDocument] = []
        for claim in orders {
            guard case .order(let order) = claim.item else { continue }
            guard let document = OrderDocument.json(order, promise: promise) else {
                _ = try await queue.settle(
                    claim, .retry(after: Self.inconsistentRest, cause: .inconsistentOrder))
                continue
            }
            documents.append(LeasedDocument(claim, document))
        }
        let keys: [LeasedDocument] = announcements.compactMap { claim in
            guard case .credential(let announcement) = claim.item else { return nil }
            return LeasedDocument(claim, OrderDocument.json(announcement))
        }
        // The lease of the first claim ends first.
        let claimed = (announcements + orders).map(\.claimedAt).min()
        return LeasedWork(
            expiresAt: claimed.map { $0 + lease }, credentials: keys, orders: documents)
    }

    package func take(_ receipt: SubmittedReceipt) async throws(StoreFailure) -> ReceiptOutcome {
        var isSettled = false
        for _ in 0..<Self.racesMax {
            guard let standing = try await queue.receipt(of: receipt.action) else {
                return .notFound
            }
            do throws(StoreFailure) {
                if let recorded = standing.receipt {
                    if recorded.receipt == receipt.receipt {
                        // What is answered again must be durable: it may be visible before it is.
                        if !isSettled { try await queue.barrier() }
                        return .recorded(recorded)
                    }
                    let isRecorded = try await queue.record(
                        contradiction: receipt, of: recorded, on: standing)
                    if isRecorded { return .contradicts(recorded) }
                } else if try await queue.settle(receipt) {
                    isSettled = true
                } else if try await queue.receipt(of: receipt.action)?.receipt == nil {
                    // Nobody else was quicker with a receipt: it is the lease that was lost.
                    return .leaseLost
                }
            } catch .outcomeUnknown {
                do throws(StoreFailure) { try await queue.barrier() } catch {
                    throw .outcomeUnknown
                }
            }
        }
        throw .unavailable
    }

    package func note(
        credential: ID<Credential>, lease: ID<Lease>
    ) async throws(StoreFailure) -> Bool {
        try await queue.note(credential, lease: lease)
    }
}

extension LeasedDocument {
    fileprivate init(_ claim: Claim, _ document: JSON) {
        self.init(
            lease: claim.leaseToken, attempt: claim.attempt,
            isQuestion: claim.phase == .reconcile, document: document)
    }
}
