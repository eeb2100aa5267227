import Countersign
import Crypto
import Delivery
import Testing
import WebAuthn

@testable import CountersignMain

@Suite struct `The core-banking stand-in` {
    @Test func `carries out what a device key signed, once`() async throws {
        let bank = try Bank()
        try await bank.announce()
        let claim = Fixture.claim(.order(try bank.deviceOrder()))
        let link = try bank.link()
        let first = await link.deliver(claim)
        guard case .executed("CB-1", let raw) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(await link.deliver(claim) == .executed(reference: "CB-1", raw: raw))
        let question = Fixture.claim(.order(try bank.deviceOrder()), phase: .reconcile)
        #expect(await link.deliver(question) == .executed(reference: "CB-1", raw: raw))
        await bank.stop()
    }

    @Test func `carries out what a passkey signed`() async throws {
        let bank = try Bank()
        try await bank.announce()
        let order = try bank.passkeyOrder()
        #expect(try await bank.receipt(order) == .executed(reference: "CB-1"))
        await bank.stop()
    }

    @Test func `books an order once when it comes many times at once`() async throws {
        let bank = try Bank()
        try await bank.announce()
        let order = try bank.deviceOrder()
        let receipts = try await withThrowingTaskGroup(of: Receipt?.self) { group in
            for _ in 0..<32 { group.addTask { try await bank.receipt(order) } }
            var receipts: [Receipt?] = []
            for try await receipt in group { receipts.append(receipt) }
            return receipts
        }
        #expect(receipts == Array(repeating: .executed(reference: "CB-1"), count: 32))
        await bank.stop()
    }

    @Test func `refuses what the recorded key did not sign`() async throws {
        let stranger = try P256PrivateKey.generate()
        let other = Fixture.message(["amount": "120000.00"])
        try await expectRefusal(.signatureInvalid) { try $0.deviceOrder(key: stranger) }
        try await expectRefusal(.signatureInvalid) { try $0.deviceOrder(signing: other) }
    }

    @Test(arguments: [(SignatureFormat.raw, true), (.der, false)])
    func `verifies in the format that the key was announced with, whatever the order says`(
        announced: SignatureFormat, isBooked: Bool
    ) async throws {
        let bank = try Bank()
        let key = bank.deviceKey.publicKey
        let claim = Fixture.claim(.credential(bank.announcement(.deviceKey, format: announced)))
        #expect(try await bank.link().deliver(claim) == .delivered)
        let message = Fixture.message()
        let raw = try #require(P256Signature(der: bank.deviceKey.sign(message))).raw
        let order = bank.order(
            message, Bank.deviceCredential, key, .deviceKey(signature: raw, format: .raw))
        let receipt: Receipt =
            isBooked
            ? .executed(reference: "CB-1") : .refused(reason: "signature_invalid")
        #expect(try await bank.receipt(order) == receipt)
        await bank.stop()
    }

    @Test func `refuses a passkey's answer to anything else`() async throws {
        let message = Fixture.message()
        let foreign = try SoftwareAuthenticator.create(
            relyingPartyID: Bank.audience, entropy: .openSSL)
        try await expectRefusal(.signatureInvalid) { try $0.passkeyOrder(phone: foreign) }
        try await expectRefusal(.signatureInvalid) {
            try $0.passkeyOrder(challenge: Bytes(repeating: 0, count: 32))
        }
        try await expectRefusal(.signatureInvalid) { try $0.passkeyOrder(challenge: message) }
        try await expectRefusal(.signatureInvalid) { try $0.passkeyOrder(flags: [.userPresent]) }
        try await expectRefusal(.signatureInvalid) { try $0.passkeyOrder(flags: [.userVerified]) }
        try await expectRefusal(.signatureInvalid) { try $0.passkeyOrder(type: "webauthn.create") }
        try await expectRefusal(.signatureInvalid) { bank in
            let phone = SoftwareAuthenticator(
                relyingPartyID: "other.example", credentialID: bank.phone.credentialID,
                key: bank.phone.key)
            return try bank.passkeyOrder(phone: phone)
        }
    }

