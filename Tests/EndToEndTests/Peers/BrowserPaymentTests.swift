import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// Secure Payment Confirmation as Chromium does it: its own dialog, its own client data.
@Suite struct `A payment that a real browser shows` {
    @Test func `is approved by what was shown, and core banking executes it`() async throws {
        try await open { world in
            let (question, request) = try await ask(world)
            let confirmed = try await world.browser.pay(request)
            let paid = try await world.approve(question, confirmed, as: "payment")
            try await world.bank.audit([paid])
            #expect(try world.bank.bookings().count == 1)
        }
    }

    /// The customer sees, and signs, what the page makes of the bank's request.
    @Test func `is not approved when the page has another one shown, nor by a login's proof`()
        async throws
    {
        try await open { world in
            for (path, value, reason) in [
                ("total.amount.value", "1.00", .paymentTotalMismatch),
                ("total.amount.currency", "USD", .paymentTotalMismatch),
                ("data.payeeName", "Someone Else", .paymentPayeeMismatch),
                ("data.instrument.displayName", "Another account", .paymentInstrumentMismatch),
            ] as [(String, JSON, VerificationFailure)] {
                let (question, request) = try await ask(world)
                let confirmed = try await world.browser.pay(request.setting(path, to: value))
                try await world.expectRefusal(question, confirmed, as: "payment", because: reason)
                try await world.approve(
                    question, try await world.browser.pay(request), as: "payment")
            }
            let asked = try await world.askTransfer(of: "erika")
            try await world.expectRefusal(
                asked.question, try await world.browser.sign(asked.options), as: "payment",
                because: .typeMismatch)
        }
    }

    /// The passkey is made for payments because the service's options say so.
    private func open(_ body: (BrowserWorld) async throws -> Void) async throws {
        let flags = [
            "--payment-instrument-name", "Giro account", "--payment-instrument-icon", DemoHome.icon,
        ]
        try await BrowserWorld.open(flags) { world in
            try await world.enrol("erika")
            try await body(world)
        }
    }

    private func ask(_ world: BrowserWorld) async throws -> (Question, JSON) {
        let created = try await world.backend.create(
            BankCustomer.transfer("120.00", of: "erika", reference: "Invoice 7"))
        return (
            try #require(created.question), try #require(created.value(["challenge", "payment"]))
        )
    }
}
