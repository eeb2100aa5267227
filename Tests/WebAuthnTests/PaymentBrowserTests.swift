import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// SPC-11.
@Suite struct `A browser's own key` {
    private let fixture: PaymentFixture
    private let key: P256PrivateKey

    init() throws {
        fixture = try PaymentFixture()
        key = try .generate()
    }

    private func refusal(
        _ changes: [String: JSON?] = [:], signedBy other: P256PrivateKey? = nil
    ) throws -> VerificationFailure? {
        let clientData = fixture.clientData(changes, browserBoundKey: key.publicKey)
        return fixture.refusal(
            .payment(try fixture.confirmed(clientData, browserBoundKey: other ?? key)))
    }

    @Test func `is believed when it signed the client data that names it`() throws {
        #expect(try refusal() == nil)
    }

    @Test func `refuses when another key signed, or something else was signed`() throws {
        let other = try P256PrivateKey.generate()
        #expect(try refusal(signedBy: other) == .browserBoundSignatureInvalid)
        let good = try fixture.confirmed(
            fixture.clientData(browserBoundKey: key.publicKey), browserBoundKey: key)
        let signatures: [Bytes] = [
            [], try key.sign(sha256(good.passkey.clientDataJSON).bytes),
            try key.sign(fixture.message), try key.sign(good.passkey.clientDataJSON) + [0],
        ]
        for signature in signatures {
            let assertion = PaymentAssertion(
                passkey: good.passkey, browserBoundSignature: signature)
            #expect(fixture.refusal(.payment(assertion)) == .browserBoundSignatureInvalid)
        }
    }

    @Test func `refuses as a half - a key without a signature, or a signature without a key`()
        throws
    {
        let clientData = fixture.clientData(browserBoundKey: key.publicKey)
        #expect(
            fixture.refusal(.payment(try fixture.confirmed(clientData)))
                == .browserBoundSignatureInvalid)
        #expect(
            fixture.refusal(.payment(try fixture.confirmed(browserBoundKey: key)))
                == .browserBoundKeyInvalid)
    }

    @Test func `refuses when it is no ES256 key`() throws {
        let cose = try #require(
            fixture.clientData(browserBoundKey: key.publicKey)["payment"]?
                .bytes("browserBoundPublicKey"))
        let algorithm = cose.map { $0 == 0x26 ? 0x27 : $0 }
        // A whole key of an algorithm that passkeys may have.
        let edwards: Bytes = [0xA4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 0x20] + sha256([]).bytes
        let keys: [Bytes] = [
            edwards, [], [0xA0], [0xFF], cose + [0], Bytes(cose.dropLast()), algorithm,
            key.publicKey.spki, [0xBF],
        ]
        for encoded in keys {
            let changes = [
                "payment.browserBoundPublicKey": JSON?.some(.string(Base64.encodeURL(encoded)))
            ]
            #expect(try refusal(changes) == .browserBoundKeyInvalid)
        }
        for value in [.null, "*", .integer(1), ["publicKey": "AA"]] as [JSON] {
            #expect(
                try refusal(["payment.browserBoundPublicKey": value]) == .browserBoundKeyInvalid)
            // Nor is it then as if there were none.
            #expect(
                try fixture.refusal(["payment.browserBoundPublicKey": value])
                    == .browserBoundKeyInvalid)
        }
    }

    @Test func `never stands in for the passkey`() throws {
        let good = try fixture.confirmed(
            fixture.clientData(browserBoundKey: key.publicKey), browserBoundKey: key)
        let forged = PaymentAssertion(
            passkey: PasskeyAssertion(
                rawID: good.passkey.rawID, clientDataJSON: good.passkey.clientDataJSON,
                authenticatorData: good.passkey.authenticatorData,
                signature: try key.sign(
                    good.passkey.authenticatorData + sha256(good.passkey.clientDataJSON).bytes),
                userHandle: nil), browserBoundSignature: good.browserBoundSignature)
        #expect(fixture.refusal(.payment(forged)) == .signatureInvalid)
    }
}

@Suite struct `What a page posts of a payment` {
    private func read(_ results: JSON?) throws -> Bytes? {
        let json = try PaymentFixture().confirmed().json
            .setting("clientExtensionResults", to: results)
        return try PaymentAssertion(json: json).browserBoundSignature
    }

    @Test func `is read back as it was written`() throws {
        let fixture = try PaymentFixture()
        let key = try P256PrivateKey.generate()
        let assertions = [
            try fixture.confirmed(), try fixture.confirmed(browserBoundKey: key),
        ]
        for assertion in assertions {
            #expect(try PaymentAssertion(json: assertion.json) == assertion)
        }
    }

    @Test func `may have no results of extensions`() throws {
        for results in [nil, .null, [:], ["payment": .null], ["payment": [:]]] as [JSON?] {
            #expect(try read(results) == nil)
        }
        #expect(try read(["payment": ["browserBoundSignature": .null]]) == nil)
        #expect(try read(["payment": ["browserBoundSignature": ["signature": "AQ"]]]) == [1])
    }

    @Test func `SPC-13 - has no results of others`() throws {
        let refused: [JSON] = [
            ["appid": .bool(true)], ["payment": [:], "prf": [:]], ["payment": ["more": [:]]],
            ["payment": ["browserBoundSignature": .null, "more": [:]]],
            ["payment": ["browserBoundSignature": ["signature": "AQ"], "more": [:]]],
            ["payment": "x"], [], "x",
        ]
        for results in refused {
            #expect(throws: InvalidValue.self) { _ = try read(results) }
        }
        for signature in ["A", "AQ==", .integer(1), .null] as [JSON] {
            #expect(throws: InvalidValue.self) {
                _ = try read(["payment": ["browserBoundSignature": ["signature": signature]]])
            }
        }
    }

    @Test func `asks the browser for what the stored action says`() throws {
        guard case .transfer(let transfer) = try Fixtures.transfer() else { return }
        let request = try Fixtures.paymentRequest(
            transfer, sha256([]), [[0xFB, 0xFF]], Seconds(300))
        let expected =
            #"{"supportedMethods":"secure-payment-confirmation","data":{"credentialIds":["-_8"],"#
            + #""challenge":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU","rpId":"bank.example","#
            + #""instrument":{"displayName":"Giro account","icon":"https://bank.example/giro.png","#
            + #""iconMustBeShown":true},"#
            + #""payeeName":"Erika Mustermann, FR1420041010050500013M02606","timeout":300000,"#
            + #""browserBoundPubKeyCredParams":[{"type":"public-key","alg":-7}]},"#
            + #""total":{"label":"Total","amount":{"currency":"EUR","value":"120.00"}}}"#
        #expect(String(decoding: request.encoded, as: UTF8.self) == expected)
    }

    @Test func `names the scheme of an account that is no IBAN`() throws {
        let transfer = Transfer(
            amount: try Money(decimal: "1", currency: Currency("EUR")),
            debtorAccount: try Account(iban: Fixtures.iban),
            payee: PayeeIdentity(
                name: try DisplayText("Water", .payeeName),
                account: try Account(scheme: "bban", value: "12-3")),
            reference: try DisplayText("", .reference),
            endToEndID: try DisplayText("", .endToEndID))
        #expect(transfer.payeeShown == "Water, bban:12-3")
    }
}
