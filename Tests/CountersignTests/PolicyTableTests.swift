import Countersign
import TestSupport
import Testing

private typealias Change = (inout RecordedState) -> Void

/// One decision of the rich policy: what is asked, what is known, and the verdict in one line.
private struct Row {
    let name: String
    let content: ActionContent
    let change: Change
    let expected: String

    init(
        _ name: String, _ content: ActionContent, _ expected: String,
        _ change: @escaping Change = { _ in }
    ) {
        self.name = name
        self.content = content
        self.expected = expected
        self.change = change
    }
}

/// What the rules come to, with the boundary of each: the last that is taken and the first that is not.
@Suite struct `The table of decisions` {
    private let at = Fixtures.at

    private func pay(_ amount: String, _ currency: String = "EUR") throws -> ActionContent {
        try Fixtures.transfer(amount, currency: currency)
    }

    /// `amounts` are just below, at and just above a cap.
    private func boundary(
        _ name: String, _ amounts: (String, String, String), of currency: String = "EUR",
        refused: String, allowed: String = "allowed", _ change: @escaping Change = { _ in }
    ) throws -> [Row] {
        try [(amounts.0, allowed), (amounts.1, allowed), (amounts.2, refused)].map {
            Row("\(name) \($0.0) \(currency)", try pay($0.0, currency), $0.1, change)
        }
    }

    /// A hold that ends a millisecond after, at, and a millisecond before the decision.
    private func ending(
        _ rule: String, _ content: ActionContent,
        _ change: @escaping (inout RecordedState, Instant) -> Void
    ) -> [Row] {
        let now = at
        return [(Int64(1), "held 0.001 \(rule)"), (0, "allowed"), (-1, "allowed")].map {
            shift, expected in
            Row("\(rule) ends in \(shift) ms", content, expected) {
                change(&$0, Instant(milliseconds: now.milliseconds + shift))
            }
        }
    }

    private func passkey(_ isBackupEligible: Bool = false) -> Change {
        {
            $0.credential = RecordedState.Credential(
                traits: CredentialTraits(
                    kind: .passkey, profiles: [], isBackupEligible: isBackupEligible),
                createdAt: Fixtures.at - Seconds(90 * 86_400))
        }
    }

    private func amounts() throws -> [Row] {
        let passkey = passkey()
        let isNew: Change = { $0.payee = Fixtures.paidPayee }
        let isFirst: Change = { $0.payee = Fixtures.newPayee }
        return try boundary(
            "single", ("499.99", "500.00", "500.01"), refused: "refused single_max 500.00", passkey)
            + boundary(
                "single", ("49999", "50000", "50001"), of: "JPY",
                refused: "refused single_max 50000")
            + boundary("young", ("29.99", "30.00", "30.01"), refused: "refused single_max 30.00") {
                $0.risk = RecordedRisk(segment: "young", signals: [], nameCheck: nil)
            }
            + boundary(
                "first", ("99.99", "100.00", "100.01"),
                refused: "refused first_transfer_max 100.00", isFirst)
            + boundary(
                "first, part used", ("29.99", "30.00", "30.01"),
                refused: "refused first_transfer_max 30.00"
            ) {
                isFirst(&$0)
                $0.used.whileNew = 7000
            }
            + boundary(
                "first", ("9999", "10000", "10001"), of: "JPY",
                refused: "refused first_transfer_max 10000", isFirst)
            + boundary(
                "while new", ("29.99", "30.00", "30.01"), refused: "refused new_payee_sum_max 30.00"
            ) {
                isNew(&$0)
                $0.used.whileNew = 22_000
            }
            + boundary(
                "while new", ("4999", "5000", "5001"), of: "JPY",
                refused: "refused new_payee_sum_max 5000"
            ) {
                isNew(&$0)
                $0.used.whileNew = 20_000
            }
            + boundary("day", ("29.99", "30.00", "30.01"), refused: "refused daily_max 30.00") {
                $0.used.today = 97_000
            }
            + boundary("day", ("999", "1000", "1001"), of: "JPY", refused: "refused daily_max 1000")
        {
            $0.used.today = 99_000
        }
            + boundary("sim change", ("29.99", "30.00", "30.01"), refused: "refused risk_max 30.00")
        {
            $0.risk = RecordedRisk(segment: "retail", signals: ["sim_change"], nameCheck: nil)
        }
            + boundary(
                "no match", ("49.99", "50.00", "50.01"), refused: "refused risk_max 50.00",
                allowed: "held 3600 name_check"
            ) { $0.risk = RecordedRisk(segment: "retail", signals: [], nameCheck: .noMatch) }
    }

