import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// Secure Payment Confirmation, one requirement after the other.
@Suite struct `Confirming a payment` {
    private static let merchant = "https://merchant.example"

    @Test func `what was offered and shown is believed`() throws {
        let fixture = try PaymentFixture()
        #expect(try fixture.refusal() == nil)
        // What some browsers write differently.
        #expect(try fixture.refusal(["payment.paymentEntitiesLogos": nil]) == nil)
        #expect(try fixture.refusal(["payment.instrument.iconMustBeShown": .bool(true)]) == nil)
        #expect(try fixture.refusal(["payment.rp": .string(Fixtures.audience)]) == nil)
        #expect(try fixture.refusal(["other_keys_can_be_added_here": "do not compare"]) == nil)
        #expect(try fixture.refusal(["crossOrigin": nil]) == nil)
    }

    @Test func `SPC-02 - a login never passes as a payment, nor a payment as a login`() throws {
        let fixture = try PaymentFixture()
        let payment = try fixture.confirmed()
        #expect(fixture.refusal(.payment(payment)) == nil)
        #expect(fixture.refusal(.passkey(payment.passkey)) == .typeMismatch)
        let login = try fixture.login()
        #expect(fixture.refusal(.passkey(login)) == nil)
        let fed = PaymentAssertion(passkey: login, browserBoundSignature: nil)
        #expect(fixture.refusal(.payment(fed)) == .typeMismatch)
        // Nor by what else it holds: the type alone decides.
        for type in ["webauthn.get", "webauthn.create", "payment.GET", "payment.get "] as [JSON] {
            #expect(try fixture.refusal(["type": type]) == .typeMismatch)
        }
        let disguised = try fixture.login(fixture.clientData(["type": "webauthn.get"]))
        #expect(fixture.refusal(.passkey(disguised)) == nil)
    }

    @Test func `SPC-03 - the challenge is the message's`() throws {
        let fixture = try PaymentFixture()
        let other = Base64.encodeURL(sha256(fixture.message + [0]).bytes)
        #expect(try fixture.refusal(["challenge": .string(other)]) == .challengeMismatch)
    }

    @Test func `SPC-04 - it was asked by an origin of payments, which may be another's`() throws {
        let own = try PaymentFixture()
        let shop: [String: JSON?] = [
            "origin": .string(Self.merchant), "payment.topOrigin": .string(Self.merchant),
        ]
        #expect(try own.refusal(shop) == .originMismatch)
        let fixture = try PaymentFixture(payments: Fixtures.payments(origins: [Self.merchant]))
        #expect(try fixture.refusal(shop) == nil)
        #expect(try fixture.refusal() == .originMismatch)
        // Which does not make it an origin of logins.
        let login = try fixture.login(
            fixture.clientData(["type": "webauthn.get", "origin": .string(Self.merchant)]))
        #expect(fixture.refusal(.passkey(login)) == .originMismatch)
    }

    @Test func `SPC-05 - it was shown for this relying party, under both names`() throws {
        let fixture = try PaymentFixture()
        for path in ["payment.rpId", "payment.rp"] {
            for value in ["other.example", "", "Bank.example"] as [JSON] {
                #expect(try fixture.refusal([path: value]) == .paymentRelyingPartyMismatch)
            }
        }
        #expect(try fixture.refusal(["payment.rp": .null]) == .paymentRelyingPartyMismatch)
    }

