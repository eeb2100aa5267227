/// All that the API offers about actions, made of the use cases.
package struct Actions<Store: ActionStore & ActionReader, Verifier: AssertionVerifier>:
    ActionService
{
    private let createAction: CreateAction<Store>
    private let issueChallenge: IssueChallenge<Store>
    private let cancelAction: CancelAction<Store>
    private let decideAction: DecideAction<Store, Verifier>
    private let store: Store

    package init(store: Store, verifier: Verifier, issuer: ChallengeIssuer, sha256: Hasher256) {
        self.store = store
        createAction = CreateAction(store: store, issuer: issuer, sha256: sha256)
        issueChallenge = IssueChallenge(store: store, issuer: issuer)
        cancelAction = CancelAction(store: store)
        decideAction = DecideAction(store: store, verifier: verifier, sha256: sha256)
    }

    package func create(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationOutcome { try await createAction(command) }

    package func issueChallenge(
        for action: ID<Action>
    ) async throws(StoreFailure) -> ChallengeOutcome { try await issueChallenge(for: action) }

    package func decide(
        _ command: DecideCommand
    ) async throws(StoreFailure) -> DecisionOutcome { try await decideAction(command) }

    package func cancel(
        _ action: ID<Action>, reason: String
    ) async throws(StoreFailure) -> CancelOutcome {
        try await cancelAction(action, reason: reason)
    }

    package func action(_ id: ID<Action>) async throws(StoreFailure) -> RecordedAction? {
        try await store.action(id)
    }

    package func actions(
        _ query: ActionQuery
    ) async throws(StoreFailure) -> [RecordedAction] { try await store.actions(query) }

    package func payees(
        of customer: CustomerID, segment: String
    ) async throws(StoreFailure) -> [PayeeStanding] {
        try await store.payees(of: customer, segment: segment)
    }
}
