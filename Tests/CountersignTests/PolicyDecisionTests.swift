import Countersign
import TestSupport
import Testing

extension PolicyVerdict {
    fileprivate var refusal: PolicyRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    fileprivate var allowance: Allowance? {
        if case .allowed(let allowance) = self { allowance } else { nil }
    }
}

private func euros(_ text: String) throws -> Money {
    try Money(limit: text, currency: Currency("EUR"))
}

/// The fixtures' policy: single 500, day 1000, first 100, while new 250.
@Suite struct `Limits on transfers` {
    let policy: Policy

    init() throws { policy = try Fixtures.policy() }

    private func limit(
        _ amount: String, _ state: RecordedState
    ) throws -> (PolicyRefusal.Limit, Int64, String?)? {
        guard
            case .limitExceeded(let limit, let allowed, let window)? =
                policy.decide(try Fixtures.transfer(amount), state).refusal
        else { return nil }
        return (limit, allowed.minorUnits, window)
    }

    /// At each limit the last cent is allowed and one more is refused.
    @Test func `allow the last minor unit and refuse one more`() throws {
        let old = Fixtures.state()
        let busy = Fixtures.state(usedToday: 80_000)
        let full = Fixtures.state(usedToday: 100_000)
        let over = Fixtures.state(usedToday: 100_001)
        let fresh = Fixtures.state(payee: Fixtures.newPayee)
        let sent = Fixtures.state(payee: Fixtures.paidPayee, usedWhileNew: 20_000)
        let asked = Fixtures.state(payee: Fixtures.newPayee, usedWhileNew: 4000)
        let rows: [(String, RecordedState, PolicyRefusal.Limit?, Int64, String?)] = [
            ("500.00", old, nil, 0, nil), ("500.01", old, .singleMax, 50_000, nil),
            ("200.00", busy, nil, 0, nil), ("200.01", busy, .dailyMax, 20_000, Fixtures.bankDay),
            ("0.01", full, .dailyMax, 0, Fixtures.bankDay),
            ("0.01", over, .dailyMax, 0, Fixtures.bankDay),
            ("100.00", fresh, nil, 0, nil), ("100.01", fresh, .firstTransferMax, 10_000, nil),
            ("50.00", sent, nil, 0, nil), ("50.01", sent, .newPayeeSumMax, 5000, "while_new"),
            // Until the first was executed, all together are the first.
            ("60.00", asked, nil, 0, nil), ("60.01", asked, .firstTransferMax, 6000, nil),
        ]
        for (amount, state, expected, allowed, window) in rows {
            let found = try limit(amount, state)
            #expect(found?.0 == expected, "\(amount)")
            guard let found else { continue }
            #expect(found.1 == allowed)
            #expect(found.2 == window)
        }
    }

    @Test func `are told in their order: single, first, while new, day`() throws {
        let all = Fixtures.state(
            payee: Fixtures.paidPayee, usedToday: 100_000, usedWhileNew: 25_000)
        #expect(try limit("500.01", all)?.0 == .singleMax)
        #expect(try limit("500.00", all)?.0 == .firstTransferMax)
        #expect(try limit("100.00", all)?.0 == .newPayeeSumMax)
        let day = Fixtures.state(payee: Fixtures.newPayee, usedToday: 100_000)
        #expect(try limit("100.00", day)?.0 == .dailyMax)
    }

    @Test func `are counted in the currency's own unit`() throws {
        let yen = try Fixtures.transfer("50000", currency: "JPY")
        #expect(policy.decide(yen, Fixtures.state()).allowance != nil)
        let more = try Fixtures.transfer("50001", currency: "JPY")
        #expect(policy.decide(more, Fixtures.state()).refusal != nil)
    }

    @Test func `refuse a currency that the policy does not name`() throws {
        let francs = try Fixtures.transfer(currency: "CHF")
        #expect(
            policy.decide(francs, Fixtures.state()).refusal
                == .currencyNotAllowed(try Currency("CHF")))
    }

    @Test func `of a new payee hold until its period is over and one transfer was executed`() throws
    {
        let at = Fixtures.at
        let rows: [(newUntil: Instant, executed: Instant?, isNew: Bool)] = [
            (at + Seconds(1), nil, true), (at + Seconds(1), at - Seconds(60), true),
            (at, nil, true), (at - Seconds(86_400), nil, true),
            (Instant(milliseconds: at.milliseconds + 1), at - Seconds(1), true),
            (at, at - Seconds(1), false), (at - Seconds(1), at, false),
        ]
        for row in rows {
            let payee = RecordedPayee(
                id: Fixtures.id(5), confirmedAt: Fixtures.at - Seconds(86_400),
                usableAt: at - Seconds(60), newUntil: row.newUntil,
                firstExecutedAt: row.executed)
            let verdict = policy.decide(
                try Fixtures.transfer("100.01"), Fixtures.state(payee: payee))
            #expect((verdict.refusal != nil) == row.isNew, "\(row)")
            #expect(payee.isNew(at: at) == row.isNew)
        }
    }

    @Test func `reserve for the day, and while a payee is new for it as well`() throws {
        let content = try Fixtures.transfer("100.00")
        let old = try #require(policy.decide(content, Fixtures.state()).allowance)
        let day = "day:EUR 2026-01-05 10000/100000"
        #expect(old.reservations.map(text) == [day])
        let fresh = try #require(
            policy.decide(content, Fixtures.state(payee: Fixtures.newPayee)).allowance)
        let whileNew = "new_payee:\(Fixtures.newPayee.id.text):EUR 1970-01-01 10000/25000"
        #expect(fresh.reservations.map(text) == [day, whileNew])
        #expect(old.payeeTimes == nil)
        #expect(old.contactHoldUntil == nil)
    }
}

