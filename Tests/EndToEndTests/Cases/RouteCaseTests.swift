import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of paths and bodies, sent byte for byte to the running service; each area prints
/// one line. What a body means by itself is also read by the tests of HTTP.
@Suite struct `Published cases of requests` {
    @Test func `to strange paths`() async throws {
        guard let cases = try Cases.domain("ids") else { return }
        try await Stage.open { stage in
            let customer = try await stage.customer()
            let created = try await stage.instance.backend().create(customer.transfer())
            let question = try #require(created.question)
            let approval = try customer.approval(question).encoded
            let deviating = await cases.play("domain.jsonl ids (on the service)") { one in
                guard let target = one.input("target")?.text else { return .deviating("no target") }
                let path = target.spelling(question.action)
                guard !path.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else {
                    return .unsupported("bytes that cannot stand in a request line")
                }
                let isPost = path.hasSuffix("/approve") || path.hasSuffix("/approve/")
                let answer = try await stage.instance.send(
                    isPost ? "POST" : "GET", path, fields: ["Content-Type: application/json"],
                    body: isPost ? approval : [])
                guard answer.status > 0, answer.status < 500 else {
                    return .deviating("answered \(answer.status)")
                }
                if answer.status == 200, let id = answer.json?["action"]?["id"]?.text,
                    id != question.action
                {
                    return .deviating("another spelling of the ID is told")
                }
                return one.judge(accepted: answer.status < 300)
            }
            #expect(deviating.isEmpty)
            let untouched = try await stage.instance.backend().action(question.action)
            #expect(untouched.text("action", "authorization") == "pending")
        }
    }

    @Test func `with strange bodies`() async throws {
        guard let cases = try Cases.domain("json") else { return }
        try await Stage.open { stage in
            let deviating = await cases.play("domain.jsonl json (on the service)") { one in
                let customer = try await stage.customer()
                let answer = try await stage.instance.send(
                    "POST", "/v1/actions",
                    fields: [
                        "Content-Type: \(one.input("contentType")?.text ?? "application/json")",
                        "Idempotency-Key: \(one.id)",
                    ], body: try body(of: one, customer))
                guard answer.status > 0, answer.status < 500 else {
                    return .deviating("answered \(answer.status)")
                }
                let isStored = try await stage.actions(customer) == 1
                guard isStored == (answer.status == 201) else {
                    return .deviating("answered \(answer.status), stored \(isStored)")
                }
                if one.faultKind == "size", answer.status != 413 {
                    return .deviating("answered \(answer.status)")
                }
                return one.judge(accepted: answer.status == 201)
            }
            #expect(deviating.isEmpty)
        }
    }

    /// The body with the members of our API in the place of the other product's.
    private func body(of one: Case, _ customer: BankCustomer) throws -> Bytes {
        let valid = customer.transfer("120.00").encoded
        if let words = one.input("generate")?.text {
            if let size = words.firstMatch(of: /([0-9]+) MiB/), let count = Int(size.1) {
                return valid + Bytes(repeating: UInt8(ascii: " "), count: count << 20)
            }
            if let depth = words.firstMatch(of: /([0-9,]+) opening brackets/),
                let count = Int(depth.1.replacing(",", with: ""))
            {
                return Bytes(repeating: UInt8(ascii: "["), count: count)
            }
            throw UnknownStep(step: words)
        }
        guard let bytes = one.input("bodyB64")?.text.flatMap({ Base64.decode($0) }) else {
            throw UnknownStep(step: "a body that is not given")
        }
        let theirs = Bytes(
            #""type":"transfer","payeeId":"p1","amount":"120.00","currency":"EUR""#.utf8)
        guard let range = bytes.firstRange(of: theirs) else { return bytes }
        let ours = valid.dropFirst().dropLast()
        return Bytes(bytes[..<range.lowerBound] + ours + bytes[range.upperBound...])
    }
}

extension String {
    /// A target of the cases with our action in the place of theirs, in the same spelling.
    fileprivate func spelling(_ action: String) -> String {
        let theirs = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        var text = replacing("{A}", with: action)
        for change in [
            { $0 }, { $0.uppercased() }, { $0.replacing("-", with: "") },
            { $0.uppercased().replacing("-", with: "") },
        ] as [(String) -> String] {
            text = text.replacing(change(theirs), with: change(action))
        }
        return text
    }
}
