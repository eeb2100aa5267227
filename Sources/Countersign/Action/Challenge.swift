/// A single-use question for one action. At most one per action is live.
package struct Challenge: Sendable {
    /// Where a challenge stands. Every state but `live` is final.
    package enum State: String, Sendable {
        case live
        /// A newer challenge took its place.
        case superseded
        /// Answered, for good or for a refusal by policy.
        case consumed
        /// Its attempts are used up.
        case exhausted
        /// Dead with its action, or by tampering.
        case void
    }

    package let id: ID<Challenge>
    package let state: State
    package let failures: Int
    package let nonce: Bytes
    package let approveMessage: Bytes
    package let rejectMessage: Bytes
    package let createdAt: Instant
    package let expiresAt: Instant

    package init(
        id: ID<Challenge>, state: State, failures: Int, nonce: Bytes, approveMessage: Bytes,
        rejectMessage: Bytes, createdAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.state = state
        self.failures = failures
        self.nonce = nonce
        self.approveMessage = approveMessage
        self.rejectMessage = rejectMessage
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The stored bytes of one of its two messages.
    package func message(_ decision: SignedDecision) -> Bytes {
        switch decision {
        case .approve: approveMessage
        case .reject: rejectMessage
        }
    }
}
