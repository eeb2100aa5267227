import Countersign
import Crypto
import Delivery
import Foundation
import HTTP
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

/// What a browser shows of the fixture's transfer.
struct PaymentShown {
    let challenge: Bytes
    let relyingPartyID: String

    var clientData: JSON {
        SoftwareAuthenticator.paymentClientData(
            [
                "data": [
                    "rpId": .string(relyingPartyID),
                    "challenge": .string(Base64.encodeURL(challenge)),
                    "payeeName": "Erika Mustermann, FR1420041010050500013M02606",
                    "instrument": ["displayName": "Giro", "icon": "https://bank.example/i.png"],
                ],
                "total": ["amount": ["currency": "EUR", "value": "120.00"]],
            ], origin: "https://\(relyingPartyID)", browserBoundKey: nil)
    }
}

/// A stand-in that runs, a signing service that talks to it, and a customer with two keys.
///
/// What a test sends is signed by the service, whatever it says: the stand-in has to see for itself.
final class Bank: Sendable {
    static let audience = "bank.example"

    let folder: URL
    let serviceKey: Ed25519PrivateKey
    let deviceKey: P256PrivateKey
    let phone: SoftwareAuthenticator
    let server: HTTPServer
    let client: HTTPClient
    let url: HTTPURL

    static let deviceCredential = Fixture.credentialID
    static let passkeyCredential = ID<Credential>(
        at: Fixture.now, random: Bytes(repeating: 5, count: 10))

    var journal: String { folder.appending(path: "journal").path }

    /// The file of the officers' keys, if the bank has one.
    var officerKeys: String { folder.appending(path: "officers").path }

