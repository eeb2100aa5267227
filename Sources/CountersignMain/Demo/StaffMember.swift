import Countersign
import Crypto
import WebAuthn

/// A person of the bank's risk team or one of its officers, with a passkey in software in place of a browser's.
struct StaffMember: Sendable {
    let name: String
    let api: APIClient
    private let authenticator: SoftwareAuthenticator
    private let userHandle: Bytes

    /// Adds the client as an operator does, and registers the person's passkey.
    ///
    /// - Throws: ``CommandFailure`` when the service does not take the key.
    static func join(
        _ name: String, as role: PersonRole = .risk, _ bank: DemoBank
    ) async throws -> StaffMember {
        let key = try await bank.tools.run(
            ["client", "add", name, "--role", role.rawValue], as: "countersign_operator")
        let api = try APIClient(base: bank.base, key: key)
        let offer = try await api.post("/v1/person-keys/options", ["label": .string(name)])
        guard let options = offer.json["webauthn"],
            let challenge = options["challenge"]?.text.flatMap({ Base64.decodeURL($0) }),
            let handle = options["user"]?["id"]?.text.flatMap({ Base64.decodeURL($0) }),
            let registration = offer.text("registration_id")
        else { throw CommandFailure("\(name) was not asked for a passkey: \(offer.status)") }
        let authenticator = try SoftwareAuthenticator.create(
            relyingPartyID: DemoHome.relyingPartyID, entropy: .openSSL)
        let made = authenticator.register(
            challenge: challenge, origin: DemoHome.origin, flags: [.userPresent, .userVerified],
            signCount: 0)
        let answer = try await api.post(
            "/v1/person-keys",
            ["registration_id": .string(registration), "passkey": made.json])
        guard answer.text("key", "status") == "active" else {
            throw CommandFailure("the passkey of \(name) was answered \(answer.status)")
        }
        return StaffMember(
            name: name, api: api, authenticator: authenticator, userHandle: handle)
    }

    /// Signs what an answer about an act asks.
    func sign(_ asked: APIClient.Answer) async throws -> APIClient.Answer {
        let options = asked.json["challenge"]?["webauthn"]
        guard let act = asked.text("act", "id"), let id = asked.json["challenge"]?["id"],
            let challenge = options?["challenge"]?.text.flatMap({ Base64.decodeURL($0) })
        else { throw CommandFailure("\(name) was asked nothing: \(asked.status)") }
        let assertion = try authenticator.assert(
            challenge: challenge, origin: DemoHome.origin, flags: [.userPresent, .userVerified],
            signCount: 0, userHandle: userHandle)
        return try await api.post(
            "/v1/acts/\(act)/signatures", ["challenge_id": id, "passkey": assertion.json])
    }
}
