package import Countersign
package import Crypto
package import WebAuthn

/// A phone with a device key and a passkey: what it signs verifies.
package struct TestPhone: Sendable {
    package let deviceKeyID: ID<Credential>
    package let passkeyID: ID<Credential>
    private let key: P256PrivateKey
    private let authenticator: SoftwareAuthenticator
    private let userHandle = Fixtures.bytes32(4)

    /// - Parameter number: Decides the IDs of its two credentials; the keys are fresh.
    /// - Throws: When no key can be made.
    package init(_ number: Int = 0) throws {
        deviceKeyID = Fixtures.id(1000 + 2 * number)
        passkeyID = Fixtures.id(1001 + 2 * number)
        key = try .generate()
        authenticator = SoftwareAuthenticator(
            relyingPartyID: Fixtures.audience,
            credentialID: Bytes(repeating: UInt8(truncatingIfNeeded: 64 + number), count: 16),
            key: try .generate())
    }

    /// A signature of the device key over a message.
    package func sign(_ message: Bytes) throws -> UnverifiedAssertion {
        .deviceKey(credential: deviceKeyID, signature: try key.sign(message))
    }

    /// An assertion of the passkey over a message.
    ///
    /// - Parameters:
    ///   - message: The bytes whose SHA-256 is the challenge.
    ///   - flags: Of the authenticator data: 1 is the user present, 4 verified (WebAuthn L3 §6.1).
    ///   - signCount: Of the authenticator data.
    ///   - relyingPartyID: For whom the authenticator is made to answer.
    /// - Returns: What a client would send.
    /// - Throws: When OpenSSL does not sign.
    package func assert(
        _ message: Bytes, flags: UInt8 = 0x05,
        signCount: UInt32 = 1, relyingPartyID: String = Fixtures.audience
    ) throws -> UnverifiedAssertion {
        let other = SoftwareAuthenticator(
            relyingPartyID: relyingPartyID, credentialID: authenticator.credentialID,
            key: authenticator.key)
        return .passkey(
            try other.assert(
                challenge: sha256(message).bytes, origin: Fixtures.origin,
                flags: AuthenticatorFlags(rawValue: flags),
                signCount: signCount, userHandle: userHandle))
    }

    /// A browser's confirmation of the transfer that a message approves.
    ///
    /// - Parameters:
    ///   - message: The message; its digest is the challenge.
    ///   - request: What the page asks the browser; `nil` for what the service offers.
    ///   - browserBoundKey: The browser's own key.
    /// - Returns: What a page would send.
    /// - Throws: When the message approves no transfer, or OpenSSL does not sign.
    package func confirm(
        _ message: Bytes, request: JSON? = nil, browserBoundKey: P256PrivateKey? = nil
    ) throws -> UnverifiedAssertion {
        guard case .transfer(let transfer)? = SignedMessage(decoding: message)?.content else {
            throw InvalidValue("message", "There is no transfer to confirm.")
        }
        let offered = try Fixtures.paymentRequest(transfer, sha256(message), [], Seconds(300))
        return .payment(
            try authenticator.confirm(
                request ?? offered, origin: Fixtures.origin, flags: [.userPresent, .userVerified],
                signCount: 1, userHandle: userHandle, browserBoundKey: browserBoundKey))
    }

    /// An answer of that kind of credential, to a message.
    package func answer(
        _ message: Bytes, by kind: CredentialKind
    ) throws -> UnverifiedAssertion {
        switch kind {
        case .deviceKey: try sign(message)
        case .passkey: try assert(message)
        }
    }

    /// The device key's public half, DER SubjectPublicKeyInfo.
    package var publicKey: Bytes { key.publicKey.spki }

    /// The same in PEM.
    package var publicKeyPEM: String { key.publicKey.pem }

    /// How the service has one of the two recorded.
    ///
    /// - Parameters:
    ///   - kind: Which one.
    ///   - isActive: Whether it may sign.
    ///   - createdAt: When it was enrolled.
    ///   - profiles: The profiles of attestation that it met.
    ///   - backupEligible: Whether the passkey may be copied.
    ///   - backupState: Whether it was copied when it was last seen.
    ///   - failures: Consecutive ones so far.
    ///   - openQuestions: What ends with it.
    /// - Returns: The record.
    package func registered(
        _ kind: CredentialKind, isActive: Bool = true,
        createdAt: Instant = Fixtures.at - Seconds(90 * 86_400),
        profiles: [AttestationProfile] = [], backupEligible: Bool = false,
        backupState: Bool = false, failures: Int = 0, openQuestions: OpenQuestions = .none
    ) -> RegisteredCredential {
        switch kind {
        case .deviceKey:
            RegisteredCredential(
                id: deviceKeyID, kind: kind, isActive: isActive,
                stored: .deviceKey(StoredDeviceKey(id: deviceKeyID, key: key.publicKey.spki)),
                publicKey: key.publicKey.spki, createdAt: createdAt,
                profiles: profiles, failures: failures, openQuestions: openQuestions,
                evidenceID: Fixtures.id(30))
        case .passkey:
            RegisteredCredential(
                id: passkeyID, kind: kind, isActive: isActive,
                stored: .passkey(
                    StoredPasskey(
                        credentialID: authenticator.credentialID,
                        key: authenticator.key.publicKey.spki, signCount: 0,
                        backupEligible: backupEligible,
                        userHandle: userHandle)),
                publicKey: authenticator.key.publicKey.spki, createdAt: createdAt,
                profiles: profiles, backupState: backupState, failures: failures,
                openQuestions: openQuestions, evidenceID: Fixtures.id(31))
        }
    }
}

