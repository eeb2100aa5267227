import Countersign
import TestSupport
import Testing

/// The published cases about single values; each area prints one line.
@Suite struct `Published cases of values` {
    @Test func `IBANs`() throws {
        guard let cases = try Cases.domain("iban") else { return }
        let deviating = cases.run("domain.jsonl iban") { one in
            guard let text = one.input("iban")?.text else { return respelling(one) }
            let iban = accepted { () throws(InvalidValue) in try Account(iban: text) }
            return one.judge(
                iban?.json["iban"]?.text, mustEqual: "canonical", "ifAcceptedCanonical")
        }
        #expect(deviating.isEmpty)
    }

    /// One account added, deleted and added again in another spelling. The rest of such a case is
    /// about holds; what it needs from the value is that both spellings are one account.
    private func respelling(_ one: Case) -> Judgement {
        guard case .array(let steps)? = one.input("steps") else { return .deviating("no input") }
        let accounts = steps.compactMap { $0["addPayee"]?["iban"]?.text }.map { text in
            accepted { () throws(InvalidValue) in try Account(iban: text) }
        }
        return Set(accounts).count == 1 ? .asExpected : .deviating("two accounts")
    }

    @Test func `phone numbers`() throws {
        guard let cases = try Cases.domain("phone") else { return }
        let deviating = cases.run("domain.jsonl phone") { one in
            guard let text = one.input("phone")?.text else { return .deviating("no input") }
            let number = accepted { () throws(InvalidValue) in try PhoneNumber(text) }
            return one.judge(number?.text, mustEqual: "canonical", "ifAcceptedCanonical")
        }
        #expect(deviating.isEmpty)
    }

    @Test func `e-mail addresses`() throws {
        guard let cases = try Cases.domain("email") else { return }
        let deviating = cases.run("domain.jsonl email") { one in
            guard let old = one.input("current")?.text, let new = one.input("new")?.text else {
                return .deviating("no input")
            }
            let current = accepted { () throws(InvalidValue) in try EmailAddress(old) }
            let changed = accepted { () throws(InvalidValue) in try EmailAddress(new) }
            if one.expect("samePerson") == .bool(false), let current, current == changed {
                return .deviating("two people share an address")
            }
            return one.judge(accepted: current != nil && changed != nil)
        }
        #expect(deviating.isEmpty)
    }
}

/// A value, or `nil` when its text is refused.
func accepted<Value>(_ make: () throws(InvalidValue) -> Value) -> Value? {
    do { return try make() } catch { return nil }
}
