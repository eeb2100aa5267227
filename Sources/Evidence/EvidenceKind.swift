/// What a record of evidence tells of; the raw value is its word in leaves, queries and docs.
///
/// The list is data: a reader keeps a kind that it does not know.
package enum EvidenceKind: String, CaseIterable, Sendable {
    case actionCreated = "action.created"
    case challengeIssued = "challenge.issued"
    case attemptFailed = "attempt.failed"
    case actionApproved = "action.approved"
    case actionRejected = "action.rejected"
    case actionRefused = "action.refused"
    case actionCancelled = "action.cancelled"
    case actionExpired = "action.expired"
    case actionFailed = "action.failed"
    case actionHeld = "action.held"
    case actionReleased = "action.released"
    case orderExecuted = "order.executed"
    case orderRefused = "order.refused"
    case orderUnknown = "order.unknown"
    case credentialEnrolled = "credential.enrolled"
    /// A credential vouched for another one.
    case credentialAuthorized = "credential.authorized"
    /// A passkey was found copied to other devices, or copied no more.
    case credentialBackupStateChanged = "credential.backup_state_changed"
    /// A credential has failed too often in a row, and is disabled for ever.
    case credentialSuspended = "credential.suspended"
    case credentialRevoked = "credential.revoked"
    case customerLocked = "customer.locked"
    case payeeAdded = "payee.added"
    case payeeImported = "payee.imported"
    case payeeRemoved = "payee.removed"
    /// All that a customer's keys were good for has ended.
    case recovery
    /// Core banking said of a settled order something else than it said first.
    case orderContradicted = "order.contradicted"
    case policyPublished = "policy.published"
    /// Whether the installation is for development: recorded when that is first said, and when it ends.
    case installationStated = "installation.stated"
    case clientAdded = "client.added"
    case evidenceRead = "evidence.read"
    /// How strictly a credential's signed requests are judged was changed.
    case requestConfigured = "request.configured"
    /// A signed request that was accepted came again.
    case requestReplayed = "request.replayed"
    /// A customer's personal data is gone; told under the service itself, since nothing is told of that customer
    /// any more.
    case subjectErased = "subject.erased"
    /// Nothing of a customer is erased until the hold is lifted.
    case subjectHoldSet = "subject.hold_set"
    case subjectHoldLifted = "subject.hold_lifted"
    /// A month of evidence is kept elsewhere from now on.
    case evidenceDetached = "evidence.detached"
    /// A key signs checkpoints of the log from now on.
    case logKey = "log.key"
    /// A key signs promises of records from now on.
    case promiseKey = "promise.key"
    case tamperDetected = "tamper.detected"
    /// A person of the bank registered a key.
    case personKeyRegistered = "person.key_registered"
    /// Two other people admitted it.
    case personKeyAdmitted = "person.key_admitted"
    case personKeyRevoked = "person.key_revoked"
    /// The operator let the first keys of a role be admitted at once again.
    case personFoundingReopened = "person.founding_reopened"
    /// Whoever proposes a policy signed it.
    case policyProposed = "policy.proposed"
    /// Another person signed it.
    case policyApproved = "policy.approved"
    /// The same of every other kind of act.
    case actProposed = "act.proposed"
    case actApproved = "act.approved"
    /// What people wanted was refused: with the last signature, or when it was proposed.
    case actRefused = "act.refused"
    case actWithdrawn = "act.withdrawn"
    /// A draft is evaluated beside the policy in force from now on, without effect.
    case shadowStarted = "policy.shadow_started"
    case shadowEnded = "policy.shadow_ended"
}
