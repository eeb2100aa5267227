/// Makes challenges: 32 random bytes, an expiry, and the two messages of which one may be signed.
package struct ChallengeIssuer: Sendable {
    private let audience: String
    private let entropy: EntropySource
    private let sha256: Hasher256
    private let requestOptions: PasskeyRequestOptions
    private let paymentRequest: PaymentRequest?

    /// Builds a `PublicKeyCredentialRequestOptionsJSON` for a challenge and the passkeys that may
    /// answer it; the target `WebAuthn` provides it.
    package typealias PasskeyRequestOptions =
        @Sendable (_ challenge: Digest, _ passkeys: [ListedPasskey], _ lifetime: Seconds) -> JSON

    /// Builds what a page needs to have the browser show a transfer and ask for it; the target
    /// `WebAuthn` provides it. The same transfer and challenge must always give the same.
    package typealias PaymentRequest =
        @Sendable (
            _ transfer: Transfer, _ challenge: Digest, _ passkeys: [Bytes], _ lifetime: Seconds
        ) -> JSON

    /// - Parameters:
    ///   - audience: The relying-party ID.
    ///   - entropy: Where nonces and IDs come from.
    ///   - sha256: Makes a passkey's challenge of a message.
    ///   - requestOptions: Asks a passkey; see ``PasskeyRequestOptions``.
    ///   - paymentRequest: Asks a browser; `nil` when payments are not confirmed by browsers here.
    package init(
        audience: String, entropy: EntropySource, sha256: Hasher256,
        requestOptions: @escaping PasskeyRequestOptions, paymentRequest: PaymentRequest?
    ) {
        self.audience = audience
        self.entropy = entropy
        self.sha256 = sha256
        self.requestOptions = requestOptions
        self.paymentRequest = paymentRequest
    }

    /// A challenge and the document that shows it.
    package struct Issued: Sendable {
        package let challenge: Challenge
        package let json: JSON
    }

    /// A fresh ID at the database's time.
    package func makeID<Entity>(at instant: Instant) -> ID<Entity> {
        ID(at: instant, random: entropy(10))
    }

    /// Makes one challenge; nothing is stored.
    ///
    /// - Parameters:
    ///   - action: The action to be signed.
    ///   - at: The database's time.
    ///   - rules: The active policy.
    ///   - passkeys: The customer's active passkeys; those that the policy lets approve this are listed.
    /// - Returns: The challenge, and the document that shows it.
    package func issue(
        for action: RecordedAction, at: Instant, rules: PolicyRules, passkeys: [ListedPasskey]
    ) -> Issued {
        let nonce = entropy(SignedMessage.nonceSize)
        let id: ID<Challenge> = makeID(at: at)
        // A challenge never outlives its action, and is told in whole seconds.
        let expiresAt = min((at + rules.challengeLifetime).wholeSeconds, action.expiresAt)
        func message(_ decision: SignedDecision) -> Bytes {
            SignedMessage(
                actionID: action.id, audience: audience, challengeID: id,
                customerID: action.customerID, decision: decision, expiresAt: expiresAt,
                nonce: nonce, content: action.content
            ).bytes
        }
        let challenge = Challenge(
            id: id, state: .live, failures: 0, nonce: nonce, approveMessage: message(.approve),
            rejectMessage: message(.reject), createdAt: at, expiresAt: expiresAt)
        let demand = rules.of(segment: action.risk.segment).demand(for: action.content, action.risk)
        let passkeys = passkeys.filter { demand.isMet(by: $0.traits) }
        return Issued(
            challenge: challenge,
            json: challenge.json(
                action: action.id, attemptsMax: rules.attempts.perChallenge,
                webauthn: options(for: challenge, passkeys, rules.challengeLifetime),
                payment: payment(
                    for: challenge, action.content, passkeys, rules.challengeLifetime)))
    }

    private func options(
        for challenge: Challenge, _ passkeys: [ListedPasskey], _ lifetime: Seconds
    ) -> JSON? {
        guard !passkeys.isEmpty else { return nil }
        return [
            "approve": requestOptions(sha256(challenge.approveMessage), passkeys, lifetime),
            "reject": requestOptions(sha256(challenge.rejectMessage), passkeys, lifetime),
        ]
    }

    /// A browser can only ask for a payment, so there is nothing to reject with.
    private func payment(
        for challenge: Challenge, _ content: ActionContent, _ passkeys: [ListedPasskey],
        _ lifetime: Seconds
    ) -> JSON? {
        guard let paymentRequest, !passkeys.isEmpty, case .transfer(let transfer) = content else {
            return nil
        }
        return paymentRequest(
            transfer, sha256(challenge.approveMessage), passkeys.map(\.credentialID), lifetime)
    }
}
