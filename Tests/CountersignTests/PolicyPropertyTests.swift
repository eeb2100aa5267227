import Countersign
import TestSupport
import Testing

@Suite struct `Whatever the policy` {
    /// Paths of the rich document with other values, stricter and looser.
    private static let changes: [(String, [JSON?])] = [
        ("payee.cooling_off_s", [.integer(0), .integer(86_400), .integer(345_600)]),
        ("payee.mode", ["hold", "refuse"]),
        ("payee.new_period_s", [.integer(0), .integer(345_600), .integer(2_592_000)]),
        ("payee.unknown", ["refuse", "as_new"]),
        ("payee.new_per_day_max", [nil, .integer(0), .integer(5)]),
        ("velocity.transfers_max", [.integer(0), .integer(3), .integer(9)]),
        ("velocity", [nil, ["transfers_max": .integer(2), "window_s": .integer(3600)]]),
        ("new_credential_cooling_off_s.transfer", [.integer(0), .integer(3600), .integer(90_000)]),
        ("contact_change_hold_s", [.integer(0), .integer(86_400), .integer(200_000)]),
        ("recovery.hold_s", [.integer(86_400), .integer(604_800)]),
        ("recovery.payee_age_s", [.integer(0), .integer(31_536_000)]),
        ("recovery.held_approvals", ["cancel", "keep"]),
        ("factors.transfer", [["device_key", "passkey"], ["passkey"], ["device_key"], []]),
        ("factors_above", [nil, ["EUR": [["above": "50.00", "kinds": ["device_key"]]]]]),
        ("required_attestation", [nil, ["transfer": ["app-attest"]]]),
        (
            "backup_eligible",
            [
                nil, ["transfer": ["allowed": .bool(false)]],
                ["transfer": ["allowed": .bool(true), "max": ["EUR": "10.00"]]],
            ]
        ),
        ("currencies.EUR.single_max", ["100.00", "500.00", "900.00"]),
        ("currencies.EUR.daily_max", ["200.00", "1000.00", "3000.00"]),
        ("currencies.EUR.first_transfer_max", ["0.00", "100.00", "200.00"]),
        ("currencies.EUR.new_payee_sum_max", ["100.00", "250.00", "700.00"]),
        ("currencies.JPY", [nil]),
        ("signals.remote_access", [nil, ["hold_s": .integer(60)]]),
        ("signals.new_device.hold_s", [.integer(0), .integer(9000)]),
        ("signals.new_device.at_hold_end", ["release", "cancel"]),
        ("signals.sim_change.max.EUR", ["10.00", "90.00"]),
        ("signals.rooted.factors", [["device_key", "passkey"], []]),
        ("name_check.no_match", [nil, ["refuse": .bool(true)]]),
        ("limit_change", [nil]),
        (
            "assisted",
            [
                nil, ["hold_s": .integer(86_400)],
                ["hold_s": .integer(604_800), "max": ["EUR": "9.00"]],
            ]
        ),
        ("assisted.max.EUR", ["100.00", "600.00"]),
        ("limit_change.delay_s", [.integer(0), .integer(259_200)]),
        ("limit_change.daily_max.EUR", ["1000.00", "9000.00"]),
        ("segments.young.currencies.EUR.single_max", ["10.00", "400.00"]),
    ]

    /// Paths of what a policy says of keys.
    private static let demands: [(String, [JSON?])] = [
        ("factors.transfer", [["device_key", "passkey"], ["passkey"], ["device_key"], []]),
        ("factors.new_payee", [["device_key", "passkey"], ["passkey"], ["device_key"]]),
        (
            "factors_above",
            [
                nil, ["EUR": [["above": "50.00", "kinds": ["device_key"]]]],
                ["EUR": [["above": "50.00", "kinds": ["passkey"]]]],
            ]
        ),
        (
            "required_attestation",
            [
                nil, ["transfer": ["app-attest"]], ["transfer": ["android-biometric"]],
                ["transfer": ["app-attest", "android-biometric"]],
            ]
        ),
        (
            "backup_eligible",
            [
                nil, ["transfer": ["allowed": .bool(false)]],
                ["transfer": ["allowed": .bool(true), "max": ["EUR": "10.00"]]],
            ]
        ),
        (
            "signals.rooted",
            [
                nil, ["factors": ["passkey"]], ["factors": ["device_key"]],
                ["refuse": .bool(true)],
                ["refuse": .bool(true), "factors": ["device_key"]],
            ]
        ),
        ("segments.young.factors.transfer", [["passkey"], ["device_key"]]),
    ]

