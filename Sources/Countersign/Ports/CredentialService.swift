/// What the API offers about customers' credentials; the adapter that speaks HTTP knows nothing else
/// of them.
///
/// Enrolling takes two calls, or three when an active credential vouches for the new one:
///
/// ```
/// beginEnrolment ─▶ (beginAuthorization ─▶) finishEnrolment
/// ```
///
/// An enrolment ID is spent by its first finish, good or bad. So nothing here needs an idempotency
/// key: a finish that was carried out and is sent again is refused as ``EnrolmentRefusal/consumed``,
/// and ``credentials(of:)`` tells what became of it.
package protocol CredentialService: Sendable {
    /// Opens an enrolment for a customer, whom this call makes known when nobody did before.
    func beginEnrolment(
        _ command: BeginEnrolmentCommand
    ) async throws(StoreFailure) -> EnrolmentOutcome

    /// Issues the challenge by which an active credential of the customer vouches for a new key.
    ///
    /// Another one for the same enrolment replaces it.
    ///
    /// - Parameters:
    ///   - customer: Must be the enrolment's customer, else ``EnrolmentRefusal/notFound``.
    ///   - enrolment: An open enrolment.
    ///   - keyDigest: SHA-256 of the new key as DER SubjectPublicKeyInfo; it becomes part of the
    ///     signed message, and only this key can then finish with the answer.
    /// - Returns: The challenge, or ``EnrolmentRefusal/notAuthorized`` without an active credential.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func beginAuthorization(
        customer: CustomerID, enrolment: ID<Enrolment>, keyDigest: Digest
    ) async throws(StoreFailure) -> AuthorizationOutcome

    /// Registers the offered key when its possession is proved and somebody entitled vouches for it.
    ///
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost; then the
    ///   list of credentials tells.
    func finishEnrolment(
        _ command: FinishEnrolmentCommand
    ) async throws(StoreFailure) -> FinishOutcome

    /// All credentials of a customer, revoked ones included, oldest first; empty for an unknown one.
    func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential]

    /// Revokes a credential at once and for ever. One that is revoked already stays as it is.
    ///
    /// - Returns: The credential as it then is; `nil` when there is none.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func revoke(
        _ command: RevokeCredentialCommand
    ) async throws(StoreFailure) -> RecordedCredential?
}
