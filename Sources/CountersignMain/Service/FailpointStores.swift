import Countersign

/// A store of actions whose process dies at a failpoint around it.
struct FailpointActionStore<Base: ActionStore & ActionReader>: ActionStore, ActionReader {
    let base: Base
    let failpoints: Failpoints

    func load(
        action: ID<Action>, challenge: ID<Challenge>?, credential: CredentialReference?
    ) async throws(StoreFailure) -> DecisionContext? {
        // Only a signed answer names a credential: questions and cancellations are not meant.
        if credential != nil { failpoints.pass(.approveBeforeLoad) }
        let context = try await base.load(
            action: action, challenge: challenge, credential: credential)
        if credential != nil { failpoints.pass(.approveAfterLoad) }
        return context
    }

    func commit(
        _ ruling: Ruling, on context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        guard case .approve = ruling else { return try await base.commit(ruling, on: context) }
        failpoints.pass(.approveBeforeCommit)
        let result = try await base.commit(ruling, on: context)
        if case .done = result { failpoints.pass(.approveAfterCommit) }
        return result
    }

    func create(
        _ creation: ActionCreation, on context: CreationContext
    ) async throws(StoreFailure) -> CreationResult {
        failpoints.pass(.createBeforeCommit)
        let result = try await base.create(creation, on: context)
        if case .created = result { failpoints.pass(.createAfterCommit) }
        return result
    }

    // MARK: Nothing dies here

    func barrier() async throws(StoreFailure) { try await base.barrier() }

    func loadForCreation(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationContext { try await base.loadForCreation(command) }

    func passkeys(of subject: ID<Subject>) async throws(StoreFailure) -> [ListedPasskey] {
        try await base.passkeys(of: subject)
    }

    func issue(
        _ challenge: Challenge, on context: DecisionContext
    ) async throws(StoreFailure) -> IssueResult { try await base.issue(challenge, on: context) }

    func cancel(
        reason: String, on context: DecisionContext
    ) async throws(StoreFailure) -> RecordedAction? {
        try await base.cancel(reason: reason, on: context)
    }

    func action(_ id: ID<Action>) async throws(StoreFailure) -> RecordedAction? {
        try await base.action(id)
    }

    func actions(_ query: ActionQuery) async throws(StoreFailure) -> [RecordedAction] {
        try await base.actions(query)
    }

    func payees(
        of customer: CustomerID, segment: String
    ) async throws(StoreFailure) -> [PayeeStanding] {
        try await base.payees(of: customer, segment: segment)
    }
}

/// A queue of deliveries whose process dies at a failpoint around it. Announcements of keys pass none.
struct FailpointDeliveryQueue: DeliveryQueue {
    let base: any DeliveryQueue
    let failpoints: Failpoints

    func claim(limit: Int, lease: Seconds) async throws(StoreFailure) -> [Claim] {
        let claims = try await base.claim(limit: limit, lease: lease)
        for case .order in claims.map(\.item) { failpoints.pass(.deliveryAfterClaim) }
        return claims
    }

    func settle(
        _ claim: Claim, _ outcome: DeliveryOutcome
    ) async throws(StoreFailure) -> Bool {
        if outcome.isReceipt { failpoints.pass(.deliveryAfterPush) }
        let isSettled = try await base.settle(claim, outcome)
        if outcome.isReceipt, isSettled { failpoints.pass(.deliveryAfterSettle) }
        return isSettled
    }
}

extension DeliveryOutcome {
    /// Whether core banking decided about an order.
    fileprivate var isReceipt: Bool {
        switch self {
        case .executed, .refused: true
        case .delivered, .retry, .unknown: false
        }
    }
}
