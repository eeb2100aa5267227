/// Reads actions and payees as they stand.
package protocol ActionReader: Sendable {
    /// One action as it stands now; `nil` when there is none.
    func action(_ id: ID<Action>) async throws(StoreFailure) -> RecordedAction?
    /// A customer's actions, newest first.
    func actions(_ query: ActionQuery) async throws(StoreFailure) -> [RecordedAction]
    /// A customer's payees that were not removed, oldest first.
    ///
    /// - Parameters:
    ///   - customer: Whose.
    ///   - segment: By whose rules it is told what may be sent; see ``RecordedRisk/segment``.
    /// - Returns: The payees.
    /// - Throws: ``StoreFailure``.
    func payees(
        of customer: CustomerID, segment: String
    ) async throws(StoreFailure) -> [PayeeStanding]
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
    package let allowance: PayeeAllowance

    package init(
        id: ID<Payee>, identity: PayeeIdentity, alias: String, state: State, usableAt: Instant,
        newUntil: Instant, allowance: PayeeAllowance
    ) {
        self.id = id
        self.identity = identity
        self.alias = alias
        self.state = state
        self.usableAt = usableAt
        self.newUntil = newUntil
        self.allowance = allowance
    }
}