    @Test func `carries out what a browser showed and a passkey confirmed`() async throws {
        let bank = try Bank()
        try await bank.announce()
        let order = try bank.paymentOrder()
        #expect(try await bank.receipt(order) == .executed(reference: "CB-1"))
        await bank.stop()
    }

    @Test func `SPC-02 - refuses a payment where the browser showed another one, or none`()
        async throws
    {
        let shown: [(String, JSON)] = [
            ("payment.total.value", "12.00"), ("payment.total.currency", "USD"),
            ("payment.payeeName", "Erika Mustermann"), ("payment.rpId", "other.example"),
            ("payment.more", "x"), ("payment", .null),
        ]
        for (path, value) in shown {
            try await expectRefusal(.paymentDiffers) {
                try $0.paymentOrder(Fixture.message(), [path: value])
            }
        }
        // A login's proof under a payment's type, and the reverse of it is good.
        try await expectRefusal(.paymentDiffers) { try $0.passkeyOrder(type: "payment.get") }
        let contact = Fixture.message([
            "kind": "new_payee", "payee_alias": "", "amount": nil, "currency": nil,
            "debtor_account": nil, "reference": nil, "end_to_end_id": nil,
        ])
        try await expectRefusal(.paymentDiffers) { try $0.paymentOrder(contact) }
        try await expectRefusal(.signatureInvalid) {
            try $0.paymentOrder(Fixture.message(), ["challenge": "AAAA"])
        }
    }

    @Test(
        arguments: [
            (["decision": "reject"], .notAnApproval),
            (["action_id": "0190b5a0-0000-7000-8000-000000000002"], .messageOfAnotherAction),
            (["customer_id": "c-1002"], .messageOfAnotherAction),
            (["audience": "other.example"], .messageForAnotherBank),
            (["version": "countersign/2"], .messageUnreadable), (["more": ""], .messageUnreadable),
            (["amount": "120.0"], .messageUnreadable),
            (["amount": "120.01"], .readableCopyDiffers),
            (["payee_name": "Erika Musterfrau"], .readableCopyDiffers),
        ] as [([String: String?], OrderJudge.Refusal)])
    func `refuses a signed message that says something else`(
        changes: [String: String?], refusal: OrderJudge.Refusal
    ) async throws {
        let message = Fixture.message(changes)
        try await expectRefusal(refusal) { try $0.deviceOrder(message) }
    }

    @Test func `refuses a readable copy that differs from the message`() async throws {
        let copies: [[String: JSON]] = [
            ["transfer": .null], ["kind": "new_payee"], ["transfer": ["amount": "120.00"]],
        ]
        for changes in copies {
            try await expectRefusal(.readableCopyDiffers, changes) { try $0.deviceOrder() }
        }
    }

    @Test func `refuses a key of another customer or kind`() async throws {
        try await expectRefusal(.credentialNotOfCustomer, ["customer_id": "c-1002"]) {
            try $0.deviceOrder()
        }
        try await expectRefusal(.credentialKindDiffers) { bank in
            let order = try bank.deviceOrder()
            return ExecutionOrder(
                actionID: order.actionID, customerID: order.customerID,
                approvedAt: order.approvedAt, evidenceID: order.evidenceID,
                leafHash: order.leafHash, message: order.message,
                approval: .customer(
                    RecordedAssertion(
                        credentialID: Bank.passkeyCredential,
                        publicKeySPKI: order.assertion.publicKeySPKI, proof: order.assertion.proof))
            )
        }
    }

    @Test func `decides nothing about a key that was not announced yet`() async throws {
        let bank = try Bank()
        let claim = Fixture.claim(.order(try bank.deviceOrder()))
        let early = try await bank.link().deliver(claim)
        guard case .retry(_, .status) = early else {
            Issue.record("\(early)")
            return
        }
        try await bank.announce()
        let late = try await bank.link().deliver(claim)
        guard case .executed = late else {
            Issue.record("\(late)")
            return
        }
        await bank.stop()
    }

