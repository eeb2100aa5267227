import Countersign
import Crypto
import Delivery
import Testing

@Suite struct `What core banking receives` {
    @Test func `an order is the documented JSON`() throws {
        let body = try #require(
            OrderDocument.encode(Fixture.order()) { "promise of \($0) \($1.hex)" })
        let expected = """
            {"action_id":"\(Fixture.actionID)","kind":"transfer","transfer":{"amount":"120.00",\
            "currency":"EUR","debtor_account":{"iban":"DE89370400440532013000"},\
            "payee":{"name":"Erika Mustermann","account":{"iban":"FR1420041010050500013M02606"}},\
            "reference":"Invoice 7","end_to_end_id":null},"customer_id":"c-1001",\
            "approved_at":"2026-05-28T20:26:40.123Z","evidence_id":"\(Fixture.evidenceID)",\
            "leaf_hash":"\(sha256([9]).hex)",\
            "promise":"promise of \(Fixture.evidenceID) \(sha256([9]).hex)","message":"\(Base64.encodeURL(Fixture.message()))",\
            "assertion":{"credential_id":"\(Fixture.credentialID)","kind":"device_key",\
            "public_key":"MAE=","signature_format":"der","signature":"AQI="}}
            """
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }

    @Test func `a passkey's assertion has its three parts in base64url`() throws {
        let order = Fixture.order(
            proof: .passkey(signature: [0xFB, 1], clientDataJSON: [2], authenticatorData: [3]))
        let body = try #require(OrderDocument.encode(order))
        let assertion = try #require(SignedJSON.decode(body)?["assertion"])
        #expect(assertion["kind"] == "passkey")
        #expect(assertion["signature"] == "-wE")
        #expect(assertion["client_data_json"] == "Ag")
        #expect(assertion["authenticator_data"] == "Aw")
    }

    @Test func `the readable copy of every kind comes from the message`() throws {
        let payee: [String: String?] = [
            "kind": "new_payee", "payee_alias": "", "amount": nil, "currency": nil,
            "debtor_account": nil, "reference": nil, "end_to_end_id": nil,
            "payee_account": "bban:12:3",
        ]
        let contact: [String: String?] = [
            "kind": "contact_change", "channel": "phone", "new_value": "+4915187654321",
            "old_value_digest": sha256([1]).hex, "amount": nil, "currency": nil,
            "debtor_account": nil, "reference": nil, "end_to_end_id": nil, "payee_account": nil,
            "payee_name": nil,
        ]
        let first = try #require(
            OrderDocument.encode(Fixture.order(message: Fixture.message(payee)))
        )
        #expect(
            SignedJSON.decode(first)?["new_payee"] == [
                "alias": .null,
                "payee": [
                    "account": ["scheme": "bban", "value": "12:3"], "name": "Erika Mustermann",
                ],
            ])
        let second = try #require(
            OrderDocument.encode(Fixture.order(message: Fixture.message(contact))))
        #expect(
            SignedJSON.decode(second)?["contact_change"] == [
                "channel": "phone", "new_value": "+4915187654321",
                "old_value_digest": .string(sha256([1]).hex),
            ])
    }

    @Test(
        arguments: [
            ["decision": "reject"], ["customer_id": "c-1002"], ["version": "countersign/2"],
            ["action_id": "0190b5a0-0000-7000-8000-000000000002"], ["amount": "120.0"],
            ["more": "x"],
            ["amount": nil], ["kind": "new_payee"],
        ] as [[String: String?]])
    func `an order whose message says something else is not written`(changes: [String: String?]) {
        #expect(OrderDocument.encode(Fixture.order(message: Fixture.message(changes))) == nil)
    }

    @Test func `an announcement is the documented JSON`() {
        let expected = """
            {"credential_id":"\(Fixture.credentialID)","customer_id":"c-1001","kind":"passkey",\
            "public_key":"MAE=","enrolled_at":"2026-05-28T20:26:40.123Z",\
            "evidence_id":"\(Fixture.evidenceID)"}
            """
        let body = OrderDocument.encode(Fixture.announcement())
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }
}
