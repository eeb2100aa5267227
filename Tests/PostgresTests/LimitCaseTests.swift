import Countersign
import Postgres
import TestSupport
import Testing

/// The published cases about limits and holds; each area prints one line.
@Suite struct `Published cases of limits and holds` {
    private static let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")

    // MARK: daily_limit

    @Test func `days are the bank's`() async throws {
        guard let cases = try Cases.domain("daily_limit") else { return }
        try await DecisionWorld.with { world in
            let deviating = await cases.run("domain.jsonl daily_limit") { one in
                switch one.faultKind {
                case "bad_zone_config": try await judgeZone(one, world)
                case "failed_attempt_keeps_sum": try await judgeFailedAttempt(one)
                case "reset_by_other_operation": try await judgeFirstOfDay(one)
                case "which_actions_count": try await judgeWhatCounts(one)
                default: try await judgeDay(one, world)
                }
            }
            #expect(deviating.isEmpty)
        }
    }

    /// The days are told by the database, the verdicts by the policy, in both windows.
    private func judgeDay(_ one: Case, _ world: DecisionWorld) async throws -> Judgement {
        guard let zone = one.input("timeZone")?.text, let limit = one.input("dailyLimit")?.text,
            case .array(let executed)? = one.input("executed"), let attempt = one.input("attempt"),
            let at = attempt["at"]?.text, let amount = attempt["amount"]?.text,
            let instant = Instant(text: at)
        else { return .unsupported("another shape") }
        func day(_ at: String) async throws -> String? {
            try await world.text("SELECT ('\(at)'::timestamptz AT TIME ZONE '\(zone)')::date::text")
        }
        let today = try await day(at)
        var used = RecordedState.Used()
        for one in executed {
            guard let text = one["at"]?.text, let then = Instant(text: text),
                let sum = one["amount"]?.text
            else { return .deviating("no input") }
            let units = try Money(limit: sum, currency: Currency("EUR")).minorUnits
            if try await day(text) == today { used.today += units }
            if instant.milliseconds - then.milliseconds < 86_400_000 { used.last24h += units }
        }
        let long = instant - Seconds(40 * 86_400)
        var state = Fixtures.state(
            at: instant,
            payee: RecordedPayee(
                id: Fixtures.id(5), confirmedAt: long, usableAt: long, newUntil: long,
                firstExecutedAt: long))
        state.credential = nil
        state.used = used
        for (window, expected) in [
            ("calendar", one.expect("calendar")), ("rolling_24h", one.expect("rolling24h")),
        ] {
            let policy = try Fixtures.policy(setting: [
                ("daily_window", .string(window)), ("currencies.EUR.daily_max", .string(limit)),
                ("currencies.EUR.single_max", "100000.00"),
            ])
            let verdict = policy.decide(try Fixtures.transfer(amount), state)
            guard verdict.isAllowed == (expected?.text == "accept") else {
                return .deviating("\(window): \(verdict.line(at: instant))")
            }
        }
        return .asExpected
    }

    private func judgeZone(_ one: Case, _ world: DecisionWorld) async throws -> Judgement {
        let zone = one.input("timeZone")?.text ?? ""
        do {
            try await world.policy(["{time_zone}": "\"\(zone)\""])
            return .deviating("published")
        } catch { return .asExpected }
    }

    private func judgeFailedAttempt(_ one: Case) async throws -> Judgement {
        guard let limit = one.input("dailyLimit")?.text, let first = one.input("executed")?.text,
            let failed = one.input("failedAttempt"), let amount = failed["amount"]?.text,
            let attempt = one.input("attempt")?.text
        else { return .deviating("no input") }
        return try await DecisionWorld.with { world in
            let customer = try await world.customer(limits: limit)
            guard try await world.approve(Fixtures.transfer(first), customer).isDecided else {
                return .deviating("the first was refused")
            }
            let asked = try await world.ask(Fixtures.transfer(amount), customer)
            if failed["why"]?.text == "bad-signature" {
                _ = try await world.bank.decide(try world.wrongCommand(asked, customer))
            } else {
                _ = try await world.bank.decide(try world.command(.approve, asked, customer))
                try await world.settle(asked.id, refused: true)
            }
            let used = try await world.count("SELECT sum(used) FROM countersign.counter")
            let left = try Money(limit: first, currency: Currency("EUR")).minorUnits
            guard used == Int(left) else { return .deviating("\(used) are used") }
            return try await world.judge(one, Fixtures.transfer(attempt), customer)
        }
    }

    private func judgeFirstOfDay(_ one: Case) async throws -> Judgement {
        guard let limit = one.input("dailyLimit")?.text, let attempt = one.input("attempt")?.text,
            let yesterday = one.input("yesterday")?.text
        else { return .deviating("no input") }
        return try await DecisionWorld.with { world in
            let customer = try await world.customer(limits: limit)
            _ = try await world.approve(Fixtures.transfer(yesterday), customer)
            try await world.test.sql(
                "UPDATE countersign.counter SET window_start = window_start - 1")
            if one.input("firstOperationToday")?.text == "new payee" {
                _ = try await world.approve(Fixtures.newPayee(payee: Self.friend), customer)
            } else {
                _ = try await world.approve(Fixtures.transfer("1.00", currency: "GBP"), customer)
            }
            return try await world.judge(one, Fixtures.transfer(attempt), customer)
        }
    }