    private func ownAmounts() throws -> [Row] {
        let passkey = passkey()
        return try boundary(
            "own single", ("29.99", "30.00", "30.01"), refused: "refused single_max 30.00"
        ) {
            $0.ownLimits.singleMax = .init(3000)
        }
            + boundary("own day", ("29.99", "30.00", "30.01"), refused: "refused daily_max 30.00") {
                $0.ownLimits.dailyMax = .init(13_000)
                $0.used.today = 10_000
            }
            + boundary(
                "raised single", ("699.99", "700.00", "700.01"),
                refused: "refused single_max 700.00"
            ) {
                passkey(&$0)
                $0.ownLimits.singleMax = .init(70_000, isRaised: true)
            }
            + boundary(
                "raised beyond the policy", ("799.99", "800.00", "800.01"),
                refused: "refused single_max 800.00"
            ) {
                passkey(&$0)
                $0.ownLimits.singleMax = .init(90_000, isRaised: true)
            }
            + boundary(
                "set at the policy's, which was cut since", ("499.99", "500.00", "500.01"),
                refused: "refused single_max 500.00"
            ) {
                passkey(&$0)
                $0.ownLimits.singleMax = .init(70_000)
            }
    }

    private func factors() throws -> [Row] {
        let copied = passkey(true)
        return try boundary(
            "device key", ("399.99", "400.00", "400.01"), refused: "refused credential_not_allowed")
            + boundary(
                "synced passkey", ("299.99", "300.00", "300.01"),
                refused: "refused credential_not_allowed", copied)
            + boundary(
                "synced passkey", ("1", "2", "3"), of: "JPY",
                refused: "refused credential_not_allowed",
                allowed: "refused credential_not_allowed", copied)
            + [
                Row("rooted, device key", pay("1.00"), "refused credential_not_allowed") {
                    $0.risk = RecordedRisk(segment: "retail", signals: ["rooted"], nameCheck: nil)
                },
                Row("rooted, passkey", pay("1.00"), "allowed") {
                    passkey()(&$0)
                    $0.risk = RecordedRisk(segment: "retail", signals: ["rooted"], nameCheck: nil)
                },
            ]
    }

    private func holds() throws -> [Row] {
        let transfer = try pay("1.00")
        let payee = try Fixtures.newPayee()
        let contact = try Fixtures.contactChange()
        func cooling(_ kind: ActionKind, _ content: ActionContent, _ length: Int64) -> [Row] {
            ending("new_credential_cooling_off", content) { state, end in
                state.credential = RecordedState.Credential(
                    traits: CredentialTraits(
                        kind: .deviceKey, profiles: [], isBackupEligible: false),
                    createdAt: end - Seconds(length))
            }
        }
        return ending("payee_cooling_off", transfer) { state, end in
            state.payee = RecordedPayee(
                id: Fixtures.id(5), confirmedAt: end - Seconds(86_400), usableAt: end,
                newUntil: end + Seconds(1), firstExecutedAt: nil)
        }
            + cooling(.transfer, transfer, 3600) + cooling(.newPayee, payee, 7200)
            + cooling(.contactChange, contact, 10_800)
            + ending("contact_change_hold", transfer) { $0.contactHoldUntil = $1 }
            + ending("contact_change_hold", payee) { $0.contactHoldUntil = $1 }
            + ending("recovery_hold", transfer) { state, end in
                state.recoveredAt = end - Seconds(259_200)
                state.payee = Fixtures.paidPayee
            }
            + [(Int64(-1), "held 259200 recovery_hold"), (0, "allowed"), (1, "allowed")].map {
                shift, expected in
                Row("recovery, payee older by \(shift) ms", transfer, expected) {
                    $0.recoveredAt = $0.at
                    let old = $0.at.milliseconds - 2_592_000_000 - shift
                    $0.payee = RecordedPayee(
                        id: Fixtures.id(5), confirmedAt: Instant(milliseconds: old),
                        usableAt: Instant(milliseconds: old), newUntil: Instant(milliseconds: old),
                        firstExecutedAt: Instant(milliseconds: old))
                }
            }
    }

