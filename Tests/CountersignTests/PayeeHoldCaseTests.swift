import Countersign
import TestSupport
import Testing

/// The published cases about holds of payees; the area prints one line.
@Suite struct `Published cases of payee holds` {
    @Test func `hold for elapsed time, and end on time`() throws {
        // What several requests come to is played on the database, in its own tests.
        guard let cases = try Cases.domain("payee_hold")?.filter({ !$0.isOfPayeesOverTime })
        else { return }
        let deviating = cases.run("domain.jsonl payee_hold") { one in
            switch one.faultKind {
            case "boundary", "boundary_exact", "dst": try judgeTime(one)
            case "first_transfer_boundary", "first_transfer_currency": try judgeFirst(one)
            case "bypass": try judgeBypass(one)
            default: .unsupported(one.faultKind)
            }
        }
        #expect(deviating.isEmpty)
    }

    /// The times of the cases carry offsets; here they are instants.
    private func instant(_ text: String?) -> Instant? {
        guard let text, text.utf8.count > 6 else { return nil }
        let offset = text.suffix(6)
        let local = text.dropLast(6) + "Z"
        guard let instant = Instant(text: String(local)),
            let hours = Int64(offset.dropFirst().prefix(2)),
            let minutes = Int64(offset.suffix(2))
        else { return nil }
        let shift = (hours * 3600 + minutes * 60) * (offset.first == "-" ? -1 : 1)
        return instant - Seconds(shift)
    }

    private func judgeTime(_ one: Case) throws -> Judgement {
        guard case .integer(let hold)? = one.input("holdSeconds"),
            let added = instant(one.input("payeeAddedAt")?.text),
            let at = instant(one.input("transferAt")?.text)
        else { return .deviating("no input") }
        let policy = try Fixtures.policy(setting: [
            ("payee.mode", "refuse"), ("payee.cooling_off_s", .integer(hold)),
        ])
        // The times of the payee are those that its own confirmation gave it.
        guard
            case .allowed(let confirmed) = policy.decide(
                try Fixtures.newPayee(), Fixtures.state(at: added)),
            let times = confirmed.payeeTimes
        else { return .deviating("the payee was refused") }
        let payee = RecordedPayee(
            id: Fixtures.id(5), confirmedAt: added, usableAt: times.usableAt,
            newUntil: times.newUntil, firstExecutedAt: nil)
        let verdict = policy.decide(
            try Fixtures.transfer("1.00"), Fixtures.state(at: at, payee: payee))
        if one.verdict == "either" { return .asExpected }
        return verdict.isAllowed == (one.verdict == "accept")
            ? .asExpected : .deviating(verdict.line(at: at))
    }

    private func judgeFirst(_ one: Case) throws -> Judgement {
        guard let limit = one.input("firstTransferLimit")?.text else {
            return .deviating("no input")
        }
        // A limit of euros is none of yens: each currency has its own.
        guard let amount = one.input("amount")?.text else {
            return one.verdict == "either" ? .asExpected : .unsupported("another shape")
        }
        let policy = try Fixtures.policy(
            setting: "currencies.EUR.first_transfer_max", to: .string(limit))
        let verdict = policy.decide(
            try Fixtures.transfer(amount), Fixtures.state(payee: Fixtures.newPayee))
        return verdict.isAllowed == (one.verdict == "accept")
            ? .asExpected : .deviating(verdict.line(at: Fixtures.at))
    }

    private func judgeBypass(_ one: Case) throws -> Judgement {
        let policy = try Fixtures.policy(setting: [
            ("payee.mode", "refuse"), ("currencies.EUR.first_transfer_max", "200.00"),
        ])
        let fresh = RecordedPayee(
            id: Fixtures.id(5), confirmedAt: Fixtures.at, usableAt: Fixtures.at + Seconds(86_400),
            newUntil: Fixtures.at + Seconds(345_600), firstExecutedAt: nil)
        switch one.input("scenario")?.text {
        case "split-first":
            let state = Fixtures.state(payee: Fixtures.newPayee, usedWhileNew: 15_000)
            return policy.decide(try Fixtures.transfer("150.00"), state).isAllowed
                ? .deviating("the second half was allowed") : .asExpected
        case "first-cancelled":
            // A cancelled one gives back its sum and executes nothing.
            let state = Fixtures.state(payee: Fixtures.newPayee)
            return policy.decide(try Fixtures.transfer("200.01"), state).isAllowed
                ? .deviating("it was not the first") : .asExpected
        case "unicode-respell":
            let respelt = "NL91\u{200B}ABNA0417164300"
            return accepted({ () throws(InvalidValue) in try Account(text: respelt) }) == nil
                ? .asExpected : .deviating("read as an account")
        case "delete-re-add":
            return policy.decide(try Fixtures.transfer("1.00"), Fixtures.state(payee: fresh))
                .isAllowed
                ? .deviating("allowed at once") : .asExpected
        case "other-user-payee-id":
            return policy.decide(try Fixtures.transfer("1.00"), Fixtures.state(payee: nil))
                .isAllowed
                ? .deviating("somebody else's payee was paid") : .asExpected
        default: return one.verdict == "either" ? .asExpected : .unsupported("another scenario")
        }
    }
}
