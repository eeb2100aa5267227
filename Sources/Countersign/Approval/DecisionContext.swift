/// All that was read to decide about one action.
package struct DecisionContext: Sendable {
    /// The database's time at which this was read.
    package let at: Instant
    package let action: RecordedAction
    /// Whether the stored columns are values at all. When not, ``action`` says what was signed, and
    /// nothing may be decided on it.
    package let actionIsIntact: Bool
    package let actionFailures: Int
    /// The challenge that the request names, if it belongs to this action.
    package let challenge: Challenge?
    package let customer: CustomerStanding
    /// The credential that the assertion names, if it is this customer's.
    package let credential: RegisteredCredential?
    package let decision: RecordedDecision?
    package let policy: Policy
    /// What the policy looks at; `nil` without a credential.
    package let state: RecordedState?
    package let versions: RecordVersions

    package init(
        at: Instant, action: RecordedAction, actionIsIntact: Bool, actionFailures: Int,
        challenge: Challenge?,
        customer: CustomerStanding, credential: RegisteredCredential?, decision: RecordedDecision?,
        policy: Policy, state: RecordedState?, versions: RecordVersions
    ) {
        self.at = at
        self.action = action
        self.actionIsIntact = actionIsIntact
        self.actionFailures = actionFailures
        self.challenge = challenge
        self.customer = customer
        self.credential = credential
        self.decision = decision
        self.policy = policy
        self.state = state
        self.versions = versions
    }
}

/// A customer's failed attempts and lock.
package struct CustomerStanding: Sendable {
    /// Consecutive failures over all actions and methods.
    package let failures: Int
    package let lockedUntil: Instant?

    package init(failures: Int, lockedUntil: Instant?) {
        self.failures = failures
        self.lockedUntil = lockedUntil
    }
}

/// The one decision about an action, as it was answered.
package struct RecordedDecision: Sendable {
    package let outcome: Authorization
    package let challengeID: ID<Challenge>?
    /// SHA-256 of the assertion's bytes; `nil` for an unsigned rejection.
    package let assertionDigest: Digest?
    /// The action in the states that were answered then.
    package let action: RecordedAction
    package let evidenceID: ID<Evidence>
    package let leafHash: Digest

    package init(
        outcome: Authorization, challengeID: ID<Challenge>?, assertionDigest: Digest?,
        action: RecordedAction, evidenceID: ID<Evidence>, leafHash: Digest
    ) {
        self.outcome = outcome
        self.challengeID = challengeID
        self.assertionDigest = assertionDigest
        self.action = action
        self.evidenceID = evidenceID
        self.leafHash = leafHash
    }
}

/// What the writing transaction compares and swaps: the versions of the rows that were read, and the
/// heads of the chains of evidence that it continues.
package struct RecordVersions: Sendable {
    package let subject: ID<Subject>
    package let customer: Int64
    package let action: ChainHead
    package let credential: ChainHead?
    /// The customer's data key, wrapped.
    package let wrappedKey: Bytes

    package init(
        subject: ID<Subject>, customer: Int64, action: ChainHead, credential: ChainHead?,
        wrappedKey: Bytes
    ) {
        self.subject = subject
        self.customer = customer
        self.action = action
        self.credential = credential
        self.wrappedKey = wrappedKey
    }
}

/// Where a chain of evidence ends.
package struct ChainHead: Hashable, Sendable {
    /// How many records the chain has.
    package let length: Int
    /// The leaf hash of the newest; `nil` for a chain without records.
    package let leafHash: Digest?

    package init(length: Int, leafHash: Digest?) {
        self.length = length
        self.leafHash = leafHash
    }

    /// The head of a chain that has no records yet.
    package static let empty = ChainHead(length: 0, leafHash: nil)
}