extension Fixtures {
    package static let sha256 = Hasher256.openSSL

    /// The service's own verifier, for ``audience`` and ``origin``.
    package static func verifier() throws(InvalidValue) -> CustomerProofVerifier {
        CustomerProofVerifier(
            relyingParty: try relyingParty(), payments: try payments(), algorithms: [.es256],
            attestation: .untrusting, devices: .unconfigured)
    }

    private static func relyingParty() throws(InvalidValue) -> RelyingParty {
        try RelyingParty(id: audience, name: "Bank", origins: [origin], framing: .refused)
    }

    /// Where browsers confirm the fixtures' payments.
    package static func payments(
        origins: [String] = [origin], topOrigins: [String] = [],
        instrument: (name: String, icon: String) = ("Giro account", "https://bank.example/giro.png")
    ) throws(InvalidValue) -> PaymentParty {
        try PaymentParty(
            relyingParty: try relyingParty(), origins: origins, topOrigins: topOrigins,
            instrument: PaymentInstrument(displayName: instrument.name, icon: instrument.icon))
    }

    /// What a page is offered to ask a browser for.
    package static func paymentRequest(
        _ transfer: Transfer, _ challenge: Digest, _ passkeys: [Bytes], _ lifetime: Seconds
    ) throws(InvalidValue) -> JSON {
        PaymentRequestData(
            party: try payments(), transfer: transfer, challenge: challenge.bytes,
            timeout: lifetime, passkeys: passkeys
        ).json
    }

    /// Whether a public key in PEM made a signature, by the rules of device keys.
    package static func deviceKeyVerifies(
        _ signature: Bytes, over message: Bytes, pem: String
    ) throws -> Bool {
        let key = try P256PublicKey(parsing: pem).spki
        do {
            try DeviceKeyVerifier.verify(signature: signature, in: .der, over: message, key: key)
            return true
        } catch {
            return false
        }
    }

    /// Whether a passkey whose public key is given in PEM answered for a message.
    package static func passkeyVerifies(
        _ assertion: PasskeyAssertion, over message: Bytes, pem: String
    ) throws -> Bool {
        let verifier = try verifier()
        let stored = StoredPasskey(
            credentialID: assertion.rawID, key: try P256PublicKey(parsing: pem).spki, signCount: 0,
            backupEligible: false, userHandle: [])
        do {
            _ = try verifier.verify(.passkey(assertion), by: .passkey(stored), over: message)
            return true
        } catch {
            return false
        }
    }
}

extension ListedPasskey {
    /// A passkey of that ID without an attestation.
    package static func fixture(_ id: Bytes, isBackupEligible: Bool = false) -> ListedPasskey {
        ListedPasskey(
            credentialID: id, transports: [], isBackupEligible: isBackupEligible, profiles: [])
    }
}
