import Countersign
import Crypto
import Delivery
import Foundation
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

@Suite struct `An order that officers approved` {
    private func receipt(
        _ bank: Bank, _ body: Bytes
    ) async throws -> Receipt? {
        let answer = try await bank.post(body)
        return answer.status == 200 ? Receipt(answer.body, actionID: Fixture.actionID) : nil
    }

    @Test func `is the documented JSON, and holds no message of a customer`() throws {
        let officers = try Officers()
        let order = try officers.order()
        let body = try #require(OrderDocument.encode(order).flatMap(SignedJSON.decode))
        guard case .object(let members) = body else { throw CocoaError(.coderInvalidValue) }
        #expect(
            members.map(\.name) == [
                "action_id", "approval", "approved_at", "customer_id", "evidence_id", "kind",
                "leaf_hash", "promise", "transfer",
            ])
        #expect(body["approval"]?["document"]?.text == Base64.encodeURL(order.message))
        #expect(body["transfer"]?["amount"] == "120.00")
        guard case .array(let signatures)? = body["approval"]?["signatures"] else {
            throw CocoaError(.coderInvalidValue)
        }
        #expect(signatures.compactMap { $0["person"]?.text } == ["anna", "bert"])
    }

    @Test(
        arguments: [
            ["action_id": .string(ID<Action>(rawValue: 7).text)], ["customer_id": "c-9"],
            ["members.amount": "120.0"], ["members.more": "x"], ["reason": ""],
            ["identity_check.method": "sms"],
        ] as [[String: JSON]])
    func `is not written when its document says something else`(changes: [String: JSON]) throws {
        let officers = try Officers()
        #expect(OrderDocument.encode(try officers.order(Officers.document(changes))) == nil)
    }

    @Test func `is carried out, once, when two keys on file signed it`() async throws {
        let bank = try Bank(hasOfficerKeys: true)
        let officers = try Officers()
        try officers.write(to: bank.officerKeys)
        let claim = Fixture.claim(.order(try officers.order()))
        let link = try bank.link()
        guard case .executed("CB-1", let raw) = await link.deliver(claim) else {
            Issue.record("not executed")
            return
        }
        #expect(await link.deliver(claim) == .executed(reference: "CB-1", raw: raw))
        await bank.stop()
    }

    /// Both have signed for how long it is held: whoever owns the database cannot make it shorter.
    @Test func `waits until the hold is over that both have signed`() async throws {
        let officers = try Officers()
        let body = try #require(OrderDocument.encode(try officers.order()))
        // They were asked at most the life of a question before it expires, which is now.
        for (ahead, isOver) in [(0, false), (86_099, false), (86_100, true)] as [(Int64, Bool)] {
            let bank = try Bank(hasOfficerKeys: true, holdClockAhead: Seconds(ahead))
            try officers.write(to: bank.officerKeys)
            #expect(try await bank.post(body).status == (isOver ? 200 : 409), "\(ahead)")
            await bank.stop()
        }
    }

    @Test func `is refused without a file of keys, and waits while the file cannot be read`()
        async throws
    {
        let officers = try Officers()
        let body = try #require(OrderDocument.encode(try officers.order()))
        let none = try Bank()
        #expect(try await receipt(none, body) == .refused(reason: "officer_keys_missing"))
        await none.stop()
        let bank = try Bank(hasOfficerKeys: true)
        for text in ["", "{}", #"[{"person":"anna"}]"#] {
            try Data(text.utf8).write(to: URL(filePath: bank.officerKeys))
            #expect(try await bank.post(body).status == 503)
        }
        try officers.write(to: bank.officerKeys)
        #expect(try await receipt(bank, body) == .executed(reference: "CB-1"))
        await bank.stop()
    }

    @Test func `counts a key only while it is in the file, and of its owner`() async throws {
        let officers = try Officers()
        let other = Officers.Officer(
            name: "bert", key: officers.bert.key, authenticator: try Officers().bert.authenticator)
        let renamed = Officers.Officer(
            name: "carla", key: officers.bert.key, authenticator: officers.bert.authenticator)
        for (file, refusal) in [
            ([officers.anna], OrderJudge.Refusal.officerKeyUnknown),
            ([officers.anna, renamed], .officerKeyUnknown),
            ([officers.anna, other], .signatureInvalid),
        ] {
            try await expect(refusal, officers, file: file) { try $0.order() }
        }
    }

    @Test func `needs two people with two keys`() async throws {
        let officers = try Officers()
        let document = try Officers.document()
        let anna = try officers.sign(document, by: officers.anna, .propose)
        try await expect(.notTwoOfficers, officers) { $0.order(document, [anna]) }
        try await expect(.notTwoOfficers, officers) { $0.order(document, []) }
        try await expect(.notTwoOfficers, officers) { officers in
            officers.order(
                document, [anna, try officers.sign(document, by: officers.anna, .approve)])
        }
        // One key under two names, and one person with two keys.
        let alias = Officers.Officer(
            name: "carla", key: officers.bert.key, authenticator: officers.anna.authenticator)
        try await expect(.notTwoOfficers, officers, file: [officers.anna, alias]) { officers in
            officers.order(document, [anna, try officers.sign(document, by: alias, .approve)])
        }
        let second = Officers.Officer(
            name: "anna", key: officers.bert.key, authenticator: officers.bert.authenticator)
        try await expect(.notTwoOfficers, officers, file: [officers.anna, second]) { officers in
            officers.order(document, [anna, try officers.sign(document, by: second, .approve)])
        }
    }

    @Test func `needs each of them to have signed exactly this`() async throws {
        typealias Signing = Officers.Signing
        let rows: [(Signing, OrderJudge.Refusal)] = [
            (Signing(kind: .releaseHold), .notAnApproval),
            (Signing(role: .risk), .messageOfAnotherAction),
            (Signing(person: "anna"), .messageOfAnotherAction),
            (Signing(audience: "other.example"), .messageForAnotherBank),
            (Signing(act: ID(rawValue: 7)), .messageOfAnotherAction),
            (Signing(document: Bytes("{}".utf8)), .messageOfAnotherAction),
            (Signing(flags: [.userPresent]), .signatureInvalid),
            (Signing(flags: [.userVerified]), .signatureInvalid),
            (Signing(origin: "https://bank.example.evil.example"), .signatureInvalid),
            (Signing(origin: "https://evilbank.example"), .signatureInvalid),
            (Signing(origin: "http://bank.example"), .signatureInvalid),
            (Signing(type: "payment.get"), .signatureInvalid),
            (Signing(challenge: Bytes(repeating: 0, count: 32)), .signatureInvalid),
        ]
        for (signing, refusal) in rows {
            try await expect(refusal, try Officers()) { try $0.order(nil, signing) }
        }
    }

    @Test func `is about this action of this customer, as the copy says`() async throws {
        let officers = try Officers()
        let rows: [([String: JSON?], OrderJudge.Refusal)] = [
            (["action_id": .string(ID<Action>(rawValue: 7).text)], .documentOfAnotherAction),
            (["customer_id": "c-9"], .documentOfAnotherAction),
            (["members.amount": "120000.00"], .readableCopyDiffers),
            (["members.more": "x"], .messageUnreadable),
        ]
        for (changes, refusal) in rows {
            try await expect(refusal, officers) { try $0.order(Officers.document(changes)) }
        }
    }

    @Test func `takes pages of the bank's domain and of those under it`() async throws {
        for origin in ["https://officers.bank.example", "https://bank.example:8443"] {
            let bank = try Bank(hasOfficerKeys: true)
            let officers = try Officers()
            try officers.write(to: bank.officerKeys)
            let order = try officers.order(nil, Officers.Signing(origin: origin))
            #expect(
                try await receipt(bank, officers.body(order)) == .executed(reference: "CB-1"))
            await bank.stop()
        }
    }

    @Test func `with a customer's proof beside it is no order`() async throws {
        let bank = try Bank(hasOfficerKeys: true)
        let officers = try Officers()
        try officers.write(to: bank.officerKeys)
        let sound = try #require(SignedJSON.decode(try officers.body(try officers.order())))
        for (path, value) in [
            ("message", JSON.string("e30")), ("assertion", [:]), ("approval.kind", "customer"),
            ("approval.signatures", [[:]]), ("approval.act_id", "x"),
        ] {
            #expect(try await bank.post(sound.setting(path, to: value).encoded).status == 422)
        }
        await bank.stop()
    }

    private func expect(
        _ refusal: OrderJudge.Refusal, _ officers: Officers, file: [Officers.Officer]? = nil,
        _ order: (Officers) throws -> ExecutionOrder
    ) async throws {
        let bank = try Bank(hasOfficerKeys: true)
        try officers.write(file, to: bank.officerKeys)
        let body = try officers.body(order(officers))
        #expect(try await receipt(bank, body) == .refused(reason: refusal.rawValue), "\(refusal)")
        await bank.stop()
    }
}