    private func judgeWhatCounts(_ one: Case) async throws -> Judgement {
        guard let limit = one.input("dailyLimit")?.text, let earlier = one.input("earlier"),
            let amount = earlier["amount"]?.text, let state = earlier["state"]?.text,
            let attempt = one.input("attempt")?["amount"]?.text
        else { return .deviating("no input") }
        return try await DecisionWorld.with { world in
            let customer = try await world.customer(limits: limit)
            let currency = state == "other-currency" ? "GBP" : "EUR"
            let asked = try await world.ask(
                Fixtures.transfer(amount, currency: currency), customer)
            switch state {
            case "pending", "challenged", "waiting-for-signature": break
            case "rejected":
                _ = try await world.bank.decide(try world.command(.reject, asked, customer))
            default: _ = try await world.bank.decide(try world.command(.approve, asked, customer))
            }
            switch state {
            case "executed": try await world.settle(asked.id, refused: false)
            case "failed-and-reversed": try await world.settle(asked.id, refused: true)
            case "cancelled": _ = try await world.bank.cancel(asked.id, reason: "mistake")
            default: break
            }
            return try await world.judge(one, Fixtures.transfer(attempt), customer)
        }
    }

    // MARK: limit_race

    @Test func `what fits is the most that is approved at once`() async throws {
        guard let cases = try Cases.domain("limit_race") else { return }
        let deviating = await cases.run("domain.jsonl limit_race") { one in
            switch one.faultKind {
            case "parallel_first_transfers": try await judgeFirstTransfers(one)
            default: try await judgeParallel(one)
            }
        }
        #expect(deviating.isEmpty)
    }

    private func judgeParallel(_ one: Case) async throws -> Judgement {
        guard let limit = one.input("dailyLimit")?.text,
            case .array(let amounts)? = one.input("parallelApprovals"),
            let most = one.expect("maxExecutedSum")?.text
        else { return .deviating("no input") }
        return try await DecisionWorld.with { world in
            let customer = try await world.customer(limits: limit)
            // Another instance is another store over connections of its own.
            let sum = try await world.storm(
                amounts.compactMap(\.text).map { try Fixtures.transfer($0) }, customer)
            let cap = try Money(limit: most, currency: Currency("EUR")).minorUnits
            let used = try await world.count("SELECT sum(used) FROM countersign.counter")
            return sum <= cap && sum > 0 && used == Int(sum)
                ? .asExpected : .deviating("\(sum) were approved, \(used) are used")
        }
    }

    private func judgeFirstTransfers(_ one: Case) async throws -> Judgement {
        guard let limit = one.input("firstTransferLimit")?.text,
            case .array(let amounts)? = one.input("parallelTransfers"),
            let most = one.expect("maxExecutedSumBeforeFirstSettles")?.text
        else { return .deviating("no input") }
        return try await DecisionWorld.with { world in
            let customer = try await world.customer(limits: "1000000.00")
            try await world.policy([
                "{currencies,EUR,first_transfer_max}": "\"\(limit)\"",
                "{payee,cooling_off_s}": "0",
            ])
            _ = try await world.approve(Fixtures.newPayee(payee: Self.friend), customer)
            let sum = try await world.storm(
                amounts.compactMap(\.text).map { try Fixtures.transfer($0, payee: Self.friend) },
                customer)
            let cap = try Money(limit: most, currency: Currency("EUR")).minorUnits
            return sum <= cap && sum > 0 ? .asExpected : .deviating("\(sum) were approved")
        }
    }
}

extension DecisionWorld {
    /// A customer under a policy of this daily limit and no other, as the cases have it.
    func customer(limits daily: String) async throws -> TestCustomer {
        try await policy([
            "{currencies,EUR,daily_max}": "\"\(daily)\"",
            "{currencies,EUR,single_max}": "\"1000000.00\"", "{open_challenges_max}": "100",
        ])
        return try await customer()
    }

    /// Lets core banking answer an order.
    func settle(_ action: ID<Action>, refused: Bool) async throws {
        for claim in try await queue.claim(limit: 10, lease: Seconds(60)) {
            guard case .order(let order) = claim.item, order.actionID == action else { continue }
            _ = try await queue.settle(
                claim,
                refused
                    ? .refused(reason: "no", raw: Bytes("{}".utf8))
                    : .executed(reference: "r", raw: Bytes("{}".utf8)))
        }
    }

    /// Asks for everything, approves it all at once, and sums what was approved.
    func storm(_ contents: [ActionContent], _ customer: TestCustomer) async throws -> Int64 {
        let asked = try await inParallel(contents.count) { try await ask(contents[$0], customer) }
        let outcomes = try await inParallel(contents.count) { index in
            try await bank.decide(try command(.approve, asked[index], customer))
        }
        return zip(contents, outcomes).reduce(0) { sum, one in
            one.1.isDecided ? sum + (one.0.amount?.minorUnits ?? 0) : sum
        }
    }

    /// Approves a transfer and compares with what the case expects.
    func judge(
        _ one: Case, _ content: ActionContent, _ customer: TestCustomer
    ) async throws -> Judgement {
        let outcome = try await approve(content, customer)
        switch one.verdict {
        case "accept": return outcome.isDecided ? .asExpected : .deviating("\(outcome)")
        case "reject": return outcome.isDecided ? .deviating("approved") : .asExpected
        case "either": return .asExpected
        default: return .unsupported("verdict \(one.verdict)")
        }
    }
}
