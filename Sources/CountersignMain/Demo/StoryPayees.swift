import Countersign
import Crypto

/// Chapters about the customer's first key and first payee.
extension Story {
    mutating func enrolDeviceKey() async throws {
        try await step(
            "\(customer) gets the bank's app: its key is enrolled, and only with a voucher")
        let path = "POST /v1/customers/\(customer)/credentials"
        asked("\(path)  a new key, proof that the phone has it, nobody vouching")
        let alone = try await bank.backend.enrolDeviceKey(
            of: phone, for: customer, vouchedBy: nil)
        came(alone)
        check(
            "a backend, or whoever stole its API key, cannot enrol a key", alone, 403,
            "enrolment-not-authorized")
        asked("\(path)  the same, with a token that the bank's identity system signed")
        let enrolled = try await bank.backend.enrolDeviceKey(
            of: phone, for: customer, vouchedBy: bank.identity)
        memory.deviceKey = enrolled.text("credential", "id") ?? ""
        came(enrolled, "credential \(memory.deviceKey) active")
        check("the key is enrolled", enrolled, 201)
        try await checkRegister(
            memory.deviceKey, phone.publicKey, "core banking has noted the same key by itself")
    }

    /// Core banking keeps its own register, so that it need not believe the service later.
    mutating func checkRegister(
        _ credential: String, _ key: P256PublicKey, _ what: String
    ) async throws {
        let expected = Base64.encode(key.spki)
        var found: String?
        for _ in 0..<200 where found == nil {
            found = try CoreBankingBooks(bank.home.journal).key(of: credential)
            if found == nil { try await Task.sleep(for: .milliseconds(50)) }
        }
        check(what, found, is: expected)
    }

    mutating func addPayee() async throws {
        try await step("A new payee is added")
        let (_, question) = try await ask(
            "new_payee \(Cast.newName)",
            [
                "customer_id": .string(customer), "kind": "new_payee",
                "new_payee": ["payee": Cast.new(), "alias": "Strom"],
            ])
        try show(
            question.approve,
            says: "Approve: add the payee \(Cast.newName), iban:\(Cast.newAccount)")
        let answer = try await approve(question)
        check("approved", answer.text("action", "authorization"), is: "approved")
        check(
            "held, because the key that signed is new", answer.text("action", "hold", "rule"),
            is: "new_credential_cooling_off")
        let payee = try await readPayee(Cast.newAccount)
        check("the payee is cooling off", payee?["state"]?.text, is: "cooling_off")
        check(
            "and may be sent 1000.00 EUR at once", payee?["may_send"]?["amount"]?.text,
            is: "1000.00")
    }

    /// The entry of the payee with that IBAN.
    func readPayee(_ account: String) async throws -> JSON? {
        asked("GET /v1/customers/\(customer)/payees")
        let answer = try await bank.backend.payees(of: customer)
        var found: JSON?
        if case .array(let payees) = answer.json["payees"] {
            found = payees.first { $0["account"]?["iban"]?.text == account }
        }
        guard let found else {
            came(answer)
            return nil
        }
        let usable = found["usable_at"]?.text ?? "?"
        let single = found["may_send"]?["left"]?["first_transfer_max"]?.text ?? "?"
        let sum = found["may_send"]?["left"]?["new_payee_sum_max"]?.text ?? "?"
        came(
            answer,
            "\(found["name"]?.text ?? "?"): usable at \(usable), \(single) at once, \(sum) in all")
        return found
    }

    mutating func payNewPayee() async throws {
        try await step("A transfer to the new payee, within the limit and above it")
        let (_, small) = try await ask(
            "transfer 250.00 EUR", Cast.transfer("250.00", to: Cast.new(), "Abschlag"))
        let held = try await approve(small)
        memory.heldTransfer = small.action
        check(
            "within the limit it is approved", held.text("action", "authorization"), is: "approved")
        check(
            "and held until the payee may be paid", held.text("action", "hold", "rule"),
            is: "payee_cooling_off")
        let (_, large) = try await ask(
            "transfer 1500.00 EUR", Cast.transfer("1500.00", to: Cast.new(), "Anlage"))
        let refused = try await approve(large)
        say(
            "limit \(refused.text("limit") ?? "?"), allowed \(refused.text("allowed") ?? "?")"
                + " \(refused.text("currency") ?? "")")
        check("above the limit it is refused, though well signed", refused, 409, "limit-exceeded")
        check(
            "the answer says what is left: the first ones count together, until one is executed",
            refused.text("allowed"), is: "750.00")
    }
}
