import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of binding that need a whole request; the others are read by the domain's tests.
@Suite struct `Published cases of the source of a challenge` {
    @Test func `let only the signed challenge count`() async throws {
        guard let all = try Cases.domain("binding") else { return }
        let cases = all.filter { $0.verdict != "distinct" }
        try await Stage.open { stage in
            let deviating = await cases.play("domain.jsonl binding (whole requests)") { one in
                let scenario = one.input("scenario")?.text ?? ""
                let answers = try await answers(scenario, stage)
                let executed = try stage.bank.bookings().count
                guard executed == 0 else { return .deviating("executed") }
                guard answers.allSatisfy({ (400..<500).contains($0.status) }) else {
                    return one.judge(accepted: answers.contains { $0.status < 300 })
                }
                return one.judge(accepted: false)
            }
            #expect(deviating.isEmpty)
        }
    }

    /// What the service says to the forged approvals that the scenario describes.
    private func answers(
        _ scenario: String, _ stage: Stage
    ) async throws -> [BankClient.Answer] {
        let customer = try await stage.customer()
        let backend = try stage.instance.backend()
        let created = try await backend.create(customer.transfer())
        let question = try #require(created.question)
        if scenario.contains("cookie") || scenario.contains("omitted") {
            return [try await withoutChallenge(question, customer, stage)]
        }
        if scenario.contains(/login|registration|enrol/) {
            return try await ofAnotherPurpose(question, customer, backend)
        }
        if scenario.contains("c2") || scenario.contains("other") {
            return try await ofAnotherChallenge(question, customer, stage)
        }
        throw UnknownStep(step: scenario)
    }

    private func withoutChallenge(
        _ question: Question, _ customer: BankCustomer, _ stage: Stage
    ) async throws -> BankClient.Answer {
        guard case .object(let members) = try customer.approval(question) else {
            throw Unexpected("no body")
        }
        let body = JSON.object(members.filter { $0.name != "challenge_id" })
        let answer = try await stage.instance.send(
            "POST", "/v1/actions/\(question.action)/approve",
            fields: [
                "Content-Type: application/json", "Cookie: challenge_id=\(question.challenge)",
            ], body: body.encoded)
        return BankClient.Answer(
            status: answer.status, json: answer.json ?? .null, isReplay: false, body: answer.body)
    }

    /// The customer's own signatures over questions that are not about an action.
    private func ofAnotherPurpose(
        _ question: Question, _ customer: BankCustomer, _ backend: BankClient
    ) async throws -> [BankClient.Answer] {
        let begun = try await backend.beginEnrolment(of: customer.id, .deviceKey)
        let enrolment = try #require(begun.text("enrolment_id"))
        let asked = try await backend.beginAuthorization(
            of: customer.id, enrolment: enrolment, key: customer.phone.publicKey)
        let authorization = try #require(asked.text("challenge", "id"))
        let messages = [
            try #require(begun.bytes("message")), try #require(asked.bytes("challenge", "message")),
        ]
        var answers: [BankClient.Answer] = []
        for (challenge, message) in zip([enrolment, authorization], messages) {
            for named in [challenge, question.challenge] {
                let body = try customer.phone.answer(
                    named, over: message, as: customer.credential)
                answers.append(try await backend.approve(question.action, body))
            }
        }
        return answers
    }

    /// Names one challenge, and has signed another: of the same action and of another one.
    private func ofAnotherChallenge(
        _ question: Question, _ customer: BankCustomer, _ stage: Stage
    ) async throws -> [BankClient.Answer] {
        let backend = try stage.instance.backend()
        let passkey = try await backend.enrolPasskey(
            of: customer.phone, for: customer.id, vouchedBy: customer.credential)
        guard passkey.status == 201 else { throw Unexpected("no passkey: \(passkey.status)") }
        let other = try #require(try await backend.create(customer.transfer("120.00")).question)
        let newer = try #require(try await backend.challenge(question.action).question)
        return try await [
            backend.approve(
                newer.action,
                customer.phone.passkeyAnswer(newer.challenge, over: other.approve)),
            backend.approve(
                newer.action,
                customer.phone.passkeyAnswer(newer.challenge, over: question.approve)),
            backend.approve(
                newer.action,
                customer.phone.passkeyAnswer(other.challenge, over: newer.approve)),
        ]
    }
}