    @Test func `SPC-06 - the page at the top is the one that asked`() throws {
        let fixture = try PaymentFixture(payments: Fixtures.payments(topOrigins: [Self.merchant]))
        #expect(try fixture.refusal() == nil)
        // Not framed, so no other page can be at the top.
        #expect(
            try fixture.refusal(["payment.topOrigin": .string(Self.merchant)])
                == .paymentTopOriginMismatch)
        #expect(
            try fixture.refusal(["payment.topOrigin": .string(Fixtures.origin + "/")])
                == .paymentTopOriginMismatch)
    }

    @Test func `SPC-06 - in a frame the page at the top is a configured one`() throws {
        func framed(_ top: String, outside: String? = nil) -> [String: JSON?] {
            [
                "crossOrigin": .bool(true), "topOrigin": .string(outside ?? top),
                "payment.topOrigin": .string(top),
            ]
        }
        let fixture = try PaymentFixture(payments: Fixtures.payments(topOrigins: [Self.merchant]))
        #expect(try fixture.refusal(framed(Self.merchant)) == nil)
        #expect(try fixture.refusal(framed("https://evil.example")) == .topOriginNotAllowed)
        #expect(
            try fixture.refusal(framed("https://evil.example", outside: Self.merchant))
                == .paymentTopOriginMismatch)
        #expect(
            try fixture.refusal(
                ["crossOrigin": .bool(true), "payment.topOrigin": .string(Self.merchant)])
                == .paymentTopOriginMismatch)
        #expect(
            try PaymentFixture().refusal(framed(Self.merchant)) == .crossOriginNotAllowed)
    }

    @Test func `SPC-07 - the payee was shown with its account, and no origin`() throws {
        let fixture = try PaymentFixture()
        let wrong: [JSON?] = [
            nil, "", "Erika Mustermann", "Erika Mustermann, DE89370400440532013000",
            "Erika Mustermann, FR1420041010050500013M02606 ",
            "Erika Musterfrau, FR1420041010050500013M02606",
        ]
        for name in wrong {
            #expect(try fixture.refusal(["payment.payeeName": name]) == .paymentPayeeMismatch)
        }
        for origin in [.string(Self.merchant), "", .null] as [JSON] {
            #expect(try fixture.refusal(["payment.payeeOrigin": origin]) == .paymentPayeeMismatch)
        }
    }

    @Test func `SPC-07 - names are compared by their code units`() throws {
        let content = try Fixtures.transfer(payee: ("J\u{F6}rg", Fixtures.payeeIBAN))
        let fixture = try PaymentFixture(content)
        #expect(try fixture.refusal() == nil)
        let decomposed: JSON = .string("Jo\u{308}rg, \(Fixtures.payeeIBAN)")
        #expect(try fixture.refusal(["payment.payeeName": decomposed]) == .paymentPayeeMismatch)
    }

    @Test func `SPC-08 - no logos were offered, so none were shown`() throws {
        let fixture = try PaymentFixture()
        let logo: JSON = ["url": "https://bank.example/giro.png", "label": "Bank"]
        for logos in [.array([logo]), .array([.null]), .null, "", [:]] as [JSON] {
            #expect(
                try fixture.refusal(["payment.paymentEntitiesLogos": logos])
                    == .paymentLogosMismatch)
        }
    }

    @Test(arguments: [
        ("EUR", "120.00", ["120", "120.0", "120.00"], ["119.99", "1200.00", "12.000"]),
        (
            "EUR", "10.00", ["10", "10.0"],
            [
                "10.001", "10.000", "010.00", "+10", "-10.00", "1e1", "10.", ".10", " 10", "",
                "10,00",
            ]
        ),
        ("JPY", "1200", ["1200"], ["1200.0", "12.00", "120000"]),
        ("KWD", "1.500", ["1.5", "1.50", "1.500"], ["1.5000", "1500", "15.00"]),
    ])
    func `SPC-09 - the total is the amount, counted in minor units`(
        currency: String, amount: String, same: [String], other: [String]
    ) throws {
        let fixture = try PaymentFixture(Fixtures.transfer(amount, currency: currency))
        for value in same {
            #expect(try fixture.refusal(["payment.total.value": .string(value)]) == nil, "\(value)")
        }
        for value in other {
            #expect(
                try fixture.refusal(["payment.total.value": .string(value)])
                    == .paymentTotalMismatch, "\(value)")
        }
    }

    @Test func `SPC-09 - the currency is the amount's`() throws {
        let fixture = try PaymentFixture()
        for currency in ["USD", "eur", "", "EURO", "XXX", "€"] as [JSON] {
            #expect(
                try fixture.refusal(["payment.total.currency": currency]) == .paymentTotalMismatch)
        }
    }

    @Test func `SPC-10 - the means of payment was shown as offered, with its picture`() throws {
        let fixture = try PaymentFixture()
        let wrong: [(String, JSON?)] = [
            ("displayName", "Giro"), ("displayName", nil), ("icon", "https://evil.example/g"),
            ("icon", ""), ("icon", nil), ("iconMustBeShown", .bool(false)),
            ("iconMustBeShown", "true"), ("details", "DE89"), ("details", ""),
        ]
        for (name, value) in wrong {
            #expect(
                try fixture.refusal(["payment.instrument.\(name)": value])
                    == .paymentInstrumentMismatch, "\(name)")
        }
    }

    @Test func `SPC-10 - its name is compared by code units`() throws {
        let payments = try Fixtures.payments(
            instrument: ("Giro f\u{FC}r alle", "https://bank.example/giro.png"))
        let fixture = try PaymentFixture(payments: payments)
        for (name, refusal) in [
            ("Giro f\u{FC}r alle", nil), ("Giro fu\u{308}r alle", .paymentInstrumentMismatch),
        ] as [(JSON, VerificationFailure?)] {
            #expect(
                try fixture.refusal(["payment.instrument.displayName": name]) == refusal)
        }
    }

    @Test func `what was offered under another configuration is refused`() throws {
        let now = try Fixtures.payments(
            instrument: ("Giro account", "https://bank.example/new.png"))
        #expect(try PaymentFixture(payments: now).refusal() == .paymentInstrumentMismatch)
    }

    @Test func `SPC-12 - only the approval of a transfer can be confirmed`() throws {
        let kinds = try [Fixtures.newPayee(), Fixtures.contactChange()]
        for content in kinds {
            #expect(try PaymentFixture(content).refusal() == .paymentNotAllowed)
        }
        let rejection = try PaymentFixture(Fixtures.transfer(), decision: .reject)
        #expect(try rejection.refusal() == .paymentNotAllowed)
        let payments = try Fixtures.payments()
        let enrolment = try PaymentFixture(Bytes(#"{"version":"x"}"#.utf8), payments: payments)
        #expect(try enrolment.refusal() == .paymentNotAllowed)
    }

    @Test func `nothing is confirmed where payments are not configured`() throws {
        let message = try Fixtures.message(Fixtures.transfer()).bytes
        #expect(try PaymentFixture(message, payments: nil).refusal() == .paymentNotAllowed)
    }

    @Test func `SPC-13 - no extension of the authenticator was used`() throws {
        let fixture = try PaymentFixture()
        let extended = fixture.data([.userPresent, .userVerified, .extensions]) + [0xA0]
        #expect(
            fixture.refusal(.payment(try fixture.confirmed(data: extended)))
                == .paymentExtensionUnexpected)
    }

    @Test func `a member that nobody offered is refused, because it may have been shown`() throws {
        let fixture = try PaymentFixture()
        for path in ["networkInfo", "total.label", "instrument.label", "RPID"] {
            #expect(try fixture.refusal(["payment.\(path)": "x"]) == .paymentMemberUnknown)
        }
    }

    @Test func `what is not of its form is refused`() throws {
        let fixture = try PaymentFixture()
        #expect(try fixture.refusal(["payment": nil]) == .paymentDataMalformed)
        for value in [.null, "x", [], .integer(1), [:]] as [JSON] {
            #expect(try fixture.refusal(["payment": value]) == .paymentDataMalformed)
            for name in ["rpId", "topOrigin", "total"] where value.text == nil {
                #expect(
                    try fixture.refusal(["payment.\(name)": value]) == .paymentDataMalformed)
            }
        }
        #expect(try fixture.refusal(["payment.instrument": "x"]) == .paymentDataMalformed)
        #expect(try fixture.refusal(["payment.payeeName": .null]) == .paymentDataMalformed)
        #expect(
            try fixture.refusal(["payment.total.value": .integer(120)]) == .paymentDataMalformed)
    }

    @Test func `the steps of every assertion hold for payments too`() throws {
        let fixture = try PaymentFixture()
        for (flags, failure) in [
            ([.userVerified], .userNotPresent), ([.userPresent], .userNotVerified),
            ([.userPresent, .userVerified, .backupState], .backupFlagsInvalid),
            ([.userPresent, .userVerified, .backupEligible], .backupEligibilityChanged),
        ] as [(AuthenticatorFlags, VerificationFailure)] {
            let assertion = try fixture.confirmed(data: fixture.data(flags))
            #expect(fixture.refusal(.payment(assertion)) == failure)
        }
        let good = try fixture.confirmed()
        let forged = PaymentAssertion(
            passkey: PasskeyAssertion(
                rawID: good.passkey.rawID, clientDataJSON: good.passkey.clientDataJSON,
                authenticatorData: good.passkey.authenticatorData,
                signature: try P256PrivateKey.generate().sign(
                    good.passkey.authenticatorData + sha256(good.passkey.clientDataJSON).bytes),
                userHandle: nil), browserBoundSignature: nil)
        #expect(fixture.refusal(.payment(forged)) == .signatureInvalid)
    }

    @Test func `a device key confirms no payment`() throws {
        let fixture = try PaymentFixture()
        let key = try P256PrivateKey.generate()
        let stored = StoredCredential.deviceKey(
            StoredDeviceKey(id: Fixtures.id(1), key: key.publicKey.spki))
        let verifier = try Fixtures.verifier()
        let payment = UnverifiedAssertion.payment(try fixture.confirmed())
        #expect(throws: VerificationFailure.credentialType) {
            _ = try verifier.verify(payment, by: stored, over: fixture.message)
        }
    }
}
