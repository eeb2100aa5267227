/// A request to recover a customer: to end all that the customer's keys were good for.
package struct RecoverCustomerCommand: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    package let customerID: CustomerID
    /// A token of the bank's identity system, as it came; none will do only in development.
    package let token: String?

    package init(client: ID<Client>, customerID: CustomerID, token: String?) {
        self.client = client
        self.customerID = customerID
        self.token = token
    }
}

/// What a recovery does with what was approved and not tried: the raw value is its word in policies,
/// answers and evidence.
package enum HeldApprovals: String, CaseIterable, Sendable {
    /// Whoever took the keys may have approved it.
    case cancel
    /// What the customer's keys approved while they were good is released in its time.
    case keep
}

/// All that was read to recover a customer.
package struct RecoveryContext: Sendable {
    package let at: Instant
    package let policy: Policy
    package let customer: CustomerVersion
    /// When the customer was recovered before.
    package let recoveredAt: Instant?
    /// The credentials that are not revoked.
    package let credentials: [LiveCredential]
    /// The approved actions that were never sent to core banking.
    package let openActions: [RevocationContext.OpenAction]
    package let openQuestions: OpenQuestions

    /// A credential that is not revoked, and where its chain of evidence stands.
    package struct LiveCredential: Sendable {
        package let id: ID<Credential>
        package let head: ChainHead

        package init(id: ID<Credential>, head: ChainHead) {
            self.id = id
            self.head = head
        }
    }

    package init(
        at: Instant, policy: Policy, customer: CustomerVersion, recoveredAt: Instant?,
        credentials: [LiveCredential], openActions: [RevocationContext.OpenAction],
        openQuestions: OpenQuestions
    ) {
        self.at = at
        self.policy = policy
        self.customer = customer
        self.recoveredAt = recoveredAt
        self.credentials = credentials
        self.openActions = openActions
        self.openQuestions = openQuestions
    }
}

/// A recovery that somebody entitled asked for, ready to be written.
package struct Recovery: Sendable {
    package let command: RecoverCustomerCommand
    /// `nil` only in development.
    package let token: RecoveryToken?
    package let heldApprovals: HeldApprovals
    /// The approvals that it cancels, and those that it keeps.
    package let cancelled, kept: [RevocationContext.OpenAction]

    package init(
        command: RecoverCustomerCommand, token: RecoveryToken?, heldApprovals: HeldApprovals,
        on context: RecoveryContext
    ) {
        self.command = command
        self.token = token
        self.heldApprovals = heldApprovals
        switch heldApprovals {
        case .cancel: (cancelled, kept) = (context.openActions, [])
        case .keep: (cancelled, kept) = ([], context.openActions)
        }
    }
}

/// What became of a customer's keys and approvals.
package struct RecoveredCustomer: Hashable, Sendable {
    package let customerID: CustomerID
    package let at: Instant
    package let heldApprovals: HeldApprovals
    package let revoked: [ID<Credential>]
    package let cancelled, kept: [ID<Action>]

    package init(_ recovery: Recovery, on context: RecoveryContext) {
        customerID = recovery.command.customerID
        at = context.at
        heldApprovals = recovery.heldApprovals
        revoked = context.credentials.map(\.id)
        cancelled = recovery.cancelled.map(\.id)
        kept = recovery.kept.map(\.id)
    }
}

/// What came of recovering a customer.
package enum RecoveryOutcome: Sendable {
    case recovered(RecoveredCustomer)
    case refused(RecoveryRefusal)
}

/// Why a customer was not recovered.
package enum RecoveryRefusal: Equatable, Sendable {
    /// No such customer.
    case notFound
    /// No token, a bad or spent one, or one for another customer.
    case notAuthorized
}
