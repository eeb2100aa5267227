/// Makes what people are asked: IDs, nonces, and the options of their clients.
package struct PersonAsker: Sendable {
    /// The relying-party ID, part of every message.
    package let audience: String
    /// For IDs, nonces and user handles.
    package let entropy: EntropySource
    /// Makes a challenge of a message, and the digests of documents and keys.
    package let sha256: Hasher256
    /// Builds what a client is asked to make.
    package let creationOptions: EnrolmentIssuer.PasskeyCreationOptions
    /// Builds what a client is asked to sign.
    package let requestOptions: ChallengeIssuer.PasskeyRequestOptions

    /// A question is good for so long. Source: WebAuthn L3 §15.1, at most 600 s.
    package static let lifetime = Seconds(300)

    /// Takes the same sources as the issuers of customers' challenges.
    package init(
        audience: String, entropy: EntropySource, sha256: Hasher256,
        creationOptions: @escaping EnrolmentIssuer.PasskeyCreationOptions,
        requestOptions: @escaping ChallengeIssuer.PasskeyRequestOptions
    ) {
        self.audience = audience
        self.entropy = entropy
        self.sha256 = sha256
        self.creationOptions = creationOptions
        self.requestOptions = requestOptions
    }

    /// A fresh ID at the database's time.
    package func makeID<Entity>(at instant: Instant) -> ID<Entity> {
        ID(at: instant, random: entropy(10))
    }

    /// A fresh nonce of a message.
    package func makeNonce() -> Bytes { entropy(SignedMessage.nonceSize) }
}
