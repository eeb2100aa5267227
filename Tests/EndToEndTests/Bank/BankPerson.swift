import Countersign
import Crypto
import Foundation
import HTTP
import Postgres
import TestSupport
import WebAuthn

@testable import CountersignMain

/// A person of the bank with a passkey in software, over real HTTP.
struct BankPerson {
    let name: String
    /// The ID of the passkey, and what it was when it was registered.
    let key: String
    let status: String
    let keyFile: String
    let api: APIClient
    let authenticator: SoftwareAuthenticator
    let origin: String
    let userHandle: Bytes

    /// Adds the client and registers its key, as the person's browser would.
    static func join(
        _ name: String, _ instance: ServiceInstance, as role: AuthenticatedClient.Role = .risk
    ) async throws -> BankPerson {
        let person = try await apply(name, instance, as: role)
        guard person.status == "active" else { throw Unexpected("the key is \(person.status)") }
        return person
    }

    /// The same for somebody whose key may have to wait.
    static func apply(
        _ name: String, _ instance: ServiceInstance, as role: AuthenticatedClient.Role = .risk
    ) async throws -> BankPerson {
        let bank = instance.bank
        let key = APIKey.make(for: role)
        try await bank.administer { administration in
            let isNew = try await administration.addClient(
                ID(at: systemTime(), random: EntropySource.openSSL(10)), name: name, role: role,
                keyDigest: sha256(Bytes(key.utf8)), subjectAlternativeName: nil)
            guard isNew else { throw Unexpected("there is \(name) already") }
        }
        let keyFile = bank.folder + "/\(name).key"
        try TestBank.write(key + "\n", to: keyFile)
        let api = try APIClient(base: instance.base, key: key)
        let offer = try await api.post("/v1/person-keys/options", ["label": .string(name)])
        guard offer.status == 201, let options = offer.json["webauthn"],
            let challenge = options.bytes("challenge"),
            let handle = options["user"]?.bytes("id"),
            let registration = offer.text("registration_id")
        else { throw Unexpected("options were answered \(offer.status)") }
        let authenticator = try SoftwareAuthenticator.create(
            relyingPartyID: bank.site.relyingPartyID, entropy: .openSSL)
        let made = authenticator.register(
            challenge: challenge, origin: bank.site.origin, flags: [.userPresent, .userVerified],
            signCount: 0)
        let answer = try await api.post(
            "/v1/person-keys",
            ["registration_id": .string(registration), "passkey": made.json])
        guard answer.status == 201, let id = answer.text("key", "id"),
            let status = answer.text("key", "status")
        else {
            throw Unexpected("the key was answered \(answer.status) \(answer.problem ?? "")")
        }
        return BankPerson(
            name: name, key: id, status: status, keyFile: keyFile, api: api,
            authenticator: authenticator, origin: bank.site.origin, userHandle: handle)
    }

    /// How a command of the program reaches the service as this person.
    func access(_ instance: ServiceInstance) -> [String] {
        ["--service", instance.base, "--client-key-file", keyFile]
    }

    /// What the person's browser makes of a question.
    func answer(_ options: JSON) throws -> JSON {
        guard let challenge = options.bytes("challenge") else { throw Unexpected("no challenge") }
        return try authenticator.assert(
            challenge: challenge, origin: origin, flags: [.userPresent, .userVerified],
            signCount: 0, userHandle: userHandle
        ).json
    }

    /// Signs what an answer about an act asks.
    func sign(_ asked: APIClient.Answer) async throws -> APIClient.Answer {
        guard let act = asked.text("act", "id"), let challenge = asked.json["challenge"] else {
            throw Unexpected("the question was answered \(asked.status) \(asked.problem ?? "")")
        }
        return try await api.post(
            "/v1/acts/\(act)/signatures",
            [
                "challenge_id": challenge["id"] ?? .null,
                "passkey": try answer(challenge["webauthn"] ?? .null),
            ])
    }
}
