import Countersign

/// A chapter about a customer who has no key: two officers approve, and it is held.
extension Story {
    mutating func approveForCustomerWithoutKey() async throws {
        try await step("A customer without a phone: two officers approve a small transfer")
        let payee: JSON = [
            "customer_id": .string(Cast.customerWithoutPhone), "name": .string(Cast.knownName),
            "account": ["iban": .string(Cast.knownAccount)],
        ]
        _ = try await bank.tools.importPayee(payee)
        let carla = try await StaffMember.join("demo-carla", as: .officer, bank)
        let dirk = try await StaffMember.join("demo-dirk", as: .officer, bank)
        say("added demo-carla and demo-dirk, officers of the bank, each with a passkey")
        let (_, question) = try await ask(
            "transfer 80.00 EUR of \(Cast.customerWithoutPhone), who has no key",
            Cast.transfer("80.00", to: Cast.known(), "Rent", of: Cast.customerWithoutPhone))
        let path = "/v1/actions/\(question.action)/assisted-approval"
        asked("POST \(path)  with a code by SMS for an identity check")
        let code = try await carla.api.post(path, Self.grounds("sms"))
        came(code)
        check("no code is accepted for anything", code, 422, "invalid-action")
        asked("POST \(path)  in_person, by demo-carla, and her signature")
        let proposed = try await carla.api.post(path, Self.grounds("in_person"))
        let first = try await carla.sign(proposed)
        came(first, "act \(first.text("act", "state") ?? "?")")
        check(
            "what both sign says the whole transfer",
            proposed.text("act", "document", "members", "amount"), is: "80.00")
        check("one officer is not enough", first.text("act", "state"), is: "open")
        let act = proposed.text("act", "id") ?? ""
        asked("POST /v1/acts/\(act)/challenge, signatures  by demo-dirk")
        let second = try await dirk.sign(
            try await dirk.api.post("/v1/acts/\(act)/challenge", [:]))
        came(second, "act \(second.text("act", "state") ?? "?")")
        let held = try await bank.backend.action(question.action)
        came(held, held.decision)
        check(
            "with his it is approved, and held for a day whatever else the policy says",
            held.text("action", "hold", "rule"), is: "assisted_hold")
        asked("POST /v1/acts  hold.release, by demo-carla")
        let early = try await carla.api.post(
            "/v1/acts",
            [
                "kind": "hold.release",
                "document": ["action_id": .string(question.action), "reason": "in a hurry"],
            ])
        came(early)
        check("nobody shortens that day", early, 409, "hold-not-releasable")
        let own = try await ask(
            "transfer 80.00 EUR of \(customer), who has a phone",
            Cast.transfer("80.00", to: Cast.known(), "Rent"))
        let refused = try await carla.api.post(
            "/v1/actions/\(own.1.action)/assisted-approval", Self.grounds("in_person"))
        came(refused)
        check("a customer with a key decides alone", refused, 409, "customer-has-key")
    }

    private static func grounds(_ method: String) -> JSON {
        [
            "reason": "phone stolen, rent is due",
            "identity_check": ["method": .string(method), "reference": "passport, copy 7"],
        ]
    }
}
