import Countersign
import TestSupport
import Testing

/// The vectors that clients build on: `docs/signed-message-vectors.json`.
@Suite struct `Published vectors of signed messages` {
    private let document: JSON
    private let vectors: [JSON]

    init() throws {
        document = try RepositoryFiles.json("docs/signed-message-vectors.json")
        guard case .array(let vectors)? = document["vectors"] else {
            throw InvalidValue("vectors", "The file holds no vectors.")
        }
        self.vectors = vectors
    }

    private func text(_ name: String, of json: JSON?) throws -> String {
        try #require(json?[name]?.text, "\(name) is missing")
    }

    private func message(_ name: String) throws -> Bytes {
        let vector = vectors.first { $0["name"]?.text == name }
        return Bytes(try text("message", of: vector).utf8)
    }

    /// What is signed, as a caller would ask for it: printed IBANs, short amounts.
    private static func contents() throws -> [String: ActionContent] {
        func transfer(
            _ amount: String, _ currency: String, to name: String, _ account: Account,
            _ reference: String, _ endToEndID: String
        ) throws(InvalidValue) -> ActionContent {
            .transfer(
                Transfer(
                    amount: try Money(decimal: amount, currency: Currency(currency)),
                    debtorAccount: try Account(iban: "de89 3704 0044 0532 0130 00"),
                    payee: PayeeIdentity(name: try DisplayText(name, .payeeName), account: account),
                    reference: try DisplayText(reference, .reference),
                    endToEndID: try DisplayText(endToEndID, .endToEndID)))
        }
        let erika = try Account(iban: "FR14 2004 1010 0505 0001 3M02 606")
        let old = Fixtures.sha256(Bytes("+4915112345678".utf8))
        let invoice = try transfer(
            "120", "EUR", to: "Erika Mustermann", erika, "Invoice 7", "INV-7")
        return [
            "transfer-approve": invoice,
            "transfer-reject": invoice,
            "transfer-unicode": try transfer(
                "120.0", "EUR", to: "Zo\u{EB} \u{141}ukasiewicz-\u{C5}str\u{F6}m", erika,
                "Miete M\u{E4}rz \u{2013} \u{5BB6}\u{8CC3} \u{1F3E0}", ""),
            "transfer-jpy": try transfer(
                "120000", "JPY", to: "株式会社サンプル",
                Account(scheme: "zengin", value: "0001-001-1-1234567"), "", ""),
            "transfer-kwd": try transfer(
                "1.25", "KWD", to: "Noor Al-Sabah",
                Account(iban: "KW81CBKU0000000000001234560101"), "", "KW-5"),
            "transfer-scheme": try transfer(
                "0.01", "GBP", to: "J Smith",
                Account(scheme: "sort_code", value: "20-00-00:55779911"), "", ""),
            "transfer-escapes": try transfer(
                "120.00", "EUR", to: #"O'Brien "Bob" \ Söhne"#, erika, #"</a>\n & "C:\7""#, "a/b"),
            "new-payee": .newPayee(
                NewPayee(
                    payee: PayeeIdentity(
                        name: try DisplayText("Erika Mustermann", .payeeName), account: erika),
                    alias: try DisplayText("Erika", .payeeAlias))),
            "contact-change-phone": try Fixtures.contactChange(oldValueDigest: old),
            "contact-change-email": try Fixtures.contactChange(
                channel: "email", oldValueDigest: nil, newValue: "erika.o'neil+bank@mail.example"),
            "limit-change": .limitChange(
                LimitChange(
                    limit: .dailyMax,
                    amount: try Money(limit: "750", currency: Currency("EUR")))),
        ]
    }

    @Test func `are exactly what the service builds`() throws {
        let contents = try Self.contents()
        #expect(vectors.count == contents.count)
        for vector in vectors {
            let name = try #require(vector["name"]?.text)
            let members = try #require(vector["members"])
            let member = { name in try text(name, of: members) }
            let action = try ID<Action>(member("action_id"))
            let challenge = try ID<Challenge>(member("challenge_id"))
            let decision = try SignedDecision(rawValue: member("decision"))
            let expiresAt = try Instant(text: member("expires_at"))
            let nonce = try Base64.decodeURL(member("nonce"))
            let built = SignedMessage(
                actionID: try #require(action), audience: try member("audience"),
                challengeID: try #require(challenge),
                customerID: try CustomerID(member("customer_id")),
                decision: try #require(decision), expiresAt: try #require(expiresAt),
                nonce: try #require(nonce), content: try #require(contents[name]))
            let bytes = Bytes(try text("message", of: vector).utf8)
            #expect(built.bytes == bytes, "\(name)")
            #expect(Fixtures.sha256(bytes).hex == vector["sha256"]?.text)
            #expect(SignedMessage(decoding: bytes) == built)
            guard case .object(let pairs) = members else { continue }
            let flat = Dictionary(
                uniqueKeysWithValues: pairs.map { ($0.name, $0.value.text ?? "") })
            #expect(CanonicalJSON.decode(bytes) == flat)
        }
    }

    /// Messages of other acts: each is read as what it is, and as nothing else.
    @Test func `hold the messages of other purposes, which are none of an action`() throws {
        guard case .array(let others)? = document["other_purposes"] else {
            Issue.record("the file holds no other purposes")
            return
        }
        #expect(others.count == 2)
        for other in others {
            let bytes = Bytes(try text("message", of: other).utf8)
            let isEnrolment = try text("name", of: other) == "enrol"
            #expect(Fixtures.sha256(bytes).hex == other["sha256"]?.text)
            #expect(SignedMessage(decoding: bytes) == nil)
            #expect(EnrolmentMessage(decoding: bytes)?.bytes == (isEnrolment ? bytes : nil))
            #expect(AuthorizationMessage(decoding: bytes)?.bytes == (isEnrolment ? nil : bytes))
        }
        for vector in vectors {
            let bytes = Bytes(try text("message", of: vector).utf8)
            #expect(EnrolmentMessage(decoding: bytes) == nil)
            #expect(AuthorizationMessage(decoding: bytes) == nil)
        }
    }

    /// From a row of payees over the document of the act to what a person signs, each made from its members.
    @Test func `hold an act of people, and what it is about, as the service builds them`() throws {
        guard case .array(let people)? = document["people"] else {
            Issue.record("the file holds nothing of people")
            return
        }
        let named = Dictionary(
            uniqueKeysWithValues: people.map { ($0["name"]?.text ?? "", $0) })
        func digest(_ name: String, _ bytes: Bytes) throws -> Digest {
            #expect(String(decoding: bytes, as: UTF8.self) == named[name]?["message"]?.text)
            #expect(Fixtures.sha256(bytes).hex == named[name]?["sha256"]?.text)
            #expect(
                SignedMessage(decoding: bytes) == nil && EnrolmentMessage(decoding: bytes) == nil)
            return Fixtures.sha256(bytes)
        }
        let row = try digest("payee-row", try row(named["payee-row"]?["members"]).bytes)
        let request = try PayeeImportRequest([
            "reason": "Moved from the old system", "rows": [.string(row.hex)],
        ])
        let document = try digest("act-document", request.document.encoded)
        let act = try act(named["act-propose"]?["members"], document)
        _ = try digest("act-propose", act.bytes)
        #expect(ActMessage(decoding: act.bytes) == act)
        let key = try registration(named["person-key-register"]?["members"])
        _ = try digest("person-key-register", key.bytes)
        #expect(ActMessage(decoding: key.bytes) == nil)
        #expect(named.count == 4)
    }

    private func row(_ members: JSON?) throws -> PayeeRow {
        let account = try text("account", of: members).split(separator: ":")
        return PayeeRow(
            customer: try CustomerID(text("customer_id", of: members)),
            identity: PayeeIdentity(
                name: try DisplayText(text("name", of: members), .payeeName),
                account: try Account(iban: String(account[1]))),
            alias: try DisplayText(text("alias", of: members), .payeeAlias),
            salt: try text("salt", of: members))
    }

    private func act(_ members: JSON?, _ document: Digest) throws -> ActMessage {
        ActMessage(
            actID: try #require(ID<Act>(text("act_id", of: members))),
            audience: try text("audience", of: members),
            challengeID: try #require(ID<ActChallenge>(text("challenge_id", of: members))),
            documentDigest: document,
            expiresAt: try #require(Instant(text: text("expires_at", of: members))),
            kind: .importPayees,
            nonce: try #require(Base64.decodeURL(text("nonce", of: members))),
            person: try text("person", of: members), role: .risk, stage: .propose)
    }

    private func registration(_ members: JSON?) throws -> PersonKeyMessage {
        PersonKeyMessage(
            registrationID: try #require(
                ID<PersonKeyRegistration>(text("registration_id", of: members))),
            audience: try text("audience", of: members),
            person: Person(
                id: Fixtures.id(1), name: try text("person", of: members), role: .risk),
            expiresAt: try #require(Instant(text: text("expires_at", of: members))),
            nonce: try #require(Base64.decodeURL(text("nonce", of: members))))
    }

    @Test func `hold a signature of a device key`() throws {
        let pem = try text("public_key", of: document)
        let decoded = try Base64.decode(text("signature", of: document["device_key"]))
        let signature = try #require(decoded)
        let name = try text("vector", of: document["device_key"])
        #expect(try Fixtures.deviceKeyVerifies(signature, over: message(name), pem: pem))
        for vector in vectors where vector["name"]?.text != name {
            let other = Bytes(try text("message", of: vector).utf8)
            #expect(try !Fixtures.deviceKeyVerifies(signature, over: other, pem: pem))
        }
    }

    @Test func `hold an assertion of a passkey`() throws {
        let pem = try text("public_key", of: document)
        let passkey = document["passkey"]
        func bytes(_ name: String) throws -> Bytes {
            let decoded = try Base64.decodeURL(text(name, of: passkey))
            return try #require(decoded)
        }
        let assertion = PasskeyAssertion(
            rawID: [1], clientDataJSON: try bytes("client_data_json"),
            authenticatorData: try bytes("authenticator_data"), signature: try bytes("signature"),
            userHandle: nil)
        let signed = try message(text("vector", of: passkey))
        let rejection = try message("transfer-reject")
        #expect(try Fixtures.passkeyVerifies(assertion, over: signed, pem: pem))
        #expect(try !Fixtures.passkeyVerifies(assertion, over: rejection, pem: pem))
    }

    @Test func `are shown in the documentation, byte for byte`() throws {
        let page = try RepositoryFiles.text("docs/signed-message.md")
        guard case .array(let others)? = document["other_purposes"] else {
            Issue.record("the file holds no other purposes")
            return
        }
        guard case .array(let people)? = document["people"] else {
            Issue.record("the file holds nothing of people")
            return
        }
        for vector in vectors + others + people {
            let name = try text("name", of: vector)
            let block = """
                ### `\(name)`

                \(try text("note", of: vector))

                ```
                \(try text("message", of: vector))
                ```

                SHA-256 `\(try text("sha256", of: vector))`

                """
            #expect(page.utf8.contains(block.utf8), "\(name) is not in the page")
        }
        let shown = try [
            text("public_key", of: document), text("signature", of: document["device_key"]),
            text("signature", of: document["passkey"]),
            text("client_data_json", of: document["passkey"]),
            text("authenticator_data", of: document["passkey"]),
        ]
        for part in shown { #expect(page.utf8.contains(part.utf8)) }
    }
}
