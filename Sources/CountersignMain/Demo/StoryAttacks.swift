import Countersign
import Crypto

/// Chapters about what must not work.
extension Story {
    mutating func changeAmountBeforeSigning() async throws {
        try await step("Malware on the phone changes the amount before it is signed")
        let (_, question) = try await ask(
            "transfer 250.00 EUR", Cast.transfer("250.00", to: Cast.known(), "Invoice 8"))
        let altered = String(decoding: question.approve, as: UTF8.self)
            .replacing(#""amount":"250.00""#, with: #""amount":"9250.00""#)
        try show(Bytes(altered.utf8), says: Cast.screen("Approve", "9250.00", "Invoice 8"))
        let signed = try phone.answer(
            question.challenge, over: Bytes(altered.utf8), as: memory.deviceKey)
        let answer = try await approve(question, with: signed)
        check(
            "a good signature over other bytes approves nothing", answer, 401,
            "authentication-failed")
        let action = try await bank.backend.action(question.action)
        check("the action is still pending", action.text("action", "authorization"), is: "pending")
    }

    mutating func moveSignature() async throws {
        try await step("A thief in the backend moves a signature to another amount")
        let (_, honest) = try await ask(
            "transfer 250.00 EUR", Cast.transfer("250.00", to: Cast.known(), "Invoice 9"))
        let signature = try phone.answer(
            honest.challenge, over: honest.approve, as: memory.deviceKey)
        let (_, other) = try await ask(
            "transfer 9250.00 EUR", Cast.transfer("9250.00", to: Cast.known(), "Invoice 9"))
        say("the signature over 250.00 EUR comes with the challenge for 9250.00 EUR")
        let moved: JSON = [
            "challenge_id": .string(other.challenge),
            "credential_id": signature["credential_id"] ?? .null,
            "device_key": signature["device_key"] ?? .null,
        ]
        let answer = try await approve(other, with: moved)
        check("it is good for its own action only", answer, 401, "authentication-failed")
        say("and with its own challenge, at the other action")
        let misplaced = try await approve(other, with: signature)
        check("a challenge is for one action only", misplaced, 404, "not-found")
        let approved = try await approve(honest, with: signature)
        check("what was really signed goes through", approved, 200)
        _ = try await settled(honest.action)
        try checkBooked(honest.action, amount: "250.00")
    }

    mutating func useWrongKey() async throws {
        try await step("Somebody else's phone signs")
        let (created, question) = try await ask(
            "transfer 80.00 EUR", Cast.transfer("80.00", to: Cast.known(), "Invoice 10"))
        let stranger = try SoftwarePhone(
            relyingPartyID: DemoHome.relyingPartyID, origin: DemoHome.origin)
        let forged = try stranger.answer(
            question.challenge, over: question.approve, as: memory.deviceKey)
        let answer = try await approve(question, with: forged)
        check("a wrong key approves nothing", answer, 401, "authentication-failed")
        say(
            "attempts of this challenge before: \(created.number("challenge", "attempts_left") ?? 0)"
        )
        asked("GET /v1/evidence?action_id=\(question.action)&kind=attempt.failed  as the auditor")
        let evidence = try await bank.auditor.get(
            "/v1/evidence?action_id=\(question.action)&kind=attempt.failed")
        let body = evidence.evidence.first?["body"]
        let failures = body?["failures"]
        came(
            evidence,
            "reason \(body?["reason"]?.text ?? "?"); failures of the challenge "
                + "\(failures?.number("challenge") ?? 0), the action "
                + "\(failures?.number("action") ?? 0), the customer "
                + "\(failures?.number("customer") ?? 0)")
        check(
            "it is counted, and evidence says why",
            failures?.number("challenge") == 1 && failures?.number("customer") == 1,
            expected: "1 and 1",
            came: failures.map { String(decoding: $0.encoded, as: UTF8.self) } ?? "nothing")
        let right = try await approve(question)
        check("the right key still approves", right, 200)
    }
}

extension JSON {
    /// The number of that name.
    func number(_ name: String) -> Int64? {
        if case .integer(let value) = self[name] { value } else { nil }
    }
}

extension APIClient.Answer {
    /// The number at the end of a path of members.
    func number(_ path: String...) -> Int64? {
        if case .integer(let value) = value(path) { value } else { nil }
    }

    /// The entries of a page of evidence.
    var evidence: [JSON] {
        if case .array(let entries) = json["evidence"] { entries } else { [] }
    }
}
