import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// A customer at a browser on the bank's page, and the bank's backend between the page and the service.
struct BrowserWorld: Sendable {
    let browser: Browser
    let bank: TestBank
    let instance: ServiceInstance
    let backend: BankClient

    /// Runs a browser, and a bank whose passkeys belong to the page in it.
    ///
    /// - Parameters:
    ///   - flags: Settings of the service beside its file's.
    ///   - body: The test.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or why there is no bank or no browser.
    static func open<Result>(
        _ flags: [String] = [], _ body: (BrowserWorld) async throws -> Result
    ) async throws -> Result {
        try await Browser.run { browser in
            try await withBank(browser.site) { bank in
                let instance = try await bank.serve(flags)
                try await browser.open(.bank)
                return try await body(
                    BrowserWorld(
                        browser: browser, bank: bank, instance: instance,
                        backend: try instance.backend()))
            }
        }
    }

    /// A customer with an established payee, whose first credential is a passkey made by the page.
    ///
    /// - Parameters:
    ///   - id: The customer's.
    ///   - changing: What the page does to the options before it gives them to the browser.
    /// - Returns: The ID that the service gave to the passkey.
    /// - Throws: ``Peer/Refusal`` when the browser makes none.
    @discardableResult
    func enrol(
        _ id: String, changing: (JSON) -> JSON = { $0 }
    ) async throws -> String {
        try await bank.importPayee(of: id)
        let begun = try await backend.beginEnrolment(of: id, .passkey)
        let enrolment = try #require(begun.text("enrolment_id"))
        let options = try #require(begun.json["webauthn"])
        let answer = try await instance.finishEnrolment(
            of: id, enrolment, passkey: try await browser.register(changing(options)))
        let credential = answer.json?["credential"]
        #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(credential?["kind"] == "passkey")
        #expect(credential?["status"] == "active")
        try await bank.settleAnnouncements()
        return try #require(credential?["id"]?.text)
    }

    /// Creates an action.
    ///
    /// - Returns: Its question, and the options by which a browser answers it.
    func ask(_ action: JSON) async throws -> (question: Question, options: JSON) {
        let created = try await backend.create(action)
        #expect(created.status == 201)
        return (
            try #require(created.question),
            try #require(created.value(["challenge", "webauthn", "approve"]))
        )
    }

    func askTransfer(of customer: String, _ amount: String = "120.00") async throws -> (
        question: Question, options: JSON
    ) {
        try await ask(BankCustomer.transfer(amount, of: customer, reference: "Invoice 7"))
    }

    /// Approves with what the page gave, which must do.
    @discardableResult func approve(
        _ question: Question, _ proof: String, as member: String = "passkey",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Acknowledged {
        let answer = try await instance.approve(question, proof, as: member)
        #expect(
            answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))",
            sourceLocation: sourceLocation)
        #expect(
            answer.json?["action"]?["authorization"] == "approved", sourceLocation: sourceLocation)
        return Acknowledged(
            action: question.action, evidence: try #require(answer.json?["evidence_id"]?.text),
            message: question.approve, isReplay: false, wasCreatedBefore: false)
    }

    /// Sends what the page gave, which must not be believed, for one reason.
    func expectRefusal(
        _ question: Question, _ proof: String, as member: String = "passkey",
        because reason: VerificationFailure, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await instance.approve(question, proof, as: member)
        #expect(answer.status == 401, sourceLocation: sourceLocation)
        #expect(answer.problem == "authentication-failed", sourceLocation: sourceLocation)
        #expect(
            try await instance.failures(of: question.action) == [reason.code],
            sourceLocation: sourceLocation)
    }
}