    @Test func `keeps the key that was announced first`() async throws {
        let bank = try Bank()
        try await bank.announce()
        try await bank.announce()
        let stranger = try P256PrivateKey.generate()
        let replaced = bank.announcement(.deviceKey, key: stranger.publicKey)
        let outcome = try await bank.link().deliver(Fixture.claim(.credential(replaced)))
        guard case .retry(_, .status) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let order = try bank.deviceOrder(key: stranger)
        #expect(try await bank.receipt(order) == .refused(reason: "signature_invalid"))
        await bank.stop()
    }

    @Test func `decides nothing when an action comes back with another message`() async throws {
        let bank = try Bank()
        try await bank.announce()
        #expect(try await bank.receipt(bank.deviceOrder()) == .executed(reference: "CB-1"))
        let other = try bank.deviceOrder(Fixture.message(["amount": "1.00"]))
        let answer = try await bank.post(bank.body(other))
        #expect(answer.status == 409)
        #expect(try await bank.receipt(bank.deviceOrder()) == .executed(reference: "CB-1"))
        await bank.stop()
    }

    @Test func `believes only what the signing service sent just now, to here, once`() async throws
    {
        let bank = try Bank()
        try await bank.announce()
        let body = try bank.body(bank.deviceOrder())
        let elsewhere = try #require(HTTPURL("http://127.0.0.1:9/executions"))
        func signed(
            _ key: Ed25519PrivateKey? = nil, to url: HTTPURL? = nil, at: Instant = Fixture.now
        ) throws -> HTTPRequest {
            try bank.signer(key).post(
                body, to: url ?? bank.url, idempotencyKey: Fixture.actionID.text, at: at)
        }
        let sound = try signed()
        let refused: [HTTPRequest] = [
            HTTPRequest(.post, bank.url, fields: [sound.fields[0]], body: body),
            try signed(.generate()), try signed(at: Fixture.now - Seconds(61)),
            try signed(at: Fixture.now + Seconds(301)),
            HTTPRequest(.post, bank.url, fields: try signed(to: elsewhere).fields, body: body),
            HTTPRequest(
                .post, bank.url,
                fields: try signed(to: elsewhere).fields
                    + [HTTPField("Host", elsewhere.authority)], body: body),
            HTTPRequest(.post, bank.url, fields: sound.fields, body: body + [0x20]),
        ]
        for request in refused {
            #expect(try await bank.client.send(request).status == 401)
        }
        let asked = try #require(bank.url.appending(Fixture.actionID.text))
        #expect(try await bank.client.send(HTTPRequest(.get, asked)).status == 404)
        #expect(try await bank.client.send(sound).status == 200)
        #expect(try await bank.client.send(sound).status == 401)
        #expect(try await bank.client.send(HTTPRequest(.get, asked)).status == 200)
        await bank.stop()
    }

    @Test func `takes an order only under its own idempotency key`() async throws {
        let bank = try Bank()
        try await bank.announce()
        let body = try bank.body(bank.deviceOrder())
        #expect(try await bank.post(body, key: "another").status == 422)
        #expect(try await bank.post(Bytes("{}".utf8)).status == 422)
        await bank.stop()
    }

    private func expectRefusal(
        _ refusal: OrderJudge.Refusal, _ changes: [String: JSON] = [:],
        _ order: (Bank) throws -> ExecutionOrder
    ) async throws {
        let bank = try Bank()
        try await bank.announce()
        let order = try order(bank)
        let receipt = Receipt.refused(reason: refusal.rawValue)
        #expect(try await bank.receipt(order, changes) == receipt)
        // A refusal is final as well.
        #expect(try await bank.receipt(order) == receipt)
        await bank.stop()
    }
}
