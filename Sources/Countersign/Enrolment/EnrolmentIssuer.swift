/// Makes enrolments and the questions by which an active credential vouches for a new key.
package struct EnrolmentIssuer: Sendable {
    private let audience: String
    private let entropy: EntropySource
    private let sha256: Hasher256
    private let creationOptions: PasskeyCreationOptions
    private let requestOptions: ChallengeIssuer.PasskeyRequestOptions

    /// Builds a `PublicKeyCredentialCreationOptionsJSON`; the target `WebAuthn` provides it.
    package typealias PasskeyCreationOptions =
        @Sendable (
            _ challenge: Digest, _ userHandle: Bytes, _ label: String,
            _ exclude: [ListedPasskey], _ lifetime: Seconds, _ attestation: AttestationWish
        ) -> JSON

    /// Whether the policy needs an attestation of a new passkey for anything.
    package enum AttestationWish: Sendable {
        case needed
        case notNeeded
    }

    /// Bytes of a new user handle: random, so that it says nothing about the customer. WebAuthn L3
    /// §14.6.1 recommends 64.
    package static let userHandleSize = 64

    /// - Parameters:
    ///   - audience: The relying-party ID, part of every message.
    ///   - entropy: For IDs, nonces and user handles.
    ///   - sha256: Makes a passkey's challenge of a message.
    ///   - creationOptions: Builds what a client is asked to make.
    ///   - requestOptions: Builds what a client is asked to sign.
    package init(
        audience: String, entropy: EntropySource, sha256: Hasher256,
        creationOptions: @escaping PasskeyCreationOptions,
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

    /// An enrolment and how it is shown to whoever opens it.
    package struct Opened: Sendable {
        package let enrolment: RecordedEnrolment
        package let offer: EnrolmentOffer
    }

    /// Makes an enrolment.
    ///
    /// - Parameters:
    ///   - command: Who enrols what.
    ///   - context: What was read.
    /// - Returns: The enrolment to store and the offer to show once it is stored.
    package func open(_ command: BeginEnrolmentCommand, _ context: OpeningContext) -> Opened {
        let lifetime = context.policy.rules.challengeLifetime
        let id: ID<Enrolment> = makeID(at: context.at)
        let expiresAt = (context.at + lifetime).wholeSeconds
        let message = EnrolmentMessage(
            audience: audience, customerID: command.customerID, enrolmentID: id,
            expiresAt: expiresAt, nonce: entropy(SignedMessage.nonceSize)
        ).bytes
        // One handle for all of a customer's passkeys: an authenticator files them under it.
        let userHandle: Bytes? =
            command.kind == .passkey
            ? context.userHandle ?? entropy(EnrolmentIssuer.userHandleSize) : nil
        let webauthn = userHandle.map { handle in
            creationOptions(
                sha256(message), handle, command.label.text, context.passkeys, lifetime,
                context.policy.rules.requiresAttestation ? .needed : .notNeeded)
        }
        return Opened(
            enrolment: RecordedEnrolment(
                id: id, customerID: command.customerID, kind: command.kind,
                label: command.label.text, userHandle: userHandle, message: message,
                createdAt: context.at, expiresAt: expiresAt, isSpent: false),
            offer: EnrolmentOffer(
                id: id, kind: command.kind, expiresAt: expiresAt, message: message,
                webauthn: webauthn))
    }

    /// A question and how it is shown.
    package struct Questioned: Sendable {
        package let authorization: RecordedAuthorization
        package let challenge: AuthorizationChallenge
    }

    /// Makes a question by which an active credential vouches for one key.
    ///
    /// - Parameters:
    ///   - keyDigest: SHA-256 of the new key as DER SubjectPublicKeyInfo.
    ///   - context: The enrolment, which is open.
    /// - Returns: The question to store and the challenge to show once it is stored.
    package func question(_ keyDigest: Digest, _ context: EnrolmentContext) -> Questioned {
        let lifetime = context.policy.rules.challengeLifetime
        let id: ID<Challenge> = makeID(at: context.at)
        let enrolment = context.enrolment
        // An answer is of no use after the enrolment itself.
        let expiresAt = min((context.at + lifetime).wholeSeconds, enrolment.expiresAt)
        let message = AuthorizationMessage(
            audience: audience, challengeID: id, customerID: enrolment.customerID,
            enrolmentID: enrolment.id, expiresAt: expiresAt, keyDigest: keyDigest,
            nonce: entropy(SignedMessage.nonceSize)
        ).bytes
        let webauthn =
            context.passkeys.isEmpty
            ? nil : requestOptions(sha256(message), context.passkeys, lifetime)
        return Questioned(
            authorization: RecordedAuthorization(
                id: id, message: message, expiresAt: expiresAt, isSpent: false,
                keyDigest: keyDigest),
            challenge: AuthorizationChallenge(
                id: id, enrolmentID: enrolment.id, expiresAt: expiresAt, message: message,
                webauthn: webauthn))
    }
}
