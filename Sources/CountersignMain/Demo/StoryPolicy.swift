import Countersign

/// Chapters about the risk team: a limit is hit, and two people change the policy.
extension Story {
    mutating func hitLimit() async throws {
        try await step(
            "A transfer over the limit is refused, and the answer said so before signing")
        let (created, question) = try await ask(
            "transfer 60000.00 EUR", Cast.transfer("60000.00", to: Cast.known(), "Car"))
        check(
            "the forecast names the rule", created.text("forecast", "rule"), is: "single_max")
        let answer = try await approve(question)
        check("refused although it was signed", answer, 409, "limit-exceeded")
        check("what could be sent is told", answer.text("allowed"), is: "50000.00")
    }

    mutating func tunePolicy() async throws {
        try await step("The risk team drafts, tries it on the past, and two people publish it")
        let anna = try await StaffMember.join("demo-anna", bank)
        let bert = try await StaffMember.join("demo-bert", bank)
        say("added demo-anna and demo-bert, each with a passkey of her and his own")
        let active = try await anna.api.get("/v1/policies/active")
        let draft = try drafted(from: active)
        asked("POST /v1/policies/simulate  the draft, over all decisions")
        let report = try await anna.api.post(
            "/v1/policies/simulate",
            ["document": draft, "from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"])
        came(
            report,
            "of \(count(report, "decided")) decisions \(count(report, "changed")) come out otherwise"
        )
        let limit = report.json["rules"]?["single_max"]
        check(
            "the refused transfer would have been allowed",
            limit?["before"] == .integer(1) && limit?["after"] == .integer(0))
        asked("POST /v1/acts  policy.publish, by demo-anna, and her signature")
        let proposed = try await anna.api.post(
            "/v1/acts", ["kind": "policy.publish", "document": ["policy": draft]])
        let first = try await anna.sign(proposed)
        came(first, "act \(first.text("act", "state") ?? "?")")
        check("one signature is not enough", first.text("act", "state"), is: "open")
        let act = proposed.text("act", "id") ?? ""
        let again = try await anna.api.post("/v1/acts/\(act)/challenge", [:])
        check("and hers counts once", again, 409, "act-already-signed")
        asked("POST /v1/acts/\(act)/challenge, signatures  by demo-bert")
        let second = try await bert.sign(
            try await bert.api.post("/v1/acts/\(act)/challenge", [:]))
        came(second, "act \(second.text("act", "state") ?? "?")")
        check("with his it takes effect", second.text("act", "state"), is: "done")
        try await waitForPolicy(2, anna)
    }

    mutating func payUnderNewPolicy() async throws {
        try await step("The next transfer from a new device is held, and released in its time")
        guard case .object(let members) = Cast.transfer("25.00", to: Cast.known(), "Invoice 10")
        else {
            return
        }
        let (created, question) = try await ask(
            "transfer 25.00 EUR, signal new_device",
            .object(members + [.init("risk", ["signals": ["new_device"]])]))
        check(
            "the customer is told of the hold before signing",
            created.text("forecast", "hold", "rule"), is: "signal")
        let answer = try await approve(question)
        check("held by the new rule", answer.text("action", "hold", "rule"), is: "signal")
        say("3 seconds later …")
        for _ in 0..<200 {
            guard
                try await bank.backend.action(question.action).text("action", "execution") == "held"
            else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        let settled = try await settled(question.action)
        came(settled, settled.decision)
        check("released and executed", settled.text("action", "execution"), is: "executed")
    }

    /// The policy in force with a higher limit, a hold where the bank sees a new device, and what officers
    /// may approve.
    private func drafted(from active: Answer) throws -> JSON {
        guard case .object(let members)? = active.json["policy"]?["document"],
            case .object(let currencies)? = active.json["policy"]?["document"]?["currencies"],
            case .object(let euros)? = active.json["policy"]?["document"]?["currencies"]?["EUR"]
        else { throw CommandFailure("the policy in force was answered \(active.status)") }
        func replacing(_ name: String, in members: [JSON.Member], by value: JSON) -> JSON {
            .object(members.filter { $0.name != name } + [.init(name, value)])
        }
        let raised = replacing("single_max", in: euros, by: "70000.00")
        let draft = replacing(
            "currencies", in: members, by: replacing("EUR", in: currencies, by: raised))
        guard case .object(let changed) = draft else { return draft }
        return .object(
            changed + [
                .init("signals", ["new_device": ["hold_s": .integer(3)]]),
                .init("assisted", ["hold_s": .integer(86_400), "max": ["EUR": "100.00"]]),
            ])
    }

    private func waitForPolicy(_ version: Int64, _ person: StaffMember) async throws {
        for _ in 0..<200 {
            let active = try await person.api.get("/v1/policies/active")
            if active.json["policy"]?["version"] == .integer(version) {
                return say("policy \(version) is in force")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw CommandFailure("policy \(version) is not in force after 10 s")
    }

    private func count(_ report: Answer, _ name: String) -> String {
        guard case .integer(let count)? = report.json[name] else { return "?" }
        return String(count)
    }
}
