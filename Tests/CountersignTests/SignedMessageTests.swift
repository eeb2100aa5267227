import Countersign
import TestSupport
import Testing

@Suite struct `Signed messages` {
    @Test(arguments: ActionKind.allCases, [SignedDecision.approve, .reject])
    func `are read back as they were built`(kind: ActionKind, decision: SignedDecision) throws {
        let message = try Fixtures.message(try Fixtures.content(kind), decision: decision)
        #expect(SignedMessage(decoding: message.bytes) == message)
        #expect(CanonicalJSON.decode(message.bytes)?["kind"] == kind.rawValue)
    }

    @Test func `without optional texts still have every member, empty`() throws {
        let transfer = try Fixtures.message(try Fixtures.transfer(reference: "", endToEndID: ""))
        let members = try #require(CanonicalJSON.decode(transfer.bytes))
        #expect(members["reference"] == "")
        #expect(members["end_to_end_id"] == "")
        let payee = try Fixtures.message(try Fixtures.newPayee(alias: ""))
        #expect(CanonicalJSON.decode(payee.bytes)?["payee_alias"] == "")
        let contact = try Fixtures.message(try Fixtures.contactChange(oldValueDigest: nil))
        #expect(CanonicalJSON.decode(contact.bytes)?["old_value_digest"] == "")
        for message in [transfer, payee, contact] {
            #expect(SignedMessage(decoding: message.bytes) == message)
        }
    }

    /// Each row changes members of a good transfer; `nil` removes one.
    @Test(
        arguments: [
            ["version": "countersign/2"], ["version": "countersign/1 "], ["version": nil],
            ["decision": "maybe"], ["decision": "Approve"], ["decision": ""], ["decision": nil],
            ["kind": "payment"], ["kind": "new_payee"], ["kind": nil],
            ["nonce": Base64.encodeURL(Bytes(repeating: 1, count: 31))],
            ["nonce": Base64.encodeURL(Bytes(repeating: 1, count: 33))],
            ["nonce": Base64.encodeURL(Fixtures.bytes32(1)) + "="],
            ["nonce": String(Base64.encodeURL(Fixtures.bytes32(1)).dropLast()) + "F"],
            ["nonce": Hex.encode(Fixtures.bytes32(1))], ["nonce": ""], ["nonce": nil],
            ["action_id": "019B8D9C-1000-7000-8000-000000000001"],
            ["action_id": "019b8d9c10007000800000000000000001"], ["action_id": ""],
            ["action_id": nil], ["challenge_id": "1"], ["challenge_id": nil],
            ["customer_id": ""], ["customer_id": "c 1001"], ["customer_id": ".."],
            ["customer_id": nil], ["audience": nil],
            ["expires_at": "2026-01-05T10:05:00.000Z"], ["expires_at": "2026-01-05T10:05:00.500Z"],
            ["expires_at": "2026-01-05T11:05:00+01:00"], ["expires_at": "2026-01-05 10:05:00Z"],
            ["expires_at": "2026-02-30T10:05:00Z"], ["expires_at": "1767607500"],
            ["expires_at": nil],
            ["amount": "120"], ["amount": "120.0"], ["amount": "120.000"], ["amount": "0120.00"],
            ["amount": "0.00"], ["amount": "-120.00"], ["amount": "1,20.00"], ["amount": nil],
            ["currency": "eur"], ["currency": "XXX"], ["currency": nil],
            ["currency": "JPY"], ["amount": "120", "currency": "EUR"],
            ["debtor_account": "DE89370400440532013000"],
            ["debtor_account": "iban:de89370400440532013000"],
            ["debtor_account": "iban:DE89 3704 0044 0532 0130 00"],
            ["debtor_account": "iban:DE89370400440532013001"], ["debtor_account": nil],
            ["payee_account": "IBAN:FR1420041010050500013M02606"], ["payee_account": nil],
            ["payee_name": ""], ["payee_name": " Erika"], ["payee_name": "Erika\n"],
            ["payee_name": "Erika\u{202E}"], ["payee_name": "Erika\u{200B}"],
            ["payee_name": String(repeating: "a", count: 141)], ["payee_name": nil],
            ["reference": String(repeating: "a", count: 141)], ["reference": nil],
            ["end_to_end_id": String(repeating: "a", count: 36)], ["end_to_end_id": nil],
            ["payee_alias": ""], ["purpose": "enrol"], ["": ""], ["Amount": "120.00"],
            ["AMOUNT": "1.00"], ["amount ": "120.00"],
        ] as [[String: String?]])
    func `are refused with a member that is missing, more, or spelled in another way`(
        changes: [String: String?]
    ) throws {
        let good = try Fixtures.message(try Fixtures.transfer()).bytes
        var members = try #require(CanonicalJSON.decode(good))
        for (name, value) in changes { members[name] = value }
        #expect(SignedMessage(decoding: CanonicalJSON.encode(members)) == nil)
    }

