/// A stored action with where it stands.
package struct RecordedAction: Sendable {
    package let id: ID<Action>
    package let customerID: CustomerID
    package let content: ActionContent
    package let externalID: String?
    /// What the bank said about the risk, as far as a policy looks at it.
    package let risk: RecordedRisk
    package let policyVersion: Int
    package let authorization: Authorization
    package let execution: Execution
    package let hold: Hold?
    package let createdAt: Instant
    package let expiresAt: Instant

    package init(
        id: ID<Action>, customerID: CustomerID, content: ActionContent, externalID: String?,
        risk: RecordedRisk, policyVersion: Int, authorization: Authorization, execution: Execution,
        hold: Hold?,
        createdAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.customerID = customerID
        self.content = content
        self.externalID = externalID
        self.risk = risk
        self.policyVersion = policyVersion
        self.authorization = authorization
        self.execution = execution
        self.hold = hold
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The same action in other states, as a decision leaves it or a reader sees it.
    package func with(
        authorization: Authorization, execution: Execution, hold: Hold?
    ) -> RecordedAction {
        RecordedAction(
            id: id, customerID: customerID, content: content, externalID: externalID,
            risk: risk, policyVersion: policyVersion, authorization: authorization,
            execution: execution,
            hold: hold, createdAt: createdAt, expiresAt: expiresAt)
    }
}
