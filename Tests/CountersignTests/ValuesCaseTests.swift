import Countersign
import Foundation
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

    /// What stands for an ID in a path must be one, whether or not a router decodes it first.
    ///
    /// Cases about spellings of an ID that exists, or of its route, are for the running service.
    @Test func `IDs in paths`() throws {
        guard let cases = try Cases.domain("ids") else { return }
        let deviating = cases.run("domain.jsonl ids") { one in
            guard let target = one.input("target")?.text else { return .deviating("no input") }
            guard one.verdict == "reject" else { return .unsupported("routes of the server") }
            let segments = target.split(separator: "/", omittingEmptySubsequences: false)
            guard segments.count >= 4 else { return .deviating("no ID in the path") }
            let spellings = [String(segments[3]), segments[3].removingPercentEncoding ?? ""]
            return one.judge(accepted: spellings.contains { ID<Case>($0) != nil })
        }
        #expect(deviating.isEmpty)
    }
}
