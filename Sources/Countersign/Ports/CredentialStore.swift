/// What enrolling, listing and revoking credentials needs from the database.
package protocol CredentialStore: Sendable {
    /// Reads what opening an enrolment looks at; makes the customer known first when it is not.
    func loadForOpening(
        _ customer: CustomerID
    ) async throws(StoreFailure) -> OpeningContext

    /// Stores an enrolment unless the customer has `openMax` open ones.
    func open(
        _ enrolment: RecordedEnrolment, openMax: Int, on context: OpeningContext
    ) async throws(StoreFailure) -> OpeningResult

    /// Reads, in one round trip and without locks, all that is looked at to finish an enrolment.
    ///
    /// - Parameters:
    ///   - enrolment: What the request names.
    ///   - customer: Whose it must be.
    ///   - voucher: The question and the credential that a vouching assertion names.
    /// - Returns: `nil` when this customer has no such enrolment.
    /// - Throws: ``StoreFailure``; nothing was written.
    func load(
        enrolment: ID<Enrolment>, of customer: CustomerID, voucher: VoucherReference?
    ) async throws(StoreFailure) -> EnrolmentContext?

    /// Stores the question by which an active credential vouches; earlier ones of the same enrolment
    /// are dead from then on.
    ///
    /// - Returns: `false` for a lost race.
    func question(
        _ authorization: RecordedAuthorization, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool

    /// Registers a credential in one transaction that compares and swaps everything that `context`
    /// holds: with it are spent the enrolment, and the question or the token that vouches.
    ///
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func enrol(
        _ credential: NewCredential, on context: EnrolmentContext
    ) async throws(StoreFailure) -> EnrolResult

    /// Spends an enrolment by an attempt that failed, with its evidence and its count.
    ///
    /// - Returns: `false` for a lost race.
    func spend(
        _ failed: FailedEnrolment, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool

    /// All credentials of a customer, oldest first.
    func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential]

    /// Reads what revoking a credential looks at; `nil` when there is none.
    func loadForRevocation(
        _ credential: ID<Credential>
    ) async throws(StoreFailure) -> RevocationContext?

    /// Revokes a credential and cancels the open actions of `context`, in one transaction.
    ///
    /// - Returns: The credential as it then is; `nil` for a lost race.
    func revoke(
        _ command: RevokeCredentialCommand, on context: RevocationContext
    ) async throws(StoreFailure) -> RecordedCredential?

    /// Commits a write of its own, so that everything read before it is as durable as this commit.
    func barrier() async throws(StoreFailure)
}

/// How a finish names who vouches for it.
package struct VoucherReference: Hashable, Sendable {
    package let challenge: ID<Challenge>
    package let credential: CredentialReference

    package init(challenge: ID<Challenge>, credential: CredentialReference) {
        self.challenge = challenge
        self.credential = credential
    }
}

/// What came of storing an enrolment.
package enum OpeningResult: Sendable {
    case opened, tooManyOpen
}

/// What came of registering a credential.
package enum EnrolResult: Sendable {
    case enrolled
    /// Something that it was based on has changed: load and decide again. Nothing was written.
    case lostRace
    /// The token was used before. Nothing was written.
    case tokenSpent
    /// The key, or the ID of the passkey, is registered already. No credential was written.
    case credentialExists
}
