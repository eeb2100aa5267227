import Countersign
import Crypto
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of idempotency keys, on the running service; the area prints one line.
@Suite struct `Published cases of idempotency` {
    @Test func `are told and turn out as they should`() async throws {
        guard let cases = try Cases.domain("idempotency") else { return }
        try await Stage.open { stage in
            let deviating = await cases.play("domain.jsonl idempotency") { one in
                let story = IdempotencyStory(stage, try await stage.customer(), one.id)
                for step in one.steps { try await story.play(step) }
                return try await story.judgement(of: one)
            }
            #expect(deviating.isEmpty)
        }
    }
}

/// Posts with keys, as the cases tell them.
private final class IdempotencyStory {
    private let stage: Stage
    private let customer: BankCustomer
    private let name: String
    private var answers: [HttpSocket.Answer] = []
    /// Answers that a step expects to be failures of the database.
    private var failures: [HttpSocket.Answer] = []
    /// Posts that are told of and not made: their keys are stored without their actions.
    private var stored = 0
    /// The callers beside the bank's backend, by name in the story, with their API keys.
    private var others: [String: String] = [:]

    init(_ stage: Stage, _ customer: BankCustomer, _ name: String) {
        self.stage = stage
        self.customer = customer
        self.name = name
    }

    func judgement(of one: Case) async throws -> Judgement {
        if let defect = answers.first(where: { $0.status >= 500 || $0.status == 0 }) {
            return .deviating("answered \(defect.status)")
        }
        if let other = failures.first(where: { $0.status != 503 }) {
            return .deviating("answered \(other.status) without a database")
        }
        let actions = try await stage.actions(customer) + stored
        guard one.allows(actions, of: "actions") else { return .deviating("\(actions) actions") }
        let accepted = answers.last?.status == 201
        switch one.verdict {
        case "invariant": return .asExpected
        case "accept", "reject", "either": return one.judge(accepted: accepted)
        default: return .unsupported("the verdict \(one.verdict)")
        }
    }

    // MARK: Steps

    func play(_ step: String) async throws {
        if step.hasPrefix("restart") { return try await stage.restart() }
        if let later = step.firstMatch(of: /([0-9]+) (h|hours?|days?) (later|pass)/) {
            return try await pass("\(later.1) \(later.2 == "h" ? "hours" : String(later.2))")
        }
        guard let post = try await post(step) else { throw UnknownStep(step: step) }
        let port = stage.instance.port
        if step.contains("database down") {
            failures.append(
                try await stage.withoutDatabase { try await post.make(0).send(to: port) })
            return
        }
        let count = min(post.count, Self.postsMax)
        let messages = (0..<count).map(post.make)
        if step.contains("parallel") {
            answers += try await messages.asyncMapConcurrently { try await $0.send(to: port) }
        } else {
            answers += try await messages.asyncMap { try await $0.send(to: port) }
        }
        if step.contains("other keys") {
            stored += answers.suffix(count).count { $0.status == 201 }
            try await store(post.count - count)
        }
        if let expected = step.firstMatch(of: /-> ([0-9]{3})/).flatMap({ Int($0.1) }),
            answers.last?.status != expected, expected != 400 || answers.last?.status != 422
        {
            throw Unexpected("\(step): answered \(answers.last?.status ?? 0)")
        }
    }

    /// As many requests of one step as are made over HTTP.
    private static let postsMax = 200

    private struct Post: Sendable {
        let count: Int
        let make: @Sendable (Int) -> HttpMessage
    }

    /// Reads a step such as `parallel 2 x POST key k1 {…}`.
    private func post(_ step: String) async throws -> Post? {
        guard let found = step.firstMatch(of: /^(.*?)POST\b(.*)$/) else { return nil }
        let (who, what) = (String(found.1), String(found.2))
        let count =
            who.firstMatch(of: /([0-9][0-9,]*) x/)
            .flatMap { Int($0.1.replacing(",", with: "")) } ?? 1
        let authorization = try await authorization(who)
        guard let keys = keys(what) else { throw UnknownStep(step: step) }
        let body = try body(what)
        // A customer may have only so many open questions, so many requests are for many customers.
        let spreads = what.contains("other keys")
        return Post(count: count) { [customer] number in
            HttpMessage(
                "POST", "/v1/actions",
                fields: [authorization, "Content-Type: application/json"] + keys(number),
                body: spreads
                    ? body.replacing(customer.id, with: "\(customer.id).\(number / 8)") : body)
        }
    }