    private func signals() throws -> [Row] {
        func said(_ signals: [String], _ check: NameCheck? = nil) -> Change {
            { $0.risk = RecordedRisk(segment: "retail", signals: signals, nameCheck: check) }
        }
        let all: [ActionContent] = try [
            pay("1.00"), Fixtures.newPayee(), Fixtures.contactChange(),
            Fixtures.limitChange("1200.00"),
        ]
        let delayed = ["", "", "", " limit_change_delay"]
        return all.map {
            Row(
                "remote access \($0.kind)", $0, "refused signal:remote_access",
                said(["remote_access"]))
        }
            + zip(all, delayed).map { content, delay in
                Row(
                    "new device \(content.kind)", content,
                    delay.isEmpty ? "held 7200 signal cancel" : "held 43200 signal cancel",
                    said(["new_device"]))
            }
            + [
                Row("unknown signal", all[0], "allowed", said(["weather"])),
                Row("sim change is for transfers", all[1], "allowed", said(["sim_change"])),
                Row(
                    "two signals, the refusal first", all[0], "refused signal:remote_access",
                    said(["new_device", "remote_access"])),
                Row(
                    "a short hold that cancels beside a long one", all[0],
                    "held 7200 signal cancel", said(["new_device"], .noMatch)),
                Row("match", all[0], "allowed", said([], .match)),
                Row("close match", all[0], "allowed", said([], .closeMatch)),
                Row("not possible", all[0], "held 60 name_check", said([], .notPossible)),
                Row("no match of a new payee", all[1], "held 3600 name_check", said([], .noMatch)),
            ]
    }

    private func counts() throws -> [Row] {
        let transfer = try pay("1.00")
        let payee = try Fixtures.newPayee()
        return [
            (Int64(0), "allowed"), (2, "allowed"), (3, "refused velocity"), (4, "refused velocity"),
        ].map { used, expected in
            Row("velocity \(used)", transfer, expected) { $0.used.transfersInWindow = used }
        }
            + [
                (Int64(0), "allowed"), (1, "allowed"), (2, "refused new_payees_per_day"),
                (9, "refused new_payees_per_day"),
            ].map { used, expected in
                Row("payees \(used)", payee, expected) { $0.used.newPayeesToday = used }
            }
    }

    private func unknowns() throws -> [Row] {
        let unknown: Change = { $0.payee = nil }
        return try boundary(
            "no payee", ("99.99", "100.00", "100.01"), refused: "refused first_transfer_max 100.00",
            allowed: "held 86400 payee_cooling_off", unknown)
            + boundary(
                "no payee, part used", ("29.99", "30.00", "30.01"),
                refused: "refused first_transfer_max 30.00", allowed: "held 86400 payee_cooling_off"
            ) {
                $0.payee = nil
                $0.used.whileNew = 7000
            }
            + [
                Row(
                    "no limits of this currency", pay("1.00", "USD"), "refused currency_not_allowed"
                ),
                Row(
                    "none for own limits either", Fixtures.limitChange("1.00", currency: "USD"),
                    "refused currency_not_allowed"),
            ]
    }

