/// What deciding about an action needs from the database.
package protocol DecisionStore: Sendable {
    /// Reads, in one round trip and without locks, all that a decision looks at.
    ///
    /// - Parameters:
    ///   - action: The action that the request names.
    ///   - challenge: The challenge that the request names; `nil` for an unsigned rejection.
    ///   - credential: What the assertion says about its credential, not yet believed.
    /// - Returns: `nil` when there is no such action.
    /// - Throws: ``StoreFailure``; nothing was changed.
    func load(
        action: ID<Action>, challenge: ID<Challenge>?, credential: CredentialReference?
    ) async throws(StoreFailure) -> DecisionContext?

    /// Writes a ruling in one transaction that compares and swaps everything that `context` holds.
    ///
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost.
    func commit(
        _ ruling: Ruling, on context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult

    /// Commits a write of its own, so that everything read before it is as durable as this commit:
    /// a row can be visible before its synchronous standby has it.
    func barrier() async throws(StoreFailure)
}

/// What came of writing a ruling.
package enum CommitResult: Sendable {
    case done(DecisionOutcome)
    /// Something that the ruling was based on has changed: load and decide again. Nothing was written.
    case lostRace
    /// Under lock, the stored message and the stored action disagree. Nothing was written.
    case tampered
}

/// How an assertion names its credential.
package enum CredentialReference: Hashable, Sendable {
    case id(ID<Credential>)
    /// The ID that the authenticator chose.
    case passkey(rawID: Bytes)
}

extension UnverifiedAssertion {
    /// How this assertion names its credential.
    package var reference: CredentialReference {
        switch self {
        case .deviceKey(let credential, _, _): .id(credential)
        case .passkey(let assertion): .passkey(rawID: assertion.rawID)
        case .payment(let payment): .passkey(rawID: payment.passkey.rawID)
        }
    }

    /// All bytes of the assertion, unambiguously: the SHA-256 of them tells whether it is the same
    /// one again. Never the signature alone: another encoding of it can verify as well.
    package var bytesToCompare: Bytes {
        let parts: [Bytes] =
            switch self {
            case .deviceKey(let credential, let signature, let appAttest):
                [Bytes("device_key".utf8), Bytes(credential.text.utf8), signature]
                    + (appAttest.map { [$0] } ?? [])
            case .passkey(let passkey): [Bytes("passkey".utf8)] + passkey.partsToCompare
            case .payment(let payment):
                [Bytes("payment".utf8)] + payment.passkey.partsToCompare
                    + (payment.browserBoundSignature.map { [$0] } ?? [])
            }
        return parts.reduce(into: []) { bytes, part in
            // The length first, as eight bytes big-endian, so that no two lists run together.
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (56 - 8 * $0)) }
            bytes += part
        }
    }
}

extension PasskeyAssertion {
    fileprivate var partsToCompare: [Bytes] {
        [rawID, clientDataJSON, authenticatorData, signature, userHandle ?? []]
    }
}