private func text(_ reservation: Reservation) -> String {
    "\(reservation.dimension) \(reservation.windowStart) \(reservation.amount)/\(reservation.cap)"
}

@Suite struct `Refusals by policy` {
    /// Everything is wrong at first; each row mends one thing more.
    @Test func `come in the documented order`() throws {
        let policy = try Fixtures.policy(setting: "payee.mode", to: "refuse")
        let unusable = RecordedPayee(
            id: Fixtures.id(5), confirmedAt: Fixtures.at - Seconds(86_400),
            usableAt: Fixtures.at + Seconds(1),
            newUntil: Fixtures.at + Seconds(100), firstExecutedAt: nil)
        let factor = try Fixtures.policy(setting: "factors.transfer", to: ["passkey"])
        let francs = try Fixtures.transfer("500.01", currency: "CHF")
        #expect(
            factor.decide(francs, Fixtures.state(payee: nil)).refusal
                == .credentialNotAllowed(
                    CredentialDemand(kinds: [.passkey], profiles: [], backupEligible: true)))
        #expect(policy.decide(francs, Fixtures.state(payee: nil)).refusal == .payeeUnknown)
        #expect(
            policy.decide(francs, Fixtures.state(payee: unusable)).refusal
                == .payeeNotUsable(usableAt: Fixtures.at + Seconds(1)))
        #expect(
            policy.decide(francs, Fixtures.state(payee: Fixtures.newPayee)).refusal
                == .currencyNotAllowed(try Currency("CHF")))
        let euro = try Fixtures.transfer("500.01")
        #expect(
            policy.decide(euro, Fixtures.state(payee: Fixtures.newPayee)).refusal
                == .limitExceeded(limit: .singleMax, allowed: try euros("500.00"), window: nil))
    }

    @Test(arguments: ActionKind.allCases, [CredentialKind.deviceKey, .passkey])
    func `name the credentials that would do`(kind: ActionKind, credential: CredentialKind) throws {
        let other: CredentialKind = credential == .passkey ? .deviceKey : .passkey
        let policy = try Fixtures.policy(
            setting: "factors.\(kind.rawValue)", to: [.string(other.rawValue)])
        let content = try Fixtures.content(kind)
        #expect(
            policy.decide(content, Fixtures.state(credentialKind: credential)).refusal
                == .credentialNotAllowed(
                    CredentialDemand(kinds: [other], profiles: [], backupEligible: true)))
        #expect(
            policy.decide(content, Fixtures.state(credentialKind: other)).allowance != nil)
        let nothing = try Fixtures.policy(setting: "factors.\(kind.rawValue)", to: [])
        #expect(
            nothing.decide(content, Fixtures.state(credentialKind: other)).refusal
                == .credentialNotAllowed(
                    CredentialDemand(kinds: [], profiles: [], backupEligible: true)))
    }

    @Test func `of a payee in its cooling-off end to the instant`() throws {
        let policy = try Fixtures.policy(setting: "payee.mode", to: "refuse")
        let content = try Fixtures.transfer("100.00")
        func verdict(usableAt: Instant) -> PolicyVerdict {
            let payee = RecordedPayee(
                id: Fixtures.id(5), confirmedAt: Fixtures.at - Seconds(86_400), usableAt: usableAt,
                newUntil: usableAt, firstExecutedAt: nil)
            return policy.decide(content, Fixtures.state(payee: payee))
        }
        let later = Instant(milliseconds: Fixtures.at.milliseconds + 1)
        #expect(verdict(usableAt: later).refusal == .payeeNotUsable(usableAt: later))
        let allowance = try #require(verdict(usableAt: Fixtures.at).allowance)
        #expect(allowance.hold == nil)
    }
}

@Suite struct `Holds` {
    let policy: Policy
    private let at = Fixtures.at

    init() throws { policy = try Fixtures.policy() }

    private func hold(_ content: ActionContent, _ state: RecordedState) throws -> Hold? {
        try #require(policy.decide(content, state).allowance).hold
    }

    private func coolingPayee(until: Instant) -> RecordedPayee {
        RecordedPayee(
            id: Fixtures.id(5), confirmedAt: Fixtures.at - Seconds(86_400), usableAt: until,
            newUntil: at + Seconds(345_600),
            firstExecutedAt: nil)
    }

