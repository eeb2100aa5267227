/// An enrolment as it is recorded.
package struct RecordedEnrolment: Sendable {
    package let id: ID<Enrolment>
    package let customerID: CustomerID
    package let kind: CredentialKind
    /// What the customer calls the new credential; empty when there is no name.
    package let label: String
    /// The random handle that stands for the customer in a new passkey; `nil` for a device key.
    package let userHandle: Bytes?
    /// The stored bytes of the ``EnrolmentMessage``.
    package let message: Bytes
    package let createdAt: Instant
    package let expiresAt: Instant
    /// Finished, well or badly.
    package let isSpent: Bool

    package init(
        id: ID<Enrolment>, customerID: CustomerID, kind: CredentialKind, label: String,
        userHandle: Bytes?, message: Bytes, createdAt: Instant, expiresAt: Instant, isSpent: Bool
    ) {
        self.id = id
        self.customerID = customerID
        self.kind = kind
        self.label = label
        self.userHandle = userHandle
        self.message = message
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.isSpent = isSpent
    }
}

/// A question by which an active credential vouches for one new key, as it is recorded.
package struct RecordedAuthorization: Sendable {
    package let id: ID<Challenge>
    /// The stored bytes of the ``AuthorizationMessage``.
    package let message: Bytes
    package let expiresAt: Instant
    /// Answered, or replaced by a later one.
    package let isSpent: Bool
    /// As recorded beside the message; the message is what counts, and must say the same.
    package let keyDigest: Digest

    package init(
        id: ID<Challenge>, message: Bytes, expiresAt: Instant, isSpent: Bool, keyDigest: Digest
    ) {
        self.id = id
        self.message = message
        self.expiresAt = expiresAt
        self.isSpent = isSpent
        self.keyDigest = keyDigest
    }
}

/// The customer's row as it was read: what a write compares, and the key of what it records.
package struct CustomerVersion: Sendable {
    package let subject: ID<Subject>
    package let version: Int64
    /// The customer's data key, wrapped.
    package let wrappedKey: Bytes

    package init(subject: ID<Subject>, version: Int64, wrappedKey: Bytes) {
        self.subject = subject
        self.version = version
        self.wrappedKey = wrappedKey
    }
}

/// What was read to open an enrolment.
package struct OpeningContext: Sendable {
    package let at: Instant
    package let policy: Policy
    package let standing: CustomerStanding
    package let customer: CustomerVersion
    /// The customer's active passkeys.
    package let passkeys: [ListedPasskey]
    /// The user handle of the customer's passkeys so far; `nil` when there never was one.
    package let userHandle: Bytes?

    package init(
        at: Instant, policy: Policy, standing: CustomerStanding, customer: CustomerVersion,
        passkeys: [ListedPasskey], userHandle: Bytes?
    ) {
        self.at = at
        self.policy = policy
        self.standing = standing
        self.customer = customer
        self.passkeys = passkeys
        self.userHandle = userHandle
    }
}

/// All that was read to finish an enrolment, or to ask who vouches for its key.
package struct EnrolmentContext: Sendable {
    /// Whether the customer has keys.
    package enum Possession: Sendable {
        /// There never was a credential.
        case none
        /// All of them are revoked.
        case former
        case active
    }

    /// The database's time at which this was read.
    package let at: Instant
    package let policy: Policy
    package let standing: CustomerStanding
    package let customer: CustomerVersion
    package let enrolment: RecordedEnrolment
    /// The question that the request names, if it belongs to this enrolment.
    package let authorization: RecordedAuthorization?
    /// The credential that the vouching assertion names, if it is this customer's.
    package let voucher: RegisteredCredential?
    /// Where that credential's chain of evidence stands.
    package let voucherHead: ChainHead?
    package let possession: Possession
    /// The customer's active passkeys.
    package let passkeys: [ListedPasskey]

    package init(
        at: Instant, policy: Policy, standing: CustomerStanding, customer: CustomerVersion,
        enrolment: RecordedEnrolment, authorization: RecordedAuthorization?,
        voucher: RegisteredCredential?, voucherHead: ChainHead?, possession: Possession,
        passkeys: [ListedPasskey]
    ) {
        self.at = at
        self.policy = policy
        self.standing = standing
        self.customer = customer
        self.enrolment = enrolment
        self.authorization = authorization
        self.voucher = voucher
        self.voucherHead = voucherHead
        self.possession = possession
        self.passkeys = passkeys
    }

    /// Why nothing can be done with the enrolment now; `nil` when something can.
    package var refusal: EnrolmentRefusal? {
        if enrolment.isSpent { return .consumed }
        if at >= enrolment.expiresAt { return .expired }
        return standing.lockedUntil.flatMap { $0 > at ? .customerLocked(until: $0) : nil }
    }
}

/// What was read to revoke a credential.
package struct RevocationContext: Sendable {
    package let at: Instant
    package let credential: RecordedCredential
    package let customer: CustomerVersion
    package let head: ChainHead
    /// The actions that this credential approved and that were never sent to core banking.
    package let openActions: [OpenAction]
    /// What ends with the credential.
    package let openQuestions: OpenQuestions

    /// An approved action and where its chain of evidence stands.
    package struct OpenAction: Sendable {
        package let id: ID<Action>
        package let head: ChainHead

        package init(id: ID<Action>, head: ChainHead) {
            self.id = id
            self.head = head
        }
    }

    package init(
        at: Instant, credential: RecordedCredential, customer: CustomerVersion, head: ChainHead,
        openActions: [OpenAction], openQuestions: OpenQuestions
    ) {
        self.at = at
        self.credential = credential
        self.customer = customer
        self.head = head
        self.openActions = openActions
        self.openQuestions = openQuestions
    }
}
