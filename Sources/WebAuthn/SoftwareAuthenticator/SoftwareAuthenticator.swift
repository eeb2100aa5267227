package import Countersign
package import Crypto

/// An authenticator in software: the demo's phone, and the tests' means to sign anything.
///
/// It holds one credential, and flags and counts are what the caller says: it proves nothing about a
/// person. The service itself never signs with it.
package struct SoftwareAuthenticator: Sendable {
    /// For whom the credential is.
    package let relyingPartyID: String
    /// Its ID, at most 65 535 bytes.
    package let credentialID: Bytes
    /// Its key.
    package let key: P256PrivateKey
    /// The model, 16 bytes of zeros: none.
    package static let aaguid = Bytes(repeating: 0, count: 16)

    /// Takes a credential made before.
    package init(relyingPartyID: String, credentialID: Bytes, key: P256PrivateKey) {
        self.relyingPartyID = relyingPartyID
        self.credentialID = credentialID
        self.key = key
    }

    /// A new credential with a random ID of 32 bytes.
    ///
    /// - Throws: ``OpenSSLFailure`` when no key can be made.
    package static func create(
        relyingPartyID: String, entropy: EntropySource
    ) throws -> SoftwareAuthenticator {
        SoftwareAuthenticator(
            relyingPartyID: relyingPartyID, credentialID: entropy(32), key: try .generate())
    }

    /// The answer to creation options, with attestation `none`. Source: WebAuthn L3 §6.3.2.
    package func register(
        challenge: Bytes, origin: String, flags: AuthenticatorFlags, signCount: UInt32
    ) -> PasskeyRegistration {
        register(
            clientDataJSON: Self.clientData(
                "webauthn.create", challenge: challenge, origin: origin),
            authenticatorData: authenticatorData(
                flags: flags.union(.attestedCredential), signCount: signCount)
                + attestedCredential)
    }

    /// The answer to request options. Source: WebAuthn L3 §6.3.3.
    package func assert(
        challenge: Bytes, origin: String, flags: AuthenticatorFlags, signCount: UInt32,
        userHandle: Bytes?
    ) throws(OpenSSLFailure) -> PasskeyAssertion {
        try assert(
            clientDataJSON: Self.clientData("webauthn.get", challenge: challenge, origin: origin),
            authenticatorData: authenticatorData(flags: flags, signCount: signCount),
            userHandle: userHandle)
    }

    // MARK: The parts, for tests that need a wrong one

    /// An attestation object of format `none` around any authenticator data.
    package func register(
        clientDataJSON: Bytes, authenticatorData: Bytes
    ) -> PasskeyRegistration {
        let object = CBOR.map([
            CBOR.Pair(key: .text("fmt"), value: .text("none")),
            CBOR.Pair(key: .text("attStmt"), value: .map([])),
            CBOR.Pair(key: .text("authData"), value: .bytes(authenticatorData)),
        ])
        return PasskeyRegistration(
            rawID: credentialID, clientDataJSON: clientDataJSON, attestationObject: object.encoded,
            transports: ["internal"])
    }

    /// A good signature over any client data and authenticator data.
    package func assert(
        clientDataJSON: Bytes, authenticatorData: Bytes, userHandle: Bytes?
    ) throws(OpenSSLFailure) -> PasskeyAssertion {
        let signature = try key.sign(authenticatorData + sha256(clientDataJSON).bytes)
        return PasskeyAssertion(
            rawID: credentialID, clientDataJSON: clientDataJSON,
            authenticatorData: authenticatorData, signature: signature, userHandle: userHandle)
    }

    /// The 37 bytes that every authenticator data begins with. Source: WebAuthn L3 §6.1.
    package func authenticatorData(flags: AuthenticatorFlags, signCount: UInt32) -> Bytes {
        let count = (0..<4).map { UInt8(truncatingIfNeeded: signCount >> (24 - 8 * UInt32($0))) }
        return sha256(Bytes(relyingPartyID.utf8)).bytes + [flags.rawValue] + count
    }

    /// The credential's ID and key as authenticator data carries them. Source: WebAuthn L3 §6.5.1.
    package var attestedCredential: Bytes {
        let count = UInt16(credentialID.count)
        return Self.aaguid + [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + credentialID
            + COSEKey.encode(key.publicKey).encoded
    }

    /// Client data as browsers serialise it. Source: WebAuthn L3 §5.8.1.1.
    package static func clientData(
        _ type: String, challenge: Bytes, origin: String
    ) -> Bytes {
        let json: JSON = [
            "type": .string(type), "challenge": .string(Base64.encodeURL(challenge)),
            "origin": .string(origin), "crossOrigin": .bool(false),
        ]
        return json.encoded
    }
}
