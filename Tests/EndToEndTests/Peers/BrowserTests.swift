import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// Chromium makes and uses passkeys as customers' browsers do; nothing of its answers is ours.
@Suite struct `A passkey in a real browser` {
    @Test func `approves a transfer and a contact change, and core banking executes both`()
        async throws
    {
        try await BrowserWorld.open { world in
            try await world.bank.policy("{new_credential_cooling_off_s,contact_change}", "0")
            try await world.enrol("erika")
            let transfer = try await world.askTransfer(of: "erika")
            let paid = try await world.approve(
                transfer.question, try await world.browser.sign(transfer.options))
            let change = try await world.ask(BankCustomer.contactChange(of: "erika"))
            let changed = try await world.approve(
                change.question, try await world.browser.sign(change.options))
            try await world.bank.audit([paid, changed])
            #expect(try world.bank.bookings().count == 2)
        }
    }

    /// The page is as wicked as it can be: it may change what it gives to the browser, and what it gives
    /// to the bank.
    @Test func `proves nothing when the page cheats, and still approves when it stops`()
        async throws
    {
        try await BrowserWorld.open { world in
            let browser = world.browser
            try await world.enrol("erika")
            // The customer sees one transfer and signs another.
            let shown = try await world.askTransfer(of: "erika", "120.00")
            let other = try await world.askTransfer(of: "erika", "999.00")
            let signed = try await browser.sign(other.options)
            try await world.expectRefusal(
                shown.question, signed, because: .challengeMismatch)
            // The authenticator does not know the customer, and the page asks it not to mind.
            let unverified = try await world.askTransfer(of: "erika")
            try await browser.setUserVerified(false)
            await #expect { try await browser.sign(unverified.options) } throws: {
                ($0 as? Peer.Refusal)?.name == "NotAllowedError"
            }
            let lax = unverified.options.setting("userVerification", to: "discouraged")
            try await world.expectRefusal(
                unverified.question, try await browser.sign(lax),
                because: .userNotVerified)
            try await browser.setUserVerified(true)
            for (question, options) in [shown, other, unverified] {
                try await world.approve(question, try await browser.sign(options))
            }
        }
    }

    @Test func `proves nothing on a page of another origin or in another's frame`() async throws {
        try await BrowserWorld.open { world in
            let browser = world.browser
            try await world.enrol("erika")
            let elsewhere = try await world.askTransfer(of: "erika")
            try await browser.open(.stranger)
            try await world.expectRefusal(
                elsewhere.question, try await browser.sign(elsewhere.options),
                because: .originMismatch)
            let framed = try await world.askTransfer(of: "erika")
            try await browser.open(.bank, in: .address)
            try await world.expectRefusal(
                framed.question, try await browser.sign(framed.options),
                because: .crossOriginNotAllowed)
            // There the browser itself refuses: the RP ID is not the page's domain.
            try await browser.open(.address)
            await #expect { try await browser.sign(framed.options) } throws: {
                ($0 as? Peer.Refusal)?.name == "SecurityError"
            }
            try await browser.open(.bank)
            for (question, options) in [elsewhere, framed] {
                try await world.approve(question, try await browser.sign(options))
            }
        }
    }

    /// SPC-02: a payment confirmation is no answer to a question that asked for none.
    @Test func `proves nothing by a payment confirmation where an assertion is asked for`()
        async throws
    {
        try await BrowserWorld.open { world in
            try await world.enrol("erika") { $0.forPayments }
            let asked = try await world.askTransfer(of: "erika")
            let confirmed = try await world.browser.pay(
                Self.paymentRequest(asked.options))
            try await world.expectRefusal(
                asked.question, confirmed, because: .typeMismatch)
            try await world.approve(
                asked.question, try await world.browser.sign(asked.options))
        }
    }

    /// What a page would show to confirm the transfer, with the challenge of request options.
    private static func paymentRequest(_ options: JSON) throws -> JSON {
        guard case .array(let allowed)? = options["allowCredentials"] else {
            throw Unexpected("no passkey is asked for")
        }
        return [
            "supportedMethods": "secure-payment-confirmation",
            "data": [
                "challenge": try #require(options["challenge"]),
                "credentialIds": .array(allowed.compactMap { $0["id"] }),
                "rpId": try #require(options["rpId"]), "payeeName": .string(Cast.knownName),
                "instrument": [
                    "displayName": "Giro", "icon": "https://bank.example/giro.png",
                    "iconMustBeShown": .bool(false),
                ],
            ],
            "total": ["label": "Total", "amount": ["currency": "EUR", "value": "120.00"]],
        ]
    }
}

extension JSON {
    /// Creation options for a passkey that confirms payments too.
    ///
    /// Source: Secure Payment Confirmation, extension `payment`; Chromium 156 demands an authenticator
    /// that is built in.
    fileprivate var forPayments: JSON {
        setting("extensions.payment.isPayment", to: .bool(true))
            .setting("authenticatorSelection.authenticatorAttachment", to: "platform")
    }
}
