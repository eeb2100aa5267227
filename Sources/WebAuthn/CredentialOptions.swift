package import Countersign

/// What the client is asked to make: `PublicKeyCredentialCreationOptionsJSON`.
///
/// Source: WebAuthn L3 §5.4, §5.1.8.
package struct CreationOptions: Sendable {
    /// For whom the passkey is made.
    package let relyingParty: RelyingParty
    /// Random bytes that stand for the customer, 1 to 64; no personal data.
    package let userHandle: Bytes
    /// Shown by the client when the customer chooses among accounts; the bank's choice of words.
    package let userName: String
    /// Random bytes that the answer must carry.
    package let challenge: Bytes
    /// How long the client shall try.
    package let timeout: Seconds
    /// The customer's passkeys: an authenticator that holds one is not enrolled twice.
    package let exclude: [CredentialDescriptor]
    /// What the verifier will demand of the answer.
    package let policy: VerifierPolicy
    /// Whether the authenticator shall be asked to attest its model.
    package let attestation: AttestationConveyance

    /// What the passkey shall be good for.
    package let use: Use

    /// What a passkey may be asked for, as far as that is settled when it is made.
    package enum Use: Hashable, Sendable {
        case signing
        /// Browsers may ask it to confirm payments too. They make such a passkey on the device itself
        /// only, and refuse to make any when the options do not say so.
        case signingAndPayments
    }

    /// Takes what the client shall be told.
    package init(
        relyingParty: RelyingParty, userHandle: Bytes, userName: String, challenge: Bytes,
        timeout: Seconds, exclude: [CredentialDescriptor], policy: VerifierPolicy,
        attestation: AttestationConveyance, use: Use
    ) {
        precondition((1...64).contains(userHandle.count), "a user handle has 1 to 64 bytes")
        self.relyingParty = relyingParty
        self.userHandle = userHandle
        self.userName = userName
        self.challenge = challenge
        self.timeout = timeout
        self.exclude = exclude
        self.policy = policy
        self.attestation = attestation
        self.use = use
    }

    /// As `PublicKeyCredential.parseCreationOptionsFromJSON()` reads it.
    package var json: JSON {
        let members: JSON = [
            "rp": ["id": .string(relyingParty.id), "name": .string(relyingParty.name)],
            "user": [
                "id": .string(Base64.encodeURL(userHandle)), "name": .string(userName),
                "displayName": .string(userName),
            ],
            "challenge": .string(Base64.encodeURL(challenge)),
            "pubKeyCredParams": .array(
                policy.algorithms.map {
                    ["type": "public-key", "alg": .integer($0.rawValue)]
                }),
            "timeout": .integer(timeout.count * 1000),
            "excludeCredentials": .array(exclude.map(\.json)),
            "authenticatorSelection": authenticatorSelection,
            "attestation": .string(attestation.rawValue),
        ]
        guard use == .signingAndPayments, case .object(let all) = members else { return members }
        // Source: Secure Payment Confirmation, `AuthenticationExtensionsPaymentInputs`.
        return .object(all + [.init("extensions", ["payment": ["isPayment": .bool(true)]])])
    }

    private var authenticatorSelection: JSON {
        let members: [JSON.Member] = [
            .init("residentKey", "preferred"), .init("requireResidentKey", .bool(false)),
            .init("userVerification", "required"),
        ]
        return .object(
            use == .signingAndPayments
                ? [.init("authenticatorAttachment", "platform")] + members : members)
    }
}

/// How much of an attestation the client shall pass on. Source: WebAuthn L3 §5.4.7.
package enum AttestationConveyance: String, CaseIterable, Sendable {
    case none
    /// As the authenticator made it.
    case direct
}

/// What the client is asked to sign: `PublicKeyCredentialRequestOptionsJSON`.
///
/// Source: WebAuthn L3 §5.5, §5.1.8.
package struct RequestOptions: Sendable {
    /// For whom the passkey was made.
    package let relyingParty: RelyingParty
    /// The digest of the message that is signed.
    package let challenge: Bytes
    /// How long the client shall try.
    package let timeout: Seconds
    /// The customer's usable passkeys: always named, since the customer is known.
    package let allow: [CredentialDescriptor]

    /// Takes what the client shall be told.
    package init(
        relyingParty: RelyingParty, challenge: Bytes, timeout: Seconds,
        allow: [CredentialDescriptor]
    ) {
        self.relyingParty = relyingParty
        self.challenge = challenge
        self.timeout = timeout
        self.allow = allow
    }

    /// As `PublicKeyCredential.parseRequestOptionsFromJSON()` reads it.
    package var json: JSON {
        [
            "challenge": .string(Base64.encodeURL(challenge)),
            "timeout": .integer(timeout.count * 1000),
            "rpId": .string(relyingParty.id),
            "allowCredentials": .array(allow.map(\.json)),
            "userVerification": "required",
        ]
    }
}

/// One credential in options: `PublicKeyCredentialDescriptorJSON`. Source: WebAuthn L3 §5.8.3.
package struct CredentialDescriptor: Hashable, Sendable {
    /// The ID that the authenticator chose.
    package let id: Bytes
    /// What the client said at registration; hints only.
    package let transports: [String]

    /// Takes what was recorded at registration.
    package init(id: Bytes, transports: [String]) {
        self.id = id
        self.transports = transports
    }

    var json: JSON {
        [
            "type": "public-key", "id": .string(Base64.encodeURL(id)),
            "transports": .array(transports.map { .string($0) }),
        ]
    }
}
