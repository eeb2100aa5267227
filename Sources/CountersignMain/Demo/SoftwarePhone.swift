import Countersign
import Crypto
import WebAuthn

/// A customer's phone in software: a device key, a passkey, and no secret ever leaves it.
///
/// It signs whatever it is given; that a real phone asks for a fingerprint, and that its app shows what
/// the bytes say before, is ``PhoneScreen``'s part. The tests use it too.
struct SoftwarePhone: Sendable {
    /// The key of the bank's app.
    let deviceKey: P256PrivateKey
    /// The passkey of the bank's site.
    let passkey: SoftwareAuthenticator
    /// Where the passkey is used: one of `rp.origins`.
    let origin: String

    /// A phone with new keys for a bank.
    ///
    /// - Throws: ``OpenSSLFailure`` when no key can be made.
    init(relyingPartyID: String, origin: String) throws {
        deviceKey = try .generate()
        passkey = try .create(relyingPartyID: relyingPartyID, entropy: .openSSL)
        self.origin = origin
    }

    /// The device key's public half.
    var publicKey: P256PublicKey { deviceKey.publicKey }

    /// The device key's signature over the bytes of a message, in DER.
    func sign(_ message: Bytes) throws(OpenSSLFailure) -> Bytes { try deviceKey.sign(message) }

    /// The passkey's answer to creation options whose challenge is the message's SHA-256.
    func register(over message: Bytes) -> PasskeyRegistration {
        passkey.register(
            challenge: sha256(message).bytes, origin: origin, flags: [.userPresent, .userVerified],
            signCount: 0)
    }

    /// The passkey's answer to request options whose challenge is the message's SHA-256.
    func assert(over message: Bytes) throws(OpenSSLFailure) -> PasskeyAssertion {
        try passkey.assert(
            challenge: sha256(message).bytes, origin: origin, flags: [.userPresent, .userVerified],
            signCount: 0, userHandle: nil)
    }
}

extension SoftwarePhone {
    /// Answers a question with the device key: the body of an approval, a rejection or an authorisation.
    ///
    /// - Parameters:
    ///   - challenge: The challenge's ID.
    ///   - message: The bytes to sign.
    ///   - credential: The ID that the service gave to the device key.
    /// - Returns: The JSON to send.
    /// - Throws: ``OpenSSLFailure``.
    func answer(
        _ challenge: String, over message: Bytes, as credential: String
    ) throws(OpenSSLFailure) -> JSON {
        [
            "challenge_id": .string(challenge), "credential_id": .string(credential),
            "device_key": ["signature": .string(Base64.encode(try sign(message)))],
        ]
    }

    /// Answers a question with the passkey, which names itself.
    func passkeyAnswer(
        _ challenge: String, over message: Bytes
    ) throws(OpenSSLFailure) -> JSON {
        ["challenge_id": .string(challenge), "passkey": try assert(over: message).json]
    }

    /// Answers a question by the browser's payment dialog.
    ///
    /// - Parameters:
    ///   - challenge: The challenge's ID.
    ///   - request: The member `payment` of the challenge, or what a page makes of it.
    ///   - browser: The browser's own key, when it has one.
    /// - Returns: The JSON to send.
    /// - Throws: ``OpenSSLFailure``.
    func paymentAnswer(
        _ challenge: String, to request: JSON, browser: P256PrivateKey? = nil
    ) throws(OpenSSLFailure) -> JSON {
        let confirmed = try passkey.confirm(
            request, origin: origin, flags: [.userPresent, .userVerified], signCount: 0,
            userHandle: nil, browserBoundKey: browser)
        return ["challenge_id": .string(challenge), "payment": confirmed.json]
    }
}
