/// What the API offers to whoever protects the data of customers.
///
/// Every call throws ``StoreFailure``, after which the same call may be made again.
package protocol PrivacyService: Sendable {
    /// Erases a customer: all personal data goes, and every leaf, position and proof stays.
    func erase(
        _ customer: CustomerID, by client: ID<Client>
    ) async throws(StoreFailure) -> ErasureOutcome

    /// Sets a legal hold on a customer, or finds that one stands.
    ///
    /// - Returns: `nil` for an unknown customer.
    func setLegalHold(
        _ command: LegalHoldCommand
    ) async throws(StoreFailure) -> LegalHoldOutcome?

    /// Lifts the legal hold on a customer, or finds that none stands.
    ///
    /// - Returns: `nil` for an unknown customer.
    func liftLegalHold(
        _ command: LegalHoldCommand
    ) async throws(StoreFailure) -> LegalHoldOutcome?
}

/// A legal hold to set or to lift.
package struct LegalHoldCommand: Sendable {
    package let client: ID<Client>
    package let customer: CustomerID
    /// Why; it becomes evidence of the customer.
    package let reason: DisplayText

    /// Takes what was asked for.
    package init(client: ID<Client>, customer: CustomerID, reason: DisplayText) {
        self.client = client
        self.customer = customer
        self.reason = reason
    }
}

/// What came of setting or lifting a legal hold. Asking for what is so already changes and records nothing.
package enum LegalHoldOutcome: Hashable, Sendable {
    case changed(ID<Evidence>)
    case unchanged
}

/// What came of erasing a customer.
package enum ErasureOutcome: Hashable, Sendable {
    case erased(ErasedCustomer)
    case refused(ErasureRefusal)
}

/// A customer of whom nothing is left but a random name.
package struct ErasedCustomer: Hashable, Sendable {
    package let subject: ID<Subject>
    /// The record that says so.
    package let evidence: ID<Evidence>
    package let at: Instant
    /// How many records have lost their bodies.
    package let records: Int64

    /// Takes what was written.
    package init(subject: ID<Subject>, evidence: ID<Evidence>, at: Instant, records: Int64) {
        self.subject = subject
        self.evidence = evidence
        self.at = at
        self.records = records
    }
}

/// Why a customer is not erased, in the order in which it is checked.
package enum ErasureRefusal: Hashable, Sendable {
    /// There is no such customer, or it was erased before: nobody can tell the two apart any more.
    case notFound
    /// A legal hold stands.
    case legalHold
    /// An action is open, held, or under way to core banking.
    case actionOpen
    /// The newest record must be kept until then.
    case retention(until: Instant)
}
