/// What the API offers about actions; the adapter that speaks HTTP knows nothing else of them.
package protocol ActionService: Sendable {
    func create(_ command: CreateActionCommand) async throws(StoreFailure) -> CreationOutcome
    func issueChallenge(for action: ID<Action>) async throws(StoreFailure) -> ChallengeOutcome
    func decide(_ command: DecideCommand) async throws(StoreFailure) -> DecisionOutcome
    func cancel(_ action: ID<Action>, reason: String) async throws(StoreFailure) -> CancelOutcome
    /// One action as it stands now; `nil` when there is none.
    func action(_ id: ID<Action>) async throws(StoreFailure) -> RecordedAction?
    /// A customer's actions, newest first.
    func actions(_ query: ActionQuery) async throws(StoreFailure) -> [RecordedAction]
    /// A customer's payees that were not removed, oldest first.
    func payees(of customer: CustomerID) async throws(StoreFailure) -> [PayeeStanding]
}

/// Which actions to list.
package struct ActionQuery: Sendable {
    package let customerID: CustomerID
    package let authorization: Authorization?
    package let execution: Execution?
    /// At most this many, 1 to 101: a page, and one more that tells whether another page follows.
    package let limit: Int
    /// Only actions older than this one: the last of the page before.
    package let before: ID<Action>?

    package init(
        customerID: CustomerID, authorization: Authorization?, execution: Execution?, limit: Int,
        before: ID<Action>?
    ) {
        self.customerID = customerID
        self.authorization = authorization
        self.execution = execution
        self.limit = limit
        self.before = before
    }
}

/// A payee with what may be sent to it now.
package struct PayeeStanding: Sendable {
    /// Where a payee stands; the raw value is its word in the API.
    package enum State: String, Sendable {
        case coolingOff = "cooling_off"
        case new
        case established
    }

    package let id: ID<Payee>
    package let identity: PayeeIdentity
    package let alias: String
    package let state: State
    package let usableAt: Instant
    package let newUntil: Instant
    /// What may be sent while it is new, in the policy's home currency; `nil` for an established one.
    package let maySend: MaySend?

    /// What may be sent to a new payee.
    package struct MaySend: Sendable {
        package let single: Money
        package let sumLeft: Money

        package init(single: Money, sumLeft: Money) {
            self.single = single
            self.sumLeft = sumLeft
        }
    }

    package init(
        id: ID<Payee>, identity: PayeeIdentity, alias: String, state: State, usableAt: Instant,
        newUntil: Instant, maySend: MaySend?
    ) {
        self.id = id
        self.identity = identity
        self.alias = alias
        self.state = state
        self.usableAt = usableAt
        self.newUntil = newUntil
        self.maySend = maySend
    }
}

/// Who calls. Every client has one role.
package struct AuthenticatedClient: Hashable, Sendable {
    /// What a client may do; the raw value is its word everywhere.
    package enum Role: String, CaseIterable, Sendable {
        case backend, core, auditor, risk, officer, privacy
        case `operator`
    }

    package let id: ID<Client>
    package let role: Role

    package init(id: ID<Client>, role: Role) {
        self.id = id
        self.role = role
    }
}

/// Finds out who calls.
package protocol ClientDirectory: Sendable {
    /// The client that owns the key with this SHA-256; `nil` when there is none, or no more.
    func client(keyDigest: Digest) async throws(StoreFailure) -> AuthenticatedClient?

    /// The client that one of these subject alternative names of a verified certificate is bound to.
    func client(
        subjectAlternativeNames: [String]
    ) async throws(StoreFailure) -> AuthenticatedClient?
}
