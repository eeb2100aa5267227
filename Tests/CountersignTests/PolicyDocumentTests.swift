import Countersign
import TestSupport
import Testing

@Suite struct `Policy documents` {
    @Test func `say what the rules are`() throws {
        let rules = try Fixtures.policy().rules
        #expect(rules.timeZone == "Europe/Berlin")
        #expect(rules.homeCurrency.code == "EUR")
        #expect(rules.challengeLifetime == Seconds(300))
        #expect(rules.actionLifetime == Seconds(900))
        #expect(rules.openChallengesMax == 10)
        #expect(rules.attempts.perChallenge == 3)
        #expect(rules.attempts.perAction == 5)
        #expect(rules.attempts.perCustomer == 5)
        #expect(rules.attempts.lock == Seconds(1800))
        #expect(rules.payeeCoolingOff == Seconds(86_400))
        #expect(rules.payeeCoolingOffMode == .hold)
        #expect(rules.newPayeePeriod == Seconds(345_600))
        #expect(
            rules.newCredentialCoolingOff == [
                .transfer: Seconds(3600), .newPayee: Seconds(7200),
                .contactChange: Seconds(10_800), .limitChange: Seconds(10_800),
            ])
        #expect(rules.contactChangeHold == Seconds(86_400))
        #expect(rules.factors[.newPayee] == [.deviceKey, .passkey])
        let yen = try #require(rules.currencies[try Currency("JPY")])
        #expect(yen.singleMax.minorUnits == 50_000)
        #expect(yen.dailyMax.minorUnits == 100_000)
        #expect(yen.firstTransferMax.minorUnits == 10_000)
        #expect(yen.newPayeeSumMax.minorUnits == 25_000)
    }

    @Test func `that an installation starts with is one`() throws {
        let rules = try PolicyRules(document: RepositoryFiles.firstPolicy())
        #expect(rules.currencies.count == 16)
        #expect(rules.attempts.perCustomer <= PolicyRules.failuresMax)
        #expect(rules.challengeLifetime <= PolicyRules.challengeLifetimeMax)
        for (currency, limits) in rules.currencies {
            let ordered = [
                limits.firstTransferMax, limits.newPayeeSumMax, limits.singleMax, limits.dailyMax,
            ]
            #expect(ordered.map(\.minorUnits) == ordered.map(\.minorUnits).sorted(), "\(currency)")
        }
    }

    /// The bounds of the law and of sense; each row is the least and the most that is taken.
    @Test(
        arguments: [
            ("challenge_lifetime_s", 30, 600), ("action_lifetime_s", 60, 86_400),
            ("open_challenges_max", 1, 100), ("attempts.per_challenge", 1, 5),
            ("attempts.per_action", 1, 5), ("attempts.per_customer", 1, 5),
            ("attempts.lock_s", 300, 86_400), ("payee.cooling_off_s", 0, 345_600),
            ("payee.new_period_s", 0, 2_592_000), ("contact_change_hold_s", 0, 345_600),
            ("new_credential_cooling_off_s.transfer", 0, 259_200),
            ("new_credential_cooling_off_s.new_payee", 0, 259_200),
            ("new_credential_cooling_off_s.contact_change", 0, 259_200),
        ] as [(String, Int64, Int64)])
    func `are bounded`(path: String, least: Int64, most: Int64) throws {
        let name = path.split(separator: ".").last.map(String.init)
        func code(_ value: JSON?) -> String? {
            fault { () throws(PolicyFault) in
                try Fixtures.policy(setting: path, to: value)
            }
        }
        #expect(code(.integer(least)) == nil)
        #expect(code(.integer(most)) == nil)
        for wrong in [
            .integer(least - 1), .integer(most + 1), .integer(-1 - most), .integer(.max),
            .integer(.min), .string(String(least)), .fraction, .null, .bool(true), nil,
        ] as [JSON?] { #expect(code(wrong) == name) }
    }

    @Test(
        arguments: [
            ("version", "countersign/policy/2", "version"), ("version", nil, "version"),
            ("version", .integer(1), "version"), ("time_zone", nil, "time_zone"),
            ("time_zone", "", "time_zone"), ("time_zone", .integer(0), "time_zone"),
            ("attempts", nil, "per_challenge"), ("attempts", .null, "attempts"),
            ("payee", nil, "cooling_off_s"), ("payee.mode", "later", "mode"),
            ("payee.mode", nil, "mode"), ("payee.mode", "Hold", "mode"),
            ("new_credential_cooling_off_s", nil, "transfer"), ("factors", nil, "transfer"),
            ("factors.transfer", nil, "transfer"), ("factors.transfer", "passkey", "transfer"),
            ("factors.new_payee", ["sms"], "new_payee"),
            ("factors.contact_change", [.null], "contact_change"),
            ("currencies", nil, "currencies"), ("currencies", [], "currencies"),
            ("currencies", [:], "home_currency"), ("home_currency", "USD", "home_currency"),
            ("home_currency", nil, "currency_unknown"), ("currencies.XXX", [:], "currency_unknown"),
            ("currencies.EUR", [:], "single_max"), ("currencies.EUR.single_max", nil, "single_max"),
            ("currencies.EUR.daily_max", nil, "daily_max"),
            ("currencies.EUR.first_transfer_max", nil, "first_transfer_max"),
            ("currencies.EUR.new_payee_sum_max", nil, "new_payee_sum_max"),
            ("currencies.EUR.single_max", .integer(500), "single_max"),
            ("currencies.EUR.single_max", "500.001", "amount_decimals"),
            ("currencies.EUR.single_max", "-1.00", "amount_format"),
            ("currencies.JPY.single_max", "500.0", "amount_decimals"),
        ] as [(String, JSON?, String)])
    func `are refused with a member that is missing or wrong`(
        path: String, value: JSON?, code: String
    ) {
        #expect(
            fault { () throws(PolicyFault) in try Fixtures.policy(setting: path, to: value) }
                == code)
    }

    @Test func `let officers approve only what they say, and hold it for a day to a week`() throws {
        #expect(try Fixtures.policy().rules.assisted == nil)
        func code(_ path: String, _ value: JSON?) -> String? {
            fault { () throws(PolicyFault) in
                try Fixtures.policy(setting: [
                    ("assisted", ["hold_s": .integer(90_000), "max": ["EUR": "200.00"]]),
                    (path, value),
                ])
            }
        }
        for (value, isGood) in [
            (86_399, false), (86_400, true), (604_800, true), (604_801, false),
        ] as [(Int64, Bool)] {
            #expect((code("assisted.hold_s", .integer(value)) == nil) == isGood)
        }
        #expect(code("assisted.hold_s", nil) == "hold_s")
        #expect(code("assisted.max", nil) == nil)
        #expect(code("assisted.max.EUR", "200.001") == "amount_decimals")
        #expect(code("assisted.max.XXX", "1.00") == "currency_unknown")
        #expect(code("assisted.at_hold_end", "release") == "assisted")
    }

    @Test func `may forbid everything`() throws {
        #expect(
            try Fixtures.policy(setting: "factors.transfer", to: []).rules.factors[.transfer] == [])
        let zero = try Fixtures.policy(setting: "currencies.EUR.single_max", to: "0.00")
        #expect(zero.rules.currencies[try Currency("EUR")]?.singleMax.minorUnits == 0)
    }
}
