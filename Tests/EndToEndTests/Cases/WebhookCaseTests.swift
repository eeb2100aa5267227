import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of webhooks, on the running service; the area prints one line. What they call an
/// event is a receipt here: what core banking says of an order that it fetched.
@Suite struct `Published cases of webhooks` {
    @Test func `turn out as they should when core banking hands in receipts`() async throws {
        guard let cases = try Cases.domain("webhook") else { return }
        try await withBank { bank in
            let instance = try await bank.serve("--delivery-mode", "pull")
            var number = 0
            let deviating = await cases.play("domain.jsonl webhook") { one in
                number += 1
                let customer = try await bank.customer("c-\(number)", at: instance)
                return try await WebhookStory(instance, customer).judgement(of: one)
            }
            #expect(deviating.isEmpty)
            #expect(!instance.process.hasLogged("request.failed"), "\(instance.process.text)")
        }
    }
}

private struct WebhookStory {
    private let instance: ServiceInstance
    private let customer: BankCustomer
    private var bank: TestBank { instance.bank }

    init(_ instance: ServiceInstance, _ customer: BankCustomer) {
        self.instance = instance
        self.customer = customer
    }

    func judgement(of one: Case) async throws -> Judgement {
        switch one.faultKind {
        case "delivered_twice": try await atOnce()
        case "out_of_order": try await contradicting()
        case "raw_body": one.judge(accepted: try await isTakenByteForByte())
        case "unknown": try await unknown(one)
        default: throw UnknownStep(step: one.faultKind)
        }
    }

    /// An approved transfer that core banking has leased.
    private func leased() async throws -> (action: String, token: String) {
        let backend = try instance.backend()
        guard let question = try await backend.create(customer.transfer()).question else {
            throw Unexpected("no action")
        }
        let approved = try await backend.approve(
            question.action, try customer.approval(question))
        guard approved.status == 200 else { throw Unexpected("\(approved.status)") }
        let answer = try await core("/v1/executions/lease", Bytes("{}".utf8))
        guard case .array(let orders)? = answer.json["orders"],
            let order = orders.first(where: { $0["action_id"] == .string(question.action) }),
            order["order"]?["message"]?.text != nil, order["order"]?["assertion"] != nil,
            let token = order["lease_token"]?.text, order["expires_at"]?.text != nil
        else { throw Unexpected("not leased: \(answer.status)") }
        return (question.action, token)
    }

    private func core(
        _ path: String, _ body: Bytes
    ) async throws -> (status: Int, body: Bytes, json: JSON) {
        let answer = try await HttpMessage(
            "POST", path,
            fields: [
                "Authorization: Bearer \(bank.coreAPIKey)", "Content-Type: application/json",
            ], body: body
        ).send(to: instance.port)
        return (answer.status, answer.body, SignedJSON.decode(answer.body) ?? .null)
    }

    private func receipt(
        _ leased: (action: String, token: String), _ members: String
    ) async throws -> (status: Int, body: Bytes, json: JSON) {
        try await core(
            "/v1/executions/\(leased.action)/receipt",
            Bytes("{\"lease_token\": \"\(leased.token)\", \(members)}".utf8))
    }

    private func records(_ kind: String, of action: String) async throws -> Int {
        try await bank.count(
            """
            SELECT count(*) FROM countersign.evidence
             WHERE action_id = '\(action)' AND kind = '\(kind)'
            """)
    }

    private func execution(_ action: String) async throws -> String? {
        try await instance.backend().action(action).text("action", "execution")
    }

    private func atOnce() async throws -> Judgement {
        let leased = try await leased()
        let answers = try await Array(0..<5).asyncMapConcurrently { _ in
            let answer = try await receipt(leased, #""status": "executed", "reference": "B-1""#)
            return (answer.status, answer.body)
        }
        let count = try await records("order.executed", of: leased.action)
        let state = try await execution(leased.action)
        return answers.allSatisfy { $0.0 == 200 } && Set(answers.map(\.1)).count == 1
            && count == 1 && state == "executed"
            ? .asExpected : .deviating("\(answers.map(\.0)), \(count) records, \(state ?? "gone")")
    }

    private func contradicting() async throws -> Judgement {
        let leased = try await leased()
        let first = try await receipt(leased, #""status": "executed", "reference": "B-1""#)
        let second = try await receipt(leased, #""status": "refused", "reason": "failed""#)
        let again = try await receipt(leased, #""status": "executed", "reference": "B-1""#)
        let count = try await records("order.contradicted", of: leased.action)
        let state = try await execution(leased.action)
        return first.status == 200 && second.status == 409 && again.body == first.body
            && count == 1 && state == "executed"
            ? .asExpected
            : .deviating("\(first.status), \(second.status), \(count) records, \(state ?? "gone")")
    }

    /// What the receipt is kept as, and its evidence holds, are the bytes received.
    private func isTakenByteForByte() async throws -> Bool {
        let leased = try await leased()
        let body = Bytes(
            """
             {  "reference" : "B\\u002d1",
               "status":"\\u0065xecuted" ,"lease_token" : "\(leased.token)"  }\u{20}
            """.utf8)
        let answer = try await core("/v1/executions/\(leased.action)/receipt", body)
        let raw = try await bank.text(
            """
            SELECT encode(raw, 'hex') FROM countersign.receipt WHERE action_id = '\(leased.action)'
            """)
        return answer.status == 200 && answer.json["receipt"]?["reference"] == "B-1"
            && raw == Hex.encode(body)
    }

    private func unknown(_ one: Case) async throws -> Judgement {
        let unknown = ("01900000-0000-7000-8000-000000000000", try await leased().token)
        let tables = ["action", "execution_order", "receipt", "evidence"]
        let rows = tables.map { "(SELECT count(*) FROM countersign.\($0))" }
            .joined(separator: " + ")
        let before = try await bank.count("SELECT \(rows)")
        let answer = try await receipt(unknown, #""status": "executed", "reference": "B-1""#)
        guard answer.status == 404, try await bank.count("SELECT \(rows)") == before else {
            return .deviating("answered \(answer.status)")
        }
        return one.judge(accepted: false)
    }
}