    private func ownLimits() throws -> [Row] {
        func change(_ amount: String, _ limit: OwnLimit = .dailyMax) throws -> ActionContent {
            try Fixtures.limitChange(amount, limit: limit)
        }
        let lowered: Change = { $0.ownLimits.dailyMax = .init(5000) }
        return try [
            Row("lower", change("999.99"), "allowed"),
            Row("the same", change("1000.00"), "allowed"),
            Row("raise", change("1000.01"), "held 43200 limit_change_delay"),
            Row("to nothing", change("0.00"), "allowed"),
            Row("to the most", change("2000.00"), "held 43200 limit_change_delay"),
            Row("beyond", change("2000.01"), "refused limit_change_max 2000.00"),
            Row(
                "single to the most", change("800.00", .singleMax), "held 43200 limit_change_delay"),
            Row("single beyond", change("800.01", .singleMax), "refused limit_change_max 800.00"),
            Row("back up is a raise", change("50.01"), "held 43200 limit_change_delay", lowered),
            Row("lower still", change("49.99"), "allowed", lowered),
            Row(
                "yen cannot be raised", Fixtures.limitChange("100001", currency: "JPY"),
                "refused limit_change_max 100000"),
            Row("but lowered", Fixtures.limitChange("99999", currency: "JPY"), "allowed"),
            Row("a lower limit does not wait for a young key", change("1.00"), "allowed") {
                $0.contactHoldUntil = $0.at + Seconds(60)
            },
            Row(
                "a raise waits for the longest", change("1000.01"), "held 50000 contact_change_hold"
            ) {
                $0.contactHoldUntil = $0.at + Seconds(50_000)
            },
        ]
    }

    @Test func `has at least 120 rows, and every row holds`() throws {
        let rows =
            try amounts() + ownAmounts() + factors() + holds() + signals() + counts() + unknowns()
            + ownLimits()
        let policy = Policy(
            version: 3, digest: try #require(Digest(Fixtures.bytes32(9))),
            rules: try PolicyRules(document: Fixtures.richDocument))
        for row in rows {
            var state = Fixtures.state()
            row.change(&state)
            #expect(policy.decide(row.content, state).line(at: at) == row.expected, "\(row.name)")
        }
        #expect(rows.count >= 120)
    }

    /// 29.999 is a whole number of thousandths of a dinar, and none of the cents of a euro.
    @Test func `counts in the unit of the currency`() throws {
        let dinars = Fixtures.richDocument.setting(
            "currencies.KWD",
            to: [
                "single_max": "30.000", "daily_max": "60.000", "first_transfer_max": "10.000",
                "new_payee_sum_max": "20.000",
            ])
        let policy = Policy(
            version: 3, digest: try #require(Digest(Fixtures.bytes32(9))),
            rules: try PolicyRules(document: dinars))
        for (amount, expected) in [
            ("29.999", "allowed"), ("30.000", "allowed"), ("30.001", "refused single_max 30.000"),
        ] {
            let verdict = policy.decide(try pay(amount, "KWD"), Fixtures.state())
            #expect(verdict.line(at: at) == expected)
        }
    }

    @Test func `a rolling day looks at 24 hours, a calendar day at the bank's`() throws {
        var state = Fixtures.state()
        state.used = RecordedState.Used(today: 100_000, last24h: 0)
        let rolling = try Fixtures.policy(setting: "daily_window", to: "rolling_24h")
        #expect(rolling.decide(try pay("1.00"), state).line(at: at) == "allowed")
        #expect(
            try Fixtures.policy().decide(try pay("1.00"), state).line(at: at)
                == "refused daily_max 0.00")
        state.used = RecordedState.Used(today: 0, last24h: 100_000)
        #expect(rolling.decide(try pay("1.00"), state).line(at: at) == "refused daily_max 0.00")
        #expect(try Fixtures.policy().decide(try pay("1.00"), state).line(at: at) == "allowed")
    }
}