    @Test func `of a payee's cooling-off end to the instant`() throws {
        let content = try Fixtures.transfer("100.00")
        let until = Instant(milliseconds: at.milliseconds + 1)
        #expect(
            try hold(content, Fixtures.state(payee: coolingPayee(until: until)))
                == Hold(until: until, rule: .payeeCoolingOff, end: .release))
        #expect(try hold(content, Fixtures.state(payee: coolingPayee(until: at))) == nil)
    }

    @Test(
        arguments: [
            (ActionKind.transfer, 3600), (.newPayee, 7200), (.contactChange, 10_800),
        ] as [(ActionKind, Int64)])
    func `of a new credential have a length for each kind`(kind: ActionKind, length: Int64) throws {
        let content = try Fixtures.content(kind)
        let young = Fixtures.state(credentialCreatedAt: at - Seconds(length - 1))
        #expect(
            try hold(content, young)
                == Hold(until: at + Seconds(1), rule: .newCredentialCoolingOff, end: .release))
        let old = Fixtures.state(credentialCreatedAt: at - Seconds(length))
        #expect(try hold(content, old) == nil)
    }

    @Test(arguments: ActionKind.allCases)
    func `after a contact change stop what moves money`(kind: ActionKind) throws {
        let content = try Fixtures.content(kind)
        let until = at + Seconds(10)
        let held = try hold(content, Fixtures.state(contactHoldUntil: until))
        #expect(
            held
                // What only makes a limit lower waits for nothing.
                == ([.contactChange, .limitChange].contains(kind)
                    ? nil : Hold(until: until, rule: .contactChangeHold, end: .release)))
        #expect(try hold(content, Fixtures.state(contactHoldUntil: at)) == nil)
    }

    /// All three at once, each in turn the latest.
    @Test func `are the latest of all that apply`() throws {
        let content = try Fixtures.transfer("100.00")
        let rows: [(payee: Int64, credential: Int64, contact: Int64, rule: Hold.Rule)] = [
            (30, 20, 10, .payeeCoolingOff), (10, 30, 20, .newCredentialCoolingOff),
            (20, 10, 30, .contactChangeHold), (30, 10, 20, .payeeCoolingOff),
            (10, 20, 30, .contactChangeHold), (20, 30, 10, .newCredentialCoolingOff),
            (30, 30, 30, .payeeCoolingOff), (10, 30, 30, .newCredentialCoolingOff),
        ]
        for row in rows {
            let state = Fixtures.state(
                contactHoldUntil: at + Seconds(row.contact),
                credentialCreatedAt: at - Seconds(3600 - row.credential),
                payee: coolingPayee(until: at + Seconds(row.payee)))
            #expect(
                try hold(content, state)
                    == Hold(until: at + Seconds(30), rule: row.rule, end: .release), "\(row)")
        }
    }

    @Test func `of a contact change begins when the change itself has waited`() throws {
        let young = Fixtures.state(credentialCreatedAt: at)
        let allowance = try #require(policy.decide(try Fixtures.contactChange(), young).allowance)
        #expect(allowance.hold?.until == at + Seconds(10_800))
        #expect(allowance.contactHoldUntil == at + Seconds(10_800 + 86_400))
    }

    /// The clock starts at the signed confirmation (HP-T3), or when its own hold ends.
    @Test func `of a new payee's confirmation hold the payee too`() throws {
        let content = try Fixtures.newPayee()
        let plain = try #require(policy.decide(content, Fixtures.state()).allowance)
        #expect(plain.payeeTimes?.usableAt == at + Seconds(86_400))
        #expect(plain.payeeTimes?.newUntil == at + Seconds(345_600))
        #expect(plain.reservations.map(\.dimension) == [Reservation.newPayees])
        let held = Fixtures.state(contactHoldUntil: at + Seconds(100_000))
        #expect(
            try #require(policy.decide(content, held).allowance).payeeTimes?.usableAt
                == at + Seconds(100_000))
        let shorter = Fixtures.state(contactHoldUntil: at + Seconds(1000))
        #expect(
            try #require(policy.decide(content, shorter).allowance).payeeTimes?.usableAt
                == at + Seconds(86_400))
    }

    @Test func `follow a contact change for the time of the policy`() throws {
        let allowance = try #require(
            policy.decide(try Fixtures.contactChange(), Fixtures.state()).allowance)
        #expect(allowance.contactHoldUntil == at + Seconds(86_400))
        #expect(allowance.payeeTimes == nil)
    }

    @Test func `in refuse mode are only those of other rules`() throws {
        let refusing = try Fixtures.policy(setting: "payee.mode", to: "refuse")
        let state = Fixtures.state(contactHoldUntil: at + Seconds(5))
        let verdict = refusing.decide(try Fixtures.transfer("100.00"), state)
        #expect(
            verdict.allowance?.hold
                == Hold(until: at + Seconds(5), rule: .contactChangeHold, end: .release))
    }
}
