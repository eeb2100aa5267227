import Countersign
import HTTP

/// Valid things, of which a test changes the one that matters.
enum Fixture {
    static let now = Instant(milliseconds: 1_800_000_000_000)

    /// Not SHA-256, but of its shape: nothing here depends on which function it is.
    static let sha256 = Hasher256 { bytes in
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        var digest: Bytes = []
        for round in 0..<32 {
            for byte in bytes + [UInt8(round)] { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
            digest.append(UInt8(truncatingIfNeeded: state >> 32))
        }
        guard let digest = Digest(digest) else { preconditionFailure("32 bytes are a digest") }
        return digest
    }

    static func id<Entity>(_ number: UInt128) -> ID<Entity> {
        ID(rawValue: 0x0190_0000_0000_7000_8000_0000_0000_0000 + number)
    }

    static func client(_ role: AuthenticatedClient.Role) -> AuthenticatedClient {
        let position = AuthenticatedClient.Role.allCases.firstIndex(of: role) ?? 0
        return AuthenticatedClient(id: id(UInt128(100 + position)), role: role)
    }

    static func key(_ role: AuthenticatedClient.Role) -> String {
        let secret = Bytes(repeating: UInt8(0xF8 + role.rawValue.utf8.count % 8), count: 32)
        return "cs_\(role.rawValue)_\(Base64.encodeURL(secret))"
    }

    static let customerID = valid { () throws(InvalidValue) in try CustomerID("c-1001") }

    static let transfer = valid { () throws(InvalidValue) in
        ActionContent.transfer(
            Transfer(
                amount: try Money(decimal: "120.00", currency: Currency("EUR")),
                debtorAccount: try Account(iban: "DE89370400440532013000"),
                payee: PayeeIdentity(
                    name: try DisplayText("Erika Mustermann", .payeeName),
                    account: try Account(iban: "FR1420041010050500013M02606")),
                reference: try DisplayText("Invoice 7", .reference),
                endToEndID: try DisplayText("INV-7", .endToEndID)))
    }

    static let action = action(1)
    static let cancelled = action.with(
        authorization: .cancelled, execution: .none, hold: nil)

    static func action(_ number: UInt128) -> RecordedAction {
        RecordedAction(
            id: id(number), customerID: customerID, content: transfer, externalID: nil,
            risk: .unsaid,
            policyVersion: 3, authorization: .pending, execution: .none, hold: nil, createdAt: now,
            expiresAt: now + Seconds(900))
    }

    static let challenge = Challenge(
        id: id(2), state: .live, failures: 0, nonce: [], approveMessage: Bytes("approve".utf8),
        rejectMessage: Bytes("reject".utf8), createdAt: now, expiresAt: now + Seconds(300)
    ).json(action: action.id, attemptsMax: 3, webauthn: nil, payment: nil)

    static let creationAnswer = JSON.object([
        .init("action", action.json), .init("challenge", challenge),
    ]).encoded

    static let leafHash = sha256([1])

    static let decision = RecordedDecision(
        outcome: .approved, challengeID: id(2), assertionDigest: sha256([2]),
        action: action.with(
            authorization: .approved, execution: .held,
            hold: Hold(until: now + Seconds(86_400), rule: .payeeCoolingOff, end: .release)),
        evidenceID: id(3), leafHash: leafHash)

    static let offer = EnrolmentOffer(
        id: id(4), kind: .deviceKey, expiresAt: now + Seconds(600),
        message: Bytes("enrol".utf8), webauthn: nil)

    static let authorizationChallenge = AuthorizationChallenge(
        id: id(5), enrolmentID: id(4), expiresAt: now + Seconds(300),
        message: Bytes("authorize".utf8), webauthn: ["challenge": "x"])

    static let credential = RecordedCredential(
        id: id(6), customerID: customerID, kind: .passkey, status: .active,
        label: "Erika's phone", createdAt: now, usableAt: now + Seconds(3600), revokedAt: nil,
        attestation: .init(verdict: .selfSigned, format: "packed"), signatureFormat: nil,
        backupEligible: true,
        backupState: false)

    static let deviceRequestAnswer = DeviceRequestAnswer(
        verdict: .verified(credential.id, of: customerID), mode: .enforce, profile: .target,
        at: now)

    static let evidence = EvidenceRecord(
        id: id(7), kind: "action.approved", at: now, actionID: action.id, customerID: customerID,
        credentialID: credential.id, leaf: Bytes("leaf".utf8), leafHash: leafHash,
        body: ["policy": "3"])

    /// A record whose bundle lacks one of a detached month.
    static let detached: ID<Evidence> = id(8)

    static let recordedAssertion = RecordedAssertion(
        credentialID: credential.id, publicKeySPKI: [9, 9],
        proof: .deviceKey(signature: [255, 254], format: .der))

    private static func valid<Value>(_ make: () throws(InvalidValue) -> Value) -> Value {
        do throws(InvalidValue) { return try make() } catch {
            preconditionFailure("a fixture is not valid: \(error.code)")
        }
    }
}

/// Bodies that are accepted as they stand.
enum Body {
    static let transfer = """
        {"customer_id": "c-1001", "kind": "transfer",
         "transfer": {"amount": "120.00", "currency": "EUR",
                      "debtor_account": {"iban": "DE89370400440532013000"},
                      "payee": {"name": "Erika Mustermann",
                                "account": {"iban": "FR1420041010050500013M02606"}},
                      "reference": "Invoice 7", "end_to_end_id": "INV-7"}}
        """
    static let newPayee = """
        {"customer_id": "c-1001", "kind": "new_payee",
         "new_payee": {"payee": {"name": "Erika Mustermann",
                                 "account": {"scheme": "pix", "value": "erika@example.com"}},
                       "alias": "Erika"}}
        """
    static let contactChange = """
        {"customer_id": "c-1001", "kind": "contact_change",
         "contact_change": {"channel": "phone", "old_value": "+4915112345678",
                            "new_value": "+4915187654321"}}
        """
    static let challengeID = (Fixture.id(2) as ID<Challenge>).text
    static let credentialID = Fixture.credential.id.text
    static let deviceKeyProof = """
        {"challenge_id": "\(challengeID)", "credential_id": "\(credentialID)",
         "device_key": {"signature": "MEUC+/8="}}
        """
    static let passkey = """
        {"id": "AQID", "rawId": "AQID", "type": "public-key", "authenticatorAttachment": "platform",
         "clientExtensionResults": {},
         "response": {"clientDataJSON": "e30", "authenticatorData": "BAUG", "signature": "BwgJ",
                      "userHandle": null, "novelty": [1.5]}}
        """
    static let passkeyProof = #"{"challenge_id": "\#(challengeID)", "passkey": \#(passkey)}"#
    static let payment = passkey.replacing(
        #""clientExtensionResults": {}"#,
        with: #""clientExtensionResults": {"payment": {"browserBoundSignature": "#
            + #"{"signature": "AQI"}}}"#
    )
    static let paymentProof = #"{"challenge_id": "\#(challengeID)", "payment": \#(payment)}"#
    static let reason = #"{"reason": "other"}"#

