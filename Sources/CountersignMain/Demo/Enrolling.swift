import Countersign
import Crypto
import WebAuthn

/// The bank's identity system: it authenticates customers its own way, and says so with its own key.
struct IdentitySystem: Sendable {
    /// Nobody else has it, the backend least of all.
    let key: IdentitySigningKey

    /// Says that it has just authenticated this customer for this new key.
    ///
    /// - Throws: ``OpenSSLFailure``.
    func token(
        enrolment: String, customer: String, key newKey: P256PublicKey
    ) throws(OpenSSLFailure) -> String {
        let claims: JSON = [
            "enrolment_id": .string(enrolment), "customer_id": .string(customer),
            "key_digest": .string(sha256(newKey.spki).hex),
            "exp": .integer(systemTime().milliseconds / 1000 + 300),
            "jti": .string(Hex.encode(EntropySource.openSSL(16))),
        ]
        return try CompactJWS.sign(claims, key: key)
    }
}

/// Whole enrolments: what the backend and the phone do one after another.
extension BankClient {
    /// Enrols the phone's device key.
    ///
    /// - Parameters:
    ///   - phone: Proves that it has the key.
    ///   - customer: Whose phone it is.
    ///   - identity: Vouches for the customer; `nil` sends nothing that vouches.
    /// - Returns: The last answer: 201 with `credential`, or the first that is no 201.
    /// - Throws: ``CommandFailure`` without an answer, or ``OpenSSLFailure``.
    func enrolDeviceKey(
        of phone: SoftwarePhone, for customer: String, vouchedBy identity: IdentitySystem?
    ) async throws -> Answer {
        let begun = try await beginEnrolment(of: customer, .deviceKey)
        guard begun.status == 201 else { return begun }
        let (enrolment, message) = try begun.question("enrolment_id", "message")
        var members: [JSON.Member] = [
            .init("enrolment_id", .string(enrolment)),
            .init(
                "device_key",
                [
                    "public_key": .string(phone.publicKey.pem),
                    "signature": .string(Base64.encode(try phone.sign(message))),
                    "platform": "ios",
                ]),
        ]
        if let identity {
            let token = try identity.token(
                enrolment: enrolment, customer: customer, key: phone.publicKey)
            members.append(.init("authorization", ["sca_token": .string(token)]))
        }
        return try await finishEnrolment(of: customer, .object(members))
    }

    /// Enrols the phone's passkey, for which its device key vouches.
    ///
    /// - Returns: The last answer: 201 with `credential`, or the first that is no 201.
    func enrolPasskey(
        of phone: SoftwarePhone, for customer: String, vouchedBy credential: String
    ) async throws -> Answer {
        let begun = try await beginEnrolment(of: customer, .passkey)
        guard begun.status == 201 else { return begun }
        let (enrolment, message) = try begun.question("enrolment_id", "message")
        let asked = try await beginAuthorization(
            of: customer, enrolment: enrolment, key: phone.passkey.key.publicKey)
        guard asked.status == 201 else { return asked }
        guard let challenge = asked.text("challenge", "id"),
            let vouching = asked.text("challenge", "message").flatMap({ Base64.decodeURL($0) })
        else { throw CommandFailure("the answer has no challenge to vouch with") }
        return try await finishEnrolment(
            of: customer,
            [
                "enrolment_id": .string(enrolment),
                "passkey": phone.register(over: message).json,
                "authorization": try phone.answer(challenge, over: vouching, as: credential),
            ])
    }
}

/// What the customer is asked about one action.
struct Question: Sendable {
    let action: String
    let challenge: String
    /// The bytes that approve.
    let approve: Bytes
    /// The bytes that reject.
    let reject: Bytes
}

extension APIClient.Answer {
    /// The question in the answer to a creation or to a new challenge; `nil` when there is none.
    var question: Question? {
        guard let action = text("challenge", "action_id"), let id = text("challenge", "id"),
            let approve = text("challenge", "messages", "approve")
                .flatMap({ Base64.decodeURL($0) }),
            let reject = text("challenge", "messages", "reject")
                .flatMap({ Base64.decodeURL($0) })
        else { return nil }
        return Question(action: action, challenge: id, approve: approve, reject: reject)
    }

    /// An ID and the bytes to sign, by the names of their members.
    fileprivate func question(
        _ id: String, _ message: String
    ) throws(CommandFailure) -> (String, Bytes) {
        guard let id = text(id), let bytes = text(message).flatMap({ Base64.decodeURL($0) })
        else { throw CommandFailure("the answer has no \(id) and \(message)") }
        return (id, bytes)
    }
}
