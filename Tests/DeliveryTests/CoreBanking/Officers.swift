import Countersign
import Crypto
import Delivery
import Foundation
import TestSupport
import WebAuthn

@testable import CountersignMain

/// Officers of the bank, whose keys core banking has on file.
struct Officers {
    /// One of them.
    struct Officer {
        let name: String
        let key: ID<PersonKey>
        let authenticator: SoftwareAuthenticator
    }

    let anna: Officer
    let bert: Officer
    static let act = ID<Act>(at: Fixture.now, random: Bytes(repeating: 8, count: 10))

    init() throws {
        func officer(_ name: String, _ number: UInt8) throws -> Officer {
            Officer(
                name: name, key: ID(at: Fixture.now, random: Bytes(repeating: number, count: 10)),
                authenticator: try .create(relyingPartyID: Bank.audience, entropy: .openSSL))
        }
        anna = try officer("anna", 21)
        bert = try officer("bert", 22)
    }

    /// Writes the file that the operator gives to core banking.
    func write(_ officers: [Officer]? = nil, to path: String) throws {
        let list = JSON.array(
            (officers ?? [anna, bert]).map { officer in
                [
                    "person": .string(officer.name), "key_id": .string(officer.key.text),
                    "public_key": .string(
                        Base64.encode(officer.authenticator.key.publicKey.spki)),
                ]
            })
        try Data(list.encoded).write(to: URL(filePath: path))
    }

    /// The document of the fixture's transfer, with changes by path.
    static func document(_ changes: [String: JSON?] = [:]) throws -> Bytes {
        guard let message = SignedMessage(decoding: Fixture.message()) else {
            throw CocoaError(.coderInvalidValue)
        }
        let action = RecordedAction(
            id: Fixture.actionID, customerID: Fixture.customerID, content: message.content,
            externalID: nil, risk: .unsaid, policyVersion: 1, authorization: .pending,
            execution: .none, hold: nil, createdAt: Fixture.now,
            expiresAt: Fixture.now + Seconds(900))
        let approval = AssistedApproval(
            AssistedRequest(
                action: Fixture.actionID, reason: try DisplayText("phone stolen", .actReason),
                identityCheck: IdentityCheck(
                    method: .video, reference: try DisplayText("7", .reason))),
            of: action, hold: Seconds(86_400))
        return changes.reduce(approval.document) { $0.setting($1.key, to: $1.value) }.encoded
    }

    /// What an officer signs, unless a test says otherwise.
    struct Signing {
        var kind = ActKind.approveAction
        var role = PersonRole.officer
        var person: String?
        var audience = Bank.audience
        var act = Officers.act
        /// What the message is about, if not the document.
        var document: Bytes?
        var flags: AuthenticatorFlags = [.userPresent, .userVerified]
        var origin = "https://bank.example"
        var type = "webauthn.get"
        var challenge: Bytes?
    }

    /// An officer's signature of a document.
    func sign(
        _ document: Bytes, by officer: Officer, _ stage: ActStage, _ signing: Signing = Signing()
    ) throws -> OfficerSignature {
        let message = ActMessage(
            actID: signing.act, audience: signing.audience,
            challengeID: ID(at: Fixture.now, random: EntropySource.openSSL(10)),
            documentDigest: sha256(signing.document ?? document),
            expiresAt: Fixture.now.wholeSeconds,
            kind: signing.kind, nonce: EntropySource.openSSL(32),
            person: signing.person ?? officer.name, role: signing.role, stage: stage
        ).bytes
        let assertion = try officer.authenticator.assert(
            clientDataJSON: SoftwareAuthenticator.clientData(
                signing.type, challenge: signing.challenge ?? sha256(message).bytes,
                origin: signing.origin),
            authenticatorData: officer.authenticator.authenticatorData(
                flags: signing.flags, signCount: 1),
            userHandle: nil)
        return OfficerSignature(
            person: officer.name, key: officer.key, message: message,
            signature: assertion.signature, clientDataJSON: assertion.clientDataJSON,
            authenticatorData: assertion.authenticatorData)
    }

    /// An order that both have approved; of the second's signature a test may say otherwise.
    func order(
        _ document: Bytes? = nil, _ signing: Signing = Signing()
    ) throws -> ExecutionOrder {
        let document = try document ?? Self.document()
        return order(
            document,
            [
                try sign(document, by: anna, .propose),
                try sign(document, by: bert, .approve, signing),
            ])
    }

    func order(_ document: Bytes, _ signatures: [OfficerSignature]) -> ExecutionOrder {
        ExecutionOrder(
            actionID: Fixture.actionID, customerID: Fixture.customerID, approvedAt: Fixture.now,
            evidenceID: Fixture.evidenceID, leafHash: sha256([9]), message: document,
            approval: .assisted(act: Self.act, signatures))
    }

    /// The body of an order, also of one that the service would not send.
    func body(_ order: ExecutionOrder) throws -> Bytes {
        guard case .assisted(let act, let signatures) = order.approval,
            let sound = OrderDocument.encode(try self.order()).flatMap(SignedJSON.decode)
        else { throw CocoaError(.coderInvalidValue) }
        return sound.setting(
            "approval",
            to: [
                "kind": "assisted", "act_id": .string(act.text),
                "document": .string(Base64.encodeURL(order.message)),
                "signatures": .array(signatures.map(\.json)),
            ]
        ).encoded
    }
}