    private func policy(
        _ dice: inout SeededGenerator, changes count: Int,
        of changes: [(String, [JSON?])] = Self.changes
    ) throws -> Policy {
        while true {
            var document = Fixtures.richDocument
            for _ in 0..<count {
                let (path, values) = dice.pick(changes)
                document = document.setting(path, to: dice.pick(values))
            }
            // A part of what another change has left out is no document.
            guard let rules = try? PolicyRules(document: document) else { continue }
            return Policy(
                version: 3, digest: try #require(Digest(Fixtures.bytes32(9))), rules: rules)
        }
    }

    private func content(_ dice: inout SeededGenerator) throws -> ActionContent {
        let amount = dice.pick([
            "0.01", "10.00", "30.00", "100.00", "300.01", "400.01", "500.00", "900.00", "2000.00",
        ])
        switch dice.pick(ActionKind.allCases) {
        case .transfer: return try Fixtures.transfer(amount)
        case .newPayee: return try Fixtures.newPayee()
        case .contactChange: return try Fixtures.contactChange()
        case .limitChange:
            return try Fixtures.limitChange(amount, limit: dice.pick(OwnLimit.allCases))
        }
    }

    private func state(_ dice: inout SeededGenerator) -> RecordedState {
        let at = Fixtures.at
        let signals = ["remote_access", "new_device", "sim_change", "rooted", "weather"].filter {
            _ in dice.pick([true, false, false, false])
        }
        var state = Fixtures.state(
            contactHoldUntil: dice.pick([nil, at - Seconds(1), at + Seconds(500)]),
            payee: dice.pick([
                nil, Fixtures.establishedPayee, Fixtures.newPayee, Fixtures.paidPayee,
            ]),
            risk: RecordedRisk(
                segment: dice.pick(["retail", "young", "private"]), signals: signals,
                nameCheck: dice.pick([nil] + NameCheck.allCases)),
            recoveredAt: dice.pick([nil, at - Seconds(100_000), at]),
            ownLimits: RecordedState.OwnLimits(
                singleMax: dice.pick([nil, .init(0), .init(3000), .init(60_000, isRaised: true)]),
                dailyMax: dice.pick([nil, .init(20_000), .init(150_000, isRaised: true)])))
        state.used = RecordedState.Used(
            today: dice.pick([0, 10_000, 97_000]), last24h: dice.pick([0, 10_000]),
            whileNew: dice.pick([0, 9000, 24_000]), transfersInWindow: dice.pick([0, 2, 3]),
            newPayeesToday: dice.pick([0, 1, 2]))
        state.isAssisted = dice.pick([false, false, true])
        state.credential = dice.pick([
            nil,
            RecordedState.Credential(
                traits: CredentialTraits(
                    kind: dice.pick([.deviceKey, .passkey]),
                    profiles: dice.pick([[], [.appAttest], [.androidBiometric]]),
                    isBackupEligible: false),
                createdAt: dice.pick([at - Seconds(60), at - Seconds(90 * 86_400)])),
            RecordedState.Credential(
                traits: CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: true),
                createdAt: at - Seconds(90 * 86_400)),
        ])
        return state
    }

    /// Whether a verdict allows nothing that another does not, and holds what it allows at least as long.
    private func isAsStrict(_ verdict: PolicyVerdict, as other: PolicyVerdict) -> Bool {
        switch (verdict, other) {
        case (.refused, _): return true
        case (.allowed, .refused): return false
        case (.allowed(let mine), .allowed(let theirs)):
            let isHeld = theirs.hold.map { hold in
                (mine.hold?.until ?? .init(milliseconds: 0)) >= hold.until
                    && (mine.hold?.end == .cancel || hold.end == .release)
            }
            let times = theirs.payeeTimes.map { times in
                (mine.payeeTimes?.usableAt ?? Fixtures.at) >= times.usableAt
            }
            return isHeld ?? true && times ?? true
        }
    }