    init(
        faults: [Faults.Fault] = [], eventFaults: [Faults.Fault] = [],
        hasOfficerKeys: Bool = false, holdClockAhead: Seconds = Seconds(86_400)
    ) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-bank-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        serviceKey = try .generate()
        deviceKey = try .generate()
        phone = try .create(relyingPartyID: Self.audience, entropy: .openSSL)
        server = try Self.standIn(
            journal: folder.appending(path: "journal").path, serviceKey: serviceKey,
            officerKeys: hasOfficerKeys ? folder.appending(path: "officers").path : nil,
            faults: faults, eventFaults: eventFaults, holdClockAhead: holdClockAhead
        ).start()
        client = try Self.client(timeout: .seconds(60))
        url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/executions"))
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("left behind: \(folder.path)")
        }
    }

    static func client(timeout: Duration) throws -> HTTPClient {
        try HTTPClient(
            .init(
                connectTimeout: timeout, totalTimeout: timeout, authoritiesFile: nil,
                clientCertificate: nil, plainHTTP: .toLoopbackOnly, slots: 8))
    }

    static func standIn(
        journal: String, serviceKey: Ed25519PrivateKey, officerKeys: String? = nil,
        faults: [Faults.Fault] = [], eventFaults: [Faults.Fault] = [],
        holdClockAhead: Seconds = Seconds(0)
    ) throws -> CoreBankingStandIn {
        try CoreBankingStandIn(
            .init(
                host: "127.0.0.1", port: 0, journal: journal,
                serviceKeys: ["service-1": serviceKey.publicKey], audience: audience,
                officerKeys: officerKeys, faults: Faults(faults),
                eventFaults: Faults(eventFaults), holdClockAhead: holdClockAhead),
            now: { Fixture.now })
    }

    func stop() async { await server.stop(drain: .zero) }

    func signer(_ key: Ed25519PrivateKey? = nil) throws -> MessageSigner {
        try #require(
            MessageSigner(key: key ?? serviceKey, keyID: "service-1", entropy: .openSSL))
    }

    func link(_ other: HTTPClient? = nil) throws -> CoreBankingLink {
        let client = other ?? client
        return try #require(
            CoreBankingLink(
                url: url, signer: try signer(), retry: .standard, entropy: .openSSL,
                promise: noPromise,
                transport: { request async throws(TransportFailure) in
                    try await client.send(request)
                }))
    }

    /// Announces both keys.
    func announce() async throws {
        for announcement in [announcement(.deviceKey), announcement(.passkey)] {
            let claim = Fixture.claim(.credential(announcement))
            #expect(try await link().deliver(claim) == .delivered)
        }
    }

    func announcement(
        _ kind: CredentialKind, key: P256PublicKey? = nil, format: SignatureFormat = .der
    ) -> CredentialAnnouncement {
        CredentialAnnouncement(
            credentialID: kind == .deviceKey ? Self.deviceCredential : Self.passkeyCredential,
            customerID: Fixture.customerID, kind: kind,
            publicKeySPKI: (key ?? (kind == .deviceKey ? deviceKey : phone.key).publicKey).spki,
            signatureFormat: kind == .deviceKey ? format : nil, enrolledAt: Fixture.now,
            evidenceID: Fixture.evidenceID)
    }

    /// An order whose message the customer's device key, or another one, signed.
    func deviceOrder(
        _ message: Bytes = Fixture.message(), key: P256PrivateKey? = nil,
        signing signed: Bytes? = nil
    ) throws -> ExecutionOrder {
        let key = key ?? deviceKey
        return order(
            message, Self.deviceCredential, key.publicKey,
            .deviceKey(signature: try key.sign(signed ?? message), format: .der))
    }

    /// An order whose message the customer's passkey signed.
    func passkeyOrder(
        _ message: Bytes = Fixture.message(),
        flags: AuthenticatorFlags = [.userPresent, .userVerified],
        challenge: Bytes? = nil, phone other: SoftwareAuthenticator? = nil,
        type: String = "webauthn.get"
    ) throws -> ExecutionOrder {
        let phone = other ?? phone
        let assertion = try phone.assert(
            clientDataJSON: SoftwareAuthenticator.clientData(
                type, challenge: challenge ?? sha256(message).bytes,
                origin: "https://\(Self.audience)"),
            authenticatorData: phone.authenticatorData(flags: flags, signCount: 1), userHandle: nil)
        return order(
            message, Self.passkeyCredential, phone.key.publicKey,
            .passkey(
                signature: assertion.signature, clientDataJSON: assertion.clientDataJSON,
                authenticatorData: assertion.authenticatorData))
    }

    /// An order whose transfer a browser showed and the customer's passkey confirmed; the changes are
    /// what the client data says instead, by path.
    func paymentOrder(
        _ message: Bytes = Fixture.message(), _ changes: [String: JSON] = [:]
    ) throws -> ExecutionOrder {
        let shown = PaymentShown(challenge: sha256(message).bytes, relyingPartyID: Self.audience)
        let clientData = changes.reduce(shown.clientData) { $0.setting($1.key, to: $1.value) }
        let confirmed = try phone.confirm(
            clientDataJSON: clientData.encoded,
            authenticatorData: phone.authenticatorData(
                flags: [.userPresent, .userVerified], signCount: 1),
            userHandle: nil, browserBoundKey: nil)
        return order(
            message, Self.passkeyCredential, phone.key.publicKey,
            .passkey(
                signature: confirmed.passkey.signature,
                clientDataJSON: confirmed.passkey.clientDataJSON,
                authenticatorData: confirmed.passkey.authenticatorData))
    }

    func order(
        _ message: Bytes, _ credential: ID<Credential>, _ key: P256PublicKey,
        _ proof: RecordedAssertion.Proof
    ) -> ExecutionOrder {
        ExecutionOrder(
            actionID: Fixture.actionID, customerID: Fixture.customerID, approvedAt: Fixture.now,
            evidenceID: Fixture.evidenceID, leafHash: sha256([9]), message: message,
            approval: .customer(
                RecordedAssertion(
                    credentialID: credential, publicKeySPKI: key.spki, proof: proof)))
    }

    /// The body of an order, also of one that ``CoreBankingLink`` would not send.
    func body(_ order: ExecutionOrder, _ changes: [String: JSON] = [:]) throws -> Bytes {
        let sound = try #require(OrderDocument.encode(Fixture.order(proof: order.assertion.proof)))
        var members: [String: JSON] = [:]
        guard case .object(let list) = SignedJSON.decode(sound),
            case .object(var assertion) = SignedJSON.decode(sound)?["assertion"]
        else { throw CocoaError(.coderInvalidValue) }
        for member in list { members[member.name] = member.value }
        assertion.removeAll { $0.name == "credential_id" }
        assertion.append(.init("credential_id", .string(order.assertion.credentialID.text)))
        members["assertion"] = .object(assertion)
        members["message"] = .string(Base64.encodeURL(order.message))
        for (name, value) in changes { members[name] = value }
        return JSON.object(members.map { .init($0.key, $0.value) }).encoded
    }

    /// Posts any body as the signing service would.
    func post(_ body: Bytes, key: String = Fixture.actionID.text) async throws -> HTTPResponse {
        try await client.send(
            signer().post(body, to: url, idempotencyKey: key, at: Fixture.now))
    }

    /// What the stand-in answers to an order with these changes; `nil` when it decided nothing.
    func receipt(_ order: ExecutionOrder, _ changes: [String: JSON] = [:]) async throws -> Receipt?
    {
        let answer = try await post(try body(order, changes))
        guard answer.status == 200 else { return nil }
        return Receipt(answer.body, actionID: Fixture.actionID)
    }
}