    static let deviceRequest = """
        {"method": "POST", "target": "/v1/transfers?x=%2F", "body_sha256": "\(Fixture.leafHash.hex)",
         "headers": {"X-Device-ID": "\(credentialID)", "x-timestamp": ["1800000000"],
                     "X-NONCE": "nonce-0001", "X-Signature": "MEUC+/8="}}
        """

    static let enrolmentID = (Fixture.id(4) as ID<Enrolment>).text
    static let enrolment = #"{"kind": "device_key"}"#
    static let authorization =
        #"{"enrolment_id": "\#(enrolmentID)", "key_digest": "\#(Fixture.leafHash.hex)"}"#
    static let deviceKey = """
        {"enrolment_id": "\(enrolmentID)",
         "device_key": {"public_key": "-----BEGIN PUBLIC KEY-----", "signature": "MEUC+/8=",
                        "platform": "ios"},
         "authorization": {"sca_token": "a.b.c"}}
        """
    static let registration = """
        {"enrolment_id": "\(enrolmentID)",
         "passkey": {"id": "AQID", "rawId": "AQID", "type": "public-key",
                     "response": {"clientDataJSON": "e30", "attestationObject": "BAUG",
                                  "transports": ["internal"]}},
         "authorization": {"challenge_id": "\(challengeID)", "credential_id": "\(credentialID)",
                           "device_key": {"signature": "MEUC+/8="}}}
        """
}