    @Test(
        arguments: [
            ["channel": "fax"], ["channel": "Phone"], ["channel": "email"], ["channel": nil],
            ["new_value": "+49 151 87654321"], ["new_value": "erika@bank.example"],
            ["new_value": ""], ["new_value": nil], ["old_value_digest": "00"],
            ["old_value_digest": String(repeating: "AB", count: 32)],
            ["old_value_digest": String(repeating: "g", count: 64)], ["old_value_digest": nil],
        ] as [[String: String?]])
    func `of a contact change are refused in any other spelling`(changes: [String: String?]) throws
    {
        let good = try Fixtures.message(try Fixtures.contactChange()).bytes
        var members = try #require(CanonicalJSON.decode(good))
        for (name, value) in changes { members[name] = value }
        #expect(SignedMessage(decoding: CanonicalJSON.encode(members)) == nil)
    }

    /// The same JSON value, or nearly, as other bytes.
    @Test func `are refused in any other form than the canonical one`() throws {
        let good = String(
            decoding: try Fixtures.message(try Fixtures.transfer()).bytes, as: UTF8.self)
        let amount = #""amount":"120.00""#
        let currency = #""currency":"EUR""#
        let others = [
            "", "{}", "[]", "null", " " + good, good + " ", good + "\n", "\u{FEFF}" + good,
            good + good, String(good.dropLast()), String(good.dropFirst()),
            good.replacing(":", with: ": "), good.replacing("\",\"", with: "\", \""),
            good.replacing("{", with: "{ "),
            // Another order.
            good.replacing(amount + ",", with: "").replacing("{", with: "{" + amount + ","),
            // A member twice, equal and not.
            good.replacing(amount, with: amount + "," + amount),
            good.replacing(amount, with: #""amount":"1.00","# + amount),
            // The same text, escaped where it need not be.
            good.replacing("EUR", with: #"\u0045UR"#),
            good.replacing("EUR", with: #"\u0045\u0055R"#),
            good.replacing("amount", with: #"\u0061mount"#),
            good.replacing("bank.example", with: #"bank.exampl\u0065"#),
            good.replacing("Invoice 7", with: #"Invoice\/7"#),
            // Values that are no strings.
            good.replacing(#""120.00""#, with: "120.00"),
            good.replacing(currency, with: #""currency":null"#),
            good.replacing(currency, with: #""currency":["EUR"]"#),
            good.replacing("\"", with: "'"),
            good.replacing("}", with: ",}"),
        ]
        for other in others {
            #expect(other != good)
            #expect(SignedMessage(decoding: Bytes(other.utf8)) == nil, "\(other)")
        }
        #expect(SignedMessage(decoding: Bytes(good.utf8)) != nil)
    }

    @Test func `are refused when they are not UTF-8`() throws {
        let good = try Fixtures.message(try Fixtures.transfer(reference: "é")).bytes
        let index = try #require(good.firstIndex(of: 0xC3))
        for wrong in [[0xE9], [0xC3], [0xC1, 0xA9], [0xED, 0xA0, 0x80], [0xFF]] as [Bytes] {
            let bytes = good[..<index] + wrong + good[(index + 2)...]
            #expect(SignedMessage(decoding: Bytes(bytes)) == nil)
        }
    }

    /// Every bit is worth something: there is no other way to write what was signed.
    @Test(arguments: ActionKind.allCases)
    func `say something else, or nothing, when any bit is flipped`(kind: ActionKind) throws {
        let message = try Fixtures.message(try Fixtures.content(kind))
        let bytes = message.bytes
        var read = 0
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                guard let other = SignedMessage(decoding: flipped) else { continue }
                read += 1
                #expect(other != message)
                #expect(other.bytes == flipped)
            }
        }
        #expect(read > 0)
    }

    /// PSD2 RTS Art. 5(1)(b) to (d): any other amount or payee is another message.
    @Test func `of two actions that differ in anything are different bytes`() throws {
        let messages = try [
            Fixtures.message(try Fixtures.transfer()),
            Fixtures.message(try Fixtures.transfer(), action: Fixtures.id(51)),
            Fixtures.message(try Fixtures.transfer(), challenge: Fixtures.id(52)),
            Fixtures.message(try Fixtures.transfer(), customer: "c-1002"),
            Fixtures.message(try Fixtures.transfer(), decision: .reject),
            Fixtures.message(try Fixtures.transfer(), audience: "other.example"),
            Fixtures.message(try Fixtures.transfer(), expiresAt: Fixtures.at + Seconds(301)),
            Fixtures.message(try Fixtures.transfer(), nonce: Fixtures.bytes32(2)),
            Fixtures.message(try Fixtures.transfer("120.01")),
            Fixtures.message(try Fixtures.transfer(currency: "USD")),
            Fixtures.message(try Fixtures.transfer(debtor: "BE68539007547034")),
            Fixtures.message(
                try Fixtures.transfer(payee: ("Erika Muster", Fixtures.payeeIBAN))),
            Fixtures.message(
                try Fixtures.transfer(payee: ("Erika Mustermann", "BE68539007547034"))),
            Fixtures.message(try Fixtures.transfer(reference: "Invoice 8")),
            Fixtures.message(try Fixtures.transfer(reference: "")),
            Fixtures.message(try Fixtures.transfer(endToEndID: "INV-8")),
            Fixtures.message(try Fixtures.transfer(endToEndID: "")),
            Fixtures.message(try Fixtures.transfer(reference: "INV-7", endToEndID: "Invoice 7")),
            Fixtures.message(try Fixtures.newPayee()),
            Fixtures.message(try Fixtures.newPayee(alias: "")),
            Fixtures.message(try Fixtures.newPayee(payee: ("Erika Muster", Fixtures.payeeIBAN))),
            Fixtures.message(
                try Fixtures.newPayee(payee: ("Erika Mustermann", "BE68539007547034"))),
            Fixtures.message(try Fixtures.contactChange()),
            Fixtures.message(try Fixtures.contactChange(oldValueDigest: nil)),
            Fixtures.message(try Fixtures.contactChange(newValue: "+4915187654322")),
            Fixtures.message(
                try Fixtures.contactChange(channel: "email", newValue: "erika@bank.example")),
        ]
        #expect(Set(messages.map(\.bytes)).count == messages.count)
        #expect(Set(messages).count == messages.count)
    }

    /// Composed and decomposed look alike, and so must not share a signature.
    @Test func `of canonically equivalent texts are different bytes`() throws {
        let composed = try Fixtures.message(try Fixtures.transfer(reference: "\u{E9}"))
        let decomposed = try Fixtures.message(try Fixtures.transfer(reference: "e\u{301}"))
        #expect(composed.bytes != decomposed.bytes)
        #expect(composed != decomposed)
    }
}
