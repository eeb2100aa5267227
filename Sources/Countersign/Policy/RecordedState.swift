/// All that a policy looks at beside the action itself, as recorded when the decision was made.
///
/// It is stored with the evidence, so that an auditor can decide again and must find the same.
package struct RecordedState: Sendable {
    /// The database's time at which it was read.
    package let at: Instant
    /// The bank's day at that time, `YYYY-MM-DD` in the policy's time zone.
    package let bankDay: String
    /// Until when a change of contact data holds what moves money; past or `nil` when none does.
    package let contactHoldUntil: Instant?
    package let credentialKind: CredentialKind
    package let credentialCreatedAt: Instant
    /// The profiles of attestation that the credential met when it was enrolled.
    package let credentialProfiles: [AttestationProfile]
    /// Whether the credential may be copied to other devices.
    package let credentialBackupEligible: Bool
    /// The customer's payee at the action's account; `nil` when there is none.
    package let payee: RecordedPayee?
    /// Minor units of the action's currency that count for the bank's day.
    package let usedToday: Int64
    /// Minor units that count for the payee while it is new.
    package let usedWhileNew: Int64

    package init(
        at: Instant, bankDay: String, contactHoldUntil: Instant?, credentialKind: CredentialKind,
        credentialCreatedAt: Instant, credentialProfiles: [AttestationProfile],
        credentialBackupEligible: Bool, payee: RecordedPayee?, usedToday: Int64,
        usedWhileNew: Int64
    ) {
        self.at = at
        self.bankDay = bankDay
        self.contactHoldUntil = contactHoldUntil
        self.credentialKind = credentialKind
        self.credentialCreatedAt = credentialCreatedAt
        self.credentialProfiles = credentialProfiles
        self.credentialBackupEligible = credentialBackupEligible
        self.payee = payee
        self.usedToday = usedToday
        self.usedWhileNew = usedWhileNew
    }

    /// The credential, as a demand looks at it.
    package var credentialTraits: CredentialTraits {
        CredentialTraits(
            kind: credentialKind, profiles: credentialProfiles,
            isBackupEligible: credentialBackupEligible)
    }
}

/// A payee of a customer, with its times.
package struct RecordedPayee: Sendable {
    package let id: ID<Payee>
    package let usableAt: Instant
    package let newUntil: Instant
    package let firstExecutedAt: Instant?

    package init(
        id: ID<Payee>, usableAt: Instant, newUntil: Instant, firstExecutedAt: Instant?
    ) {
        self.id = id
        self.usableAt = usableAt
        self.newUntil = newUntil
        self.firstExecutedAt = firstExecutedAt
    }

    /// New until its period is over *and* one transfer to it was executed.
    package func isNew(at instant: Instant) -> Bool {
        instant < newUntil || firstExecutedAt == nil
    }
}
