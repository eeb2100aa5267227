import Countersign
import Crypto
import TestSupport
import Testing

@testable import CountersignMain

/// The real program with Secure Payment Confirmation switched on.
@Suite struct `A payment that a browser shows` {
    private static let flags = [
        "--payment-instrument-name", "Giro account", "--payment-instrument-icon", DemoHome.icon,
    ]

    @Test func `is approved, executed, and verifies in evidence`() async throws {
        try await withBank { bank in
            let service = try await bank.serve(Self.flags)
            let (customer, question, request) = try await ask(bank, service)
            let backend = try service.backend()
            let answer = try customer.phone.paymentAnswer(
                question.challenge, to: request, browser: .generate())
            let approved = try await backend.approve(question.action, answer)
            #expect(approved.status == 200, "\(String(decoding: approved.body, as: UTF8.self))")
            let again = try await backend.approve(question.action, answer)
            #expect(again.isReplay && again.body == approved.body)
            let type = try await bank.text(
                """
                SELECT convert_from(client_data_json, 'UTF8')::jsonb ->> 'type'
                  FROM countersign.execution_order
                """)
            #expect(type == "payment.get")
            let evidence = try #require(approved.text("evidence_id"))
            try await bank.audit([
                Acknowledged(
                    action: question.action, evidence: evidence, message: question.approve,
                    isReplay: false, wasCreatedBefore: false)
            ])
        }
    }

    @Test func `is not approved by what it showed instead, nor by a login's proof`() async throws {
        try await withBank { bank in
            let service = try await bank.serve(Self.flags)
            let (customer, question, request) = try await ask(bank, service)
            let backend = try service.backend()
            let smaller = request.setting("total.amount.value", to: "1.00")
            let login = try customer.phone.passkeyAnswer(
                question.challenge, over: question.approve)
            let answers: [JSON] = [
                try customer.phone.paymentAnswer(question.challenge, to: smaller),
                login.setting("payment", to: login["passkey"]).setting("passkey", to: nil),
            ]
            for answer in answers {
                let refused = try await backend.approve(question.action, answer)
                #expect(refused.problem == "authentication-failed")
            }
            let reasons = try await service.auditor().get(
                "/v1/evidence?action_id=\(question.action)&kind=attempt.failed")
            #expect(
                Set(reasons.evidence.compactMap { $0["body"]?["reason"]?.text })
                    == ["payment_total_mismatch", "type_mismatch"])
            // The passkey itself is as good as before.
            #expect(try await backend.approve(question.action, login).status == 200)
        }
    }

    /// A customer with a passkey for payments, and a transfer that a browser may show.
    private func ask(
        _ bank: TestBank, _ service: ServiceInstance
    ) async throws -> (BankCustomer, Question, JSON) {
        let customer = try await bank.customer("c-1", at: service)
        let backend = try service.backend()
        let options = try await backend.beginEnrolment(of: customer.id, .passkey)
        #expect(
            options.value(["webauthn", "extensions"]) == ["payment": ["isPayment": .bool(true)]])
        let enrolled = try await backend.enrolPasskey(
            of: customer.phone, for: customer.id, vouchedBy: customer.credential)
        #expect(enrolled.status == 201)
        let created = try await backend.create(customer.transfer("12.50"))
        let question = try #require(created.question)
        return (customer, question, try #require(created.value(["challenge", "payment"])))
    }
}
