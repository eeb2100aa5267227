import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Rules of a risk team on the database` {
    /// Asks with what the bank says about the risk, and approves.
    private func approve(
        _ content: ActionContent, _ customer: TestCustomer, in world: DecisionWorld, risk: JSON
    ) async throws -> DecisionOutcome {
        let asked = try await world.ask(content, customer, risk: risk)
        return try await world.bank.decide(world.command(.approve, asked, customer))
    }

    @Test
    func `a lower limit of one's own holds at once, and a higher one when its hold has ended`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy([
                "{limit_change}": #"{"delay_s": 1, "daily_max": {"EUR": "200000.00"}}"#
            ])
            #expect(try await world.approve(Fixtures.limitChange("50.00"), customer).isDecided)
            let refused = try await world.approve(Fixtures.transfer("50.01"), customer).refusal
            guard case .policy(.limitExceeded(.dailyMax, let allowed, _))? = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(allowed.decimal == "50.00")
            // Back up is a raise: it waits.
            #expect(try await world.approve(Fixtures.limitChange("70.00"), customer).isDecided)
            #expect(
                try await world.approve(Fixtures.transfer("50.01"), customer).isDecided == false)
            try await world.settleHolds()
            #expect(try await world.approve(Fixtures.transfer("70.00"), customer).isDecided)
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test func `of two changes of one limit the later one holds, whichever ends first`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let raise = try await world.ask(Fixtures.limitChange("90.00"), customer)
            #expect(try await world.approve(Fixtures.limitChange("50.00"), customer).isDecided)
            #expect(
                try await world.bank.decide(world.command(.approve, raise, customer)).isDecided)
            #expect(try await world.approve(Fixtures.limitChange("20.00"), customer).isDecided)
            try await world.settleHolds()
            #expect(try await world.bank.action(raise.id)?.execution == .cancelled)
            #expect(
                try await world.approve(Fixtures.transfer("20.01"), customer).isDecided == false)
            #expect(try await world.approve(Fixtures.transfer("20.00"), customer).isDecided)
        }
    }

    @Test func `a raise that is cancelled, or whose key is revoked, does not hold`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            #expect(try await world.approve(Fixtures.limitChange("50.00"), customer).isDecided)
            let raise = try await world.ask(Fixtures.limitChange("90.00"), customer)
            _ = try await world.bank.decide(world.command(.approve, raise, customer))
            _ = try await world.bank.cancel(raise.id, reason: "mistake")
            try await world.settleHolds()
            #expect(
                try await world.approve(Fixtures.transfer("50.01"), customer).isDecided == false)
        }
    }

    @Test func `a raise that core banking refuses does not hold`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            #expect(try await world.approve(Fixtures.limitChange("50.00"), customer).isDecided)
            let raise = try await world.ask(Fixtures.limitChange("90.00"), customer)
            _ = try await world.bank.decide(world.command(.approve, raise, customer))
            try await world.settleHolds()
            try await world.settle(raise.id, refused: true)
            #expect(try await world.bank.action(raise.id)?.execution == .refused)
            #expect(
                try await world.approve(Fixtures.transfer("50.01"), customer).isDecided == false)
            #expect(try await world.approve(Fixtures.transfer("50.00"), customer).isDecided)
        }
    }

    @Test func `what went to an account before it was a payee counts for the payee`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(["{payee,unknown}": "\"as_new\""])
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            let transfer = try Fixtures.transfer("600.00", payee: friend)
            #expect(try await world.approve(transfer, customer).isDecided)
            #expect(
                try await world.approve(Fixtures.newPayee(payee: friend), customer).isDecided)
            guard
                case .policy(.limitExceeded(.firstTransferMax, let allowed, _))? =
                    try await world.approve(transfer, customer).refusal
            else {
                Issue.record("the first transfers were counted twice over")
                return
            }
            #expect(allowed.decimal == "400.00")
        }
    }

    @Test func `a transfer that waits is cancelled when its customer lowers the limit`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(["{signals}": #"{"new_device": {"hold_s": 3600}}"#])
            let asked = try await world.ask(
                Fixtures.transfer("60.00"), customer, risk: ["signals": ["new_device"]])
            _ = try await world.bank.decide(world.command(.approve, asked, customer))
            #expect(try await world.bank.action(asked.id)?.execution == .held)
            #expect(
                try await world.approve(Fixtures.limitChange("50.00", limit: .singleMax), customer)
                    .isDecided)
            try await world.settleHolds()
            #expect(try await world.bank.action(asked.id)?.execution == .cancelled)
        }
    }

    @Test func `what nobody answers is released or cancelled as its rule says`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy([
                "{signals}":
                    #"{"new_device": {"hold_s": 60, "at_hold_end": "cancel"}, "sim_change": {"hold_s": 60}}"#
            ])
            var ends: [Execution?] = []
            for signal in ["new_device", "sim_change"] {
                let asked = try await world.ask(
                    Fixtures.transfer("1.00"), customer, risk: ["signals": [.string(signal)]])
                _ = try await world.bank.decide(world.command(.approve, asked, customer))
                try await world.settleHolds()
                ends.append(try await world.bank.action(asked.id)?.execution)
            }
            #expect(ends == [.cancelled, .ready])
        }
    }

    @Test func `the caps on the time before are filled and never passed by 64 at once`()
        async throws
    {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{daily_window}": "\"rolling_24h\"", "{currencies,EUR,daily_max}": "\"1000.00\"",
                "{open_challenges_max}": "100",
                "{velocity}": #"{"transfers_max": 100, "window_s": 3600}"#,
            ])
            let customer = try await world.customer()
            let transfers = try (0..<64).map { _ in try Fixtures.transfer("30.00") }
            #expect(try await world.storm(transfers, customer) == 33 * 3000)
            // Yesterday's are out of the window, whatever day they were on.
            try await world.test.sql(
                "UPDATE countersign.reservation SET reserved_at = reserved_at - interval '25 hours'"
            )
            #expect(try await world.approve(Fixtures.transfer("1000.00"), customer).isDecided)
        }
    }

    @Test func `as many transfers as the velocity allows, and as many payees as a day does`()
        async throws
    {
        try await DecisionWorld.with { world in
            try await world.policy([
                "{velocity}": #"{"transfers_max": 5, "window_s": 3600}"#,
                "{payee,new_per_day_max}": "2", "{open_challenges_max}": "100",
            ])
            let customer = try await world.customer()
            let transfers = try (0..<64).map { _ in try Fixtures.transfer("1.00") }
            #expect(try await world.storm(transfers, customer) == 500)
            let ibans = ["NL91ABNA0417164300", "BE68539007547034", "FR1420041010050500013M02606"]
            let outcomes = try await inParallel(ibans.count) { index in
                try await world.approve(
                    Fixtures.newPayee(payee: ("Ada Byron", ibans[index])), customer)
            }
            #expect(outcomes.count(where: \.isDecided) == 2)
        }
    }

    @Test func `an account that is no payee is treated as new where the policy says so`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            let stranger = try Fixtures.transfer(
                "600.00", payee: ("Ada Byron", "NL91ABNA0417164300"))
            #expect(try await world.approve(stranger, customer).refusal == .policy(.payeeUnknown))
            try await world.policy(["{payee,unknown}": "\"as_new\""])
            let asked = try await world.ask(stranger, customer)
            let outcome = try await world.bank.decide(world.command(.approve, asked, customer))
            #expect(outcome.isDecided)
            #expect(try await world.bank.action(asked.id)?.hold?.rule == .payeeCoolingOff)
            // All of them together are the first.
            guard
                case .policy(.limitExceeded(.firstTransferMax, let allowed, _))? =
                    try await world.approve(stranger, customer).refusal
            else {
                Issue.record("approved twice")
                return
            }
            #expect(allowed.decimal == "400.00")
            try await world.settleHolds()
            #expect(try await world.bank.action(asked.id)?.execution == .ready)
        }
    }

    @Test func `a list of payees tells what the customer's segment may send`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy([
                "{segments}": #"{"young": {"currencies": {"EUR": {"single_max": "30.00"}}}}"#
            ])
            var told: [String] = []
            for segment in ["retail", "young", "unheard_of"] {
                let payee = try #require(
                    try await world.bank.payees(of: customer.id, segment: segment).first)
                told.append("\(payee.allowance.amount.decimal) \(payee.allowance.rule)")
            }
            #expect(
                told == ["50000.00 single_max", "30.00 single_max", "50000.00 single_max"])
        }
    }

    @Test func `a creation tells what will apply`() async throws {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy(["{name_check}": #"{"no_match": {"hold_s": 3600}}"#])
            let outcome = try await world.bank.create(
                CreateActionCommand(
                    client: world.client, customerID: customer.id,
                    content: try Fixtures.transfer("1.00"), externalID: nil,
                    risk: ["name_check": "no_match"], idempotencyKey: "k-1"))
            guard case .created(let answer, _) = outcome, let json = JSON(recorded: answer) else {
                Issue.record("\(outcome)")
                return
            }
            #expect(json["forecast"]?["outcome"] == "allowed")
            #expect(json["forecast"]?["hold"]?["rule"] == "name_check")
            let much = try await world.bank.create(
                CreateActionCommand(
                    client: world.client, customerID: customer.id,
                    content: try Fixtures.transfer("60000.00"), externalID: nil, risk: nil,
                    idempotencyKey: "k-2"))
            guard case .created(let other, _) = much else { return }
            #expect(JSON(recorded: other)?["forecast"]?["rule"] == "single_max")
            #expect(JSON(recorded: other)?["forecast"]?["allowed"] == "50000.00")
        }
    }

    @Test func `a dry run finds every recorded verdict again, and tells what a draft changes`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy([
                "{signals}": #"{"new_device": {"hold_s": 60}}"#, "{open_challenges_max}": "100",
            ])
            for amount in ["10.00", "20.00", "60000.00"] {
                _ = try await world.approve(Fixtures.transfer(amount), customer)
            }
            _ = try await approve(
                Fixtures.transfer("30.00"), customer, in: world, risk: ["signals": ["new_device"]])
            let document = try #require(
                try await world.text(
                    "SELECT convert_from(document, 'UTF8') FROM countersign.policy ORDER BY version DESC LIMIT 1"
                ))
            let active = try #require(JSON(recorded: Bytes(document.utf8)))
            let simulate = SimulatePolicy(
                history: PostgresPolicyHistory(database: world.database), sha256: .openSSL)
            // As far as whoever asks can say.
            let latest = try #require(Instant(text: "9999-12-31T23:59:59.999Z"))
            let always = Instant(milliseconds: 0)..<latest
            #expect(always.lowerBound.isWritable && latest.isWritable)
            let same = try await simulate(
                try PolicyRules(document: active), over: always, changesMax: 10)
            #expect(same["decided"] == .integer(4))
            #expect(same["changed"] == .integer(0))
            #expect(same["undecidable"] == .integer(0))
            let draft = active.setting("currencies.EUR.single_max", to: "15.00")
            let report = try await simulate(
                try PolicyRules(document: draft), over: always, changesMax: 1)
            #expect(report["changed"] == .integer(2))
            #expect(
                report["outcomes"]?["refused"] == ["before": .integer(1), "after": .integer(3)])
            #expect(
                report["rules"]?["single_max"] == ["before": .integer(1), "after": .integer(3)])
            guard case .array(let changes)? = report["changes"] else { return }
            #expect(changes.count == 1)
            #expect(changes[0]["after"] == ["outcome": "refused", "rule": "single_max"])
        }
    }

    @Test func `every decision in evidence comes to the same when it is decided again`()
        async throws
    {
        try await DecisionWorld.with { world in
            let customer = try await world.customer()
            try await world.policy([
                "{signals}": #"{"new_device": {"hold_s": 60}, "rooted": {"refuse": true}}"#,
                "{velocity}": #"{"transfers_max": 4, "window_s": 3600}"#,
                "{limit_change}": #"{"delay_s": 60, "daily_max": {"EUR": "200000.00"}}"#,
            ])
            for content in [
                try Fixtures.transfer("10.00"), try Fixtures.newPayee(),
                try Fixtures.limitChange("900.00"), try Fixtures.limitChange("150000.00"),
            ] {
                for signals in [[], ["new_device"], ["rooted"]] as [JSON] {
                    _ = try await approve(
                        content, customer, in: world, risk: ["signals": signals])
                }
            }
            try await world.policy(["{currencies,EUR,single_max}": "\"5.00\""])
            _ = try await world.approve(Fixtures.transfer("5.01"), customer)
            _ = try await world.approve(Fixtures.contactChange(), customer)
            #expect(try await world.replayed() == [:])
        }
    }

    @Test func `a policy of an unknown time zone is not published`() async throws {
        try await DecisionWorld.with { world in
            for zone in ["Mars/Olympus", "localtime", "local", "posix/Europe/Berlin", "CET"] {
                await #expect(throws: (any Error).self, "\(zone)") {
                    try await world.policy(["{time_zone}": "\"\(zone)\""])
                }
            }
        }
    }
}
