import Countersign
import Crypto
import WebAuthn

/// A chapter about the browser's own payment dialog: Secure Payment Confirmation.
extension Story {
    mutating func payByBrowser() async throws {
        try await step("The browser itself shows a transfer, and the passkey confirms it")
        let (created, question) = try await ask(
            "transfer 90.00 EUR", Cast.transfer("90.00", to: Cast.known(), "Invoice 13"))
        guard let request = created.value(["challenge", "payment"]) else {
            throw CommandFailure("the challenge has no payment for the browser")
        }
        let amount = request["total"]?["amount"]
        Console.out(
            "    ▯ Pay \(request["data"]?["payeeName"]?.text ?? "?")  "
                + "\(amount?["value"]?.text ?? "?") \(amount?["currency"]?.text ?? "?")")
        check(
            "the browser is given the payee with the account",
            request["data"]?["payeeName"]?.text, is: "\(Cast.knownName), \(Cast.knownAccount)")
        try await attackByBrowser(question, request)
        let browser = try P256PrivateKey.generate()
        let confirmed = try phone.paymentAnswer(question.challenge, to: request, browser: browser)
        let answer = try await approve(question, with: confirmed)
        check("confirmed", answer.decision, is: "approved, execution ready")
        _ = try await settled(question.action)
        try checkBooked(question.action, amount: "90.00")
    }

    private mutating func attackByBrowser(_ question: Question, _ request: JSON) async throws {
        say("a page lets the browser show 9.00 EUR")
        let smaller = request.setting(
            "total", to: ["amount": ["currency": "EUR", "value": "9.00"]])
        let cheated = try await approve(
            question, with: try phone.paymentAnswer(question.challenge, to: smaller))
        check("what was shown is not what is to be paid", cheated, 401, "authentication-failed")
        say("what the browser returned is sent as if it had been an ordinary passkey")
        let payment = try phone.paymentAnswer(question.challenge, to: request)
        let crossed = try await approve(
            question,
            with: [
                "challenge_id": .string(question.challenge), "passkey": payment["payment"] ?? .null,
            ])
        check("one kind of proof is not the other", crossed, 401, "authentication-failed")
    }
}

extension JSON {
    /// The same object with a member replaced, or added.
    fileprivate func setting(_ name: String, to value: JSON) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != name } + [.init(name, value)])
    }
}