    /// Devices are the same backend's; another user here is another client, with a key of its own.
    private func authorization(_ who: String) async throws -> String {
        guard let name = who.firstMatch(of: /(user|client|tenant)-[b-z]/).map({ String($0.0) })
        else { return "Authorization: Bearer \(stage.bank.backendKey)" }
        if let known = others[name] { return "Authorization: Bearer \(known)" }
        let key = APIKey.make(for: .backend)
        try await stage.bank.administer { [customer] administration in
            _ = try await administration.addClient(
                ID(at: systemTime(), random: EntropySource.openSSL(10)),
                name: "\(customer.id)-\(name)", role: .backend, keyDigest: sha256(Bytes(key.utf8)),
                subjectAlternativeName: nil)
        }
        others[name] = key
        return "Authorization: Bearer \(key)"
    }

    /// The lines with keys as the words describe them; `nil` for words that are not known.
    private func keys(_ words: String) -> (@Sendable (Int) -> [String])? {
        let field = "Idempotency-Key: "
        // A story's keys are its own: the client is the same for all.
        let scope = name
        if words.contains("without a key") { return { _ in [] } }
        if words.contains("an empty") { return { _ in [field] } }
        if words.contains("other keys") {
            return { number in ["\(field)\(scope)-other-\(number)"] }
        }
        if let two = words.firstMatch(of: /both (\w+)/) {
            let line = "\(field)\(scope)-\(two.1)"
            return { _ in [line, line] }
        }
        if let two = words.firstMatch(of: /lines?,? (\w+) and (\w+)/) {
            let lines = [two.1, two.2].map { "\(field)\(scope)-\($0)" }
            return { _ in lines }
        }
        if let long = words.firstMatch(of: /([0-9][0-9,]*) (characters|bytes|chars)/),
            let count = Int(long.1.replacing(",", with: ""))
        {
            return { _ in [field + String(repeating: "k", count: count)] }
        }
        if let quoted = words.firstMatch(of: /key "([^"]*)"/) {
            let line = "\(field)\(scope)-\(quoted.1)"
            return { _ in [line] }
        }
        guard let key = words.firstMatch(of: /key ([\w.:-]+)/) else { return nil }
        let line = "\(field)\(scope)-\(key.1)"
        return { _ in [line] }
    }

    /// The body in our words; the cases speak of another product.
    private func body(_ words: String) throws -> Bytes {
        if words.contains("bad body") { return Bytes("{\"customer_id\":".utf8) }
        guard let text = words.firstMatch(of: /\{.*\}/).map({ String($0.0) }) else {
            return customer.transfer("120.00").encoded
        }
        guard let json = SignedJSON.decode(Bytes(text.utf8)) else {
            throw UnknownStep(step: words)
        }
        if json["type"]?.text == "transfer" {
            let encoded = customer.transfer(json["amount"]?.text ?? "").encoded
            return ordered(encoded, as: text)
        }
        if let name = json["name"]?.text, let iban = json["iban"]?.text {
            let payee: JSON = ["name": .string(name), "account": ["iban": .string(iban)]]
            return JSON.object([
                .init("customer_id", .string(customer.id)), .init("kind", "new_payee"),
                .init("new_payee", ["payee": payee]),
            ]).encoded
        }
        return Bytes(text.utf8)
    }

    /// With the currency first, and with spaces, when the case has it so.
    private func ordered(_ body: Bytes, as text: String) -> Bytes {
        var body = String(decoding: body, as: UTF8.self)
        if let currency = text.range(of: "\"currency\""), let amount = text.range(of: "\"amount\""),
            currency.lowerBound < amount.lowerBound
        {
            body = body.replacing(/("amount":"[^"]*"),("currency":"[^"]*")/) { "\($0.2),\($0.1)" }
        }
        if text.contains("\": ") { body = body.replacing("\":", with: "\": ") }
        return Bytes(body.utf8)
    }

    // MARK: What takes too long to do

    /// Lets time pass for all keys.
    private func pass(_ interval: String) async throws {
        try await stage.bank.sql(
            "UPDATE countersign.idempotency SET created_at = created_at - interval '\(interval)'")
    }

    /// Stores as many keys as further requests would have left.
    private func store(_ count: Int) async throws {
        stored += count
        try await stage.bank.sql(
            """
            INSERT INTO countersign.idempotency
                   (client_id, route, key, fingerprint, status, answer)
            SELECT client_id, route, 'stored-' || gen_random_uuid(), fingerprint, status, answer
              FROM (SELECT * FROM countersign.idempotency LIMIT 1) AS one,
                   generate_series(1, \(count))
            """)
    }
}

extension Bytes {
    /// The same JSON with another text in the place of the first one like this.
    fileprivate func replacing(_ text: String, with other: String) -> Bytes {
        guard let range = firstRange(of: Bytes("\"\(text)\"".utf8)) else { return self }
        return Bytes(
            self[..<range.lowerBound] + Bytes("\"\(other)\"".utf8) + self[range.upperBound...])
    }
}