    @Test func `a stricter one never allows more`() throws {
        var dice = SeededGenerator(seed: 20_261_130)
        var compared = 0
        for _ in 0..<600 {
            let (loose, strict) = (
                try policy(&dice, changes: 3), try policy(&dice, changes: 3)
            )
            guard strict.rules.isAtLeastAsStrict(as: loose.rules) else { continue }
            for _ in 0..<40 {
                let (content, state) = (try content(&dice), state(&dice))
                compared += 1
                let (mine, theirs) = (strict.decide(content, state), loose.decide(content, state))
                #expect(
                    isAsStrict(mine, as: theirs),
                    "\(mine.line(at: Fixtures.at)) beside \(theirs.line(at: Fixtures.at)): \(content) \(state.members)"
                )
            }
        }
        // Otherwise the property held of nothing.
        #expect(compared > 1000)
    }

    /// Every key that these policies tell from another one.
    private static let keys: [CredentialTraits] = {
        let profiles: [[AttestationProfile]] = [
            [], [.appAttest], [.androidBiometric], [.appAttest, .androidBiometric],
        ]
        return profiles.flatMap { profiles in
            [
                CredentialTraits(kind: .deviceKey, profiles: profiles, isBackupEligible: false),
                CredentialTraits(kind: .passkey, profiles: profiles, isBackupEligible: false),
                CredentialTraits(kind: .passkey, profiles: profiles, isBackupEligible: true),
            ]
        }
    }()

    /// Else one person could let a weak key bring in a strong one that waits for the policy before.
    @Test func `a stricter one never lets a key vouch for more`() throws {
        var dice = SeededGenerator(seed: 20_261_201)
        var (accepted, refused) = (0, 0)
        for _ in 0..<1500 {
            let loose = try policy(&dice, changes: 2, of: Self.demands).rules
            let strict = try policy(&dice, changes: 4, of: Self.demands).rules
            guard strict.isAtLeastAsStrict(as: loose) else { continue }
            accepted += 1
            for voucher in Self.keys {
                for new in Self.keys where !loose.mayVouch(voucher, for: new) {
                    refused += 1
                    #expect(!strict.mayVouch(voucher, for: new), "\(voucher) for \(new)")
                }
            }
        }
        // Otherwise the property held of nothing.
        #expect(accepted > 20 && refused > 1000)
    }

    @Test func `it is as strict as itself, and one member less is not`() throws {
        let rich = try PolicyRules(document: Fixtures.richDocument)
        #expect(rich.isAtLeastAsStrict(as: rich))
        for (path, value) in [
            ("payee.cooling_off_s", .integer(86_399)), ("payee.mode", nil), ("payee.unknown", nil),
            ("payee.new_per_day_max", .integer(3)), ("payee.new_per_day_max", nil),
            ("payee.new_period_s", .integer(345_599)), ("velocity", nil),
            ("velocity.transfers_max", .integer(4)), ("recovery.hold_s", .integer(259_199)),
            ("recovery.payee_age_s", .integer(1)), ("recovery.held_approvals", "keep"),
            ("contact_change_hold_s", .integer(86_399)), ("factors_above", nil),
            ("new_credential_cooling_off_s.new_payee", .integer(7199)),
            ("backup_eligible", nil), ("currencies.EUR.daily_max", "1000.01"),
            ("signals.remote_access", nil), ("signals.new_device.hold_s", .integer(7199)),
            ("signals.new_device.at_hold_end", "release"), ("signals.sim_change.max.EUR", "30.01"),
            ("signals.sim_change.kinds", ["new_payee"]), ("signals.rooted.factors", nil),
            ("name_check.no_match", nil), ("limit_change.delay_s", .integer(43_199)),
            ("limit_change.single_max.EUR", "800.01"), ("attempts.per_customer", .integer(5)),
            ("attempts.lock_s", .integer(1799)), ("challenge_lifetime_s", .integer(301)),
            ("time_zone", "UTC"), ("daily_window", "rolling_24h"),
            ("segments.young.currencies.EUR.single_max", "30.01"), ("segments.young", nil),
            ("assisted.hold_s", .integer(172_799)), ("assisted.max.EUR", "200.01"),
            ("assisted.max.JPY", "1"),
        ] as [(String, JSON?)] {
            // What a missing word means is the looser of the two in neither of these.
            guard path != "payee.mode", path != "payee.unknown", path != "attempts.per_customer"
            else { continue }
            let changed = try PolicyRules(document: Fixtures.richDocument.setting(path, to: value))
            #expect(!changed.isAtLeastAsStrict(as: rich), "\(path)")
        }
    }

    @Test func `the same inputs give the same verdict, also after they were recorded`() throws {
        var dice = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let (policy, content, state) = (
                try policy(&dice, changes: 3), try content(&dice), state(&dice)
            )
            let read = try #require(RecordedState(decoding: state.encoded))
            #expect(read == state)
            #expect(policy.decide(content, read) == policy.decide(content, state))
        }
    }

    @Test func `records with another spelling are not read`() {
        let members = Fixtures.state().members
        for (name, value) in [
            ("at", "2026-11-30"), ("credential_kind", "sms"), ("name_check", "maybe"),
            ("used_today", "01"), ("used_today", ""), ("payee_id", "x"), ("signals", "b,a"),
            // Below zero: a cap less such a count would be no number at all.
            ("used_today", "-9223372036854775808"), ("used_today", "-1"), ("used_last_24h", "-1"),
            ("used_while_new", "-1"), ("transfers_in_window", "-1"), ("new_payees_today", "-1"),
            ("own_single_max", "-1"), ("own_daily_max", "-9223372036854775808"),
            ("credential_backup_eligible", "yes"), ("credential_profiles", "none"),
        ] {
            var changed = members
            changed[name] = value
            #expect(RecordedState(members: changed) == nil, "\(name)")
        }
        var more = members
        more["more"] = ""
        #expect(RecordedState(members: more) == nil)
    }
}
