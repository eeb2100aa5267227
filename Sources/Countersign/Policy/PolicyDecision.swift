extension Policy {
    /// Decides on an action. Pure: the same three inputs always give the same verdict.
    ///
    /// Without a credential in the state it says what would apply to the best one.
    package func decide(_ content: ActionContent, _ state: RecordedState) -> PolicyVerdict {
        let ruling = RuleSet(rules.of(segment: state.risk.segment), content.kind, state)
        if let rule = ruling.refusingRule { return .refused(.riskRefused(rule: rule)) }
        let demand = ruling.rules.demand(for: content, under: ruling.measures)
        if let credential = state.credential, !demand.isMet(by: credential.traits) {
            return .refused(.credentialNotAllowed(demand))
        }
        switch content {
        case .transfer(let transfer): return ruling.decide(transfer)
        case .newPayee: return ruling.decideNewPayee()
        case .contactChange: return ruling.decideContactChange()
        case .limitChange(let change): return ruling.decide(change)
        }
    }
}

/// The rules that apply to one decision, with what it looks at.
struct RuleSet {
    let rules: PolicyRules
    let kind: ActionKind
    let state: RecordedState
    let measures: [AppliedMeasure]

    init(_ rules: PolicyRules, _ kind: ActionKind, _ state: RecordedState) {
        self.rules = rules
        self.kind = kind
        self.state = state
        measures = rules.measures(for: kind, state.risk)
    }

    /// The first measure that refuses outright.
    var refusingRule: String? { measures.first { $0.measure.refuses }?.rule }

    // MARK: holds

    var credentialHold: Hold? {
        guard let credential = state.credential else { return nil }
        return hold(
            until: credential.createdAt + (rules.newCredentialCoolingOff[kind] ?? Seconds(0)),
            .newCredentialCoolingOff)
    }

    var contactHold: Hold? {
        state.contactHoldUntil.flatMap { hold(until: $0, .contactChangeHold) }
    }

    var measureHolds: [Hold?] {
        measures.map { entry in
            hold(until: state.at + entry.measure.hold, entry.holdRule, at: entry.measure.holdEnd)
        }
    }

    /// After a recovery, transfers to payees that whoever took over may have added.
    func recoveryHold(_ payee: RecordedPayee?) -> Hold? {
        guard let recoveredAt = state.recoveredAt else { return nil }
        // The age that counts is that at the recovery: whoever took over may have waited since.
        if let payee, payee.confirmedAt + rules.recovery.payeeAge <= recoveredAt { return nil }
        return hold(until: recoveredAt + rules.recovery.hold, .recoveryHold)
    }

    /// A hold that has ended holds nothing.
    func hold(until: Instant, _ rule: Hold.Rule, at end: Hold.End = .release) -> Hold? {
        until > state.at ? Hold(until: until, rule: rule, end: end) : nil
    }

    // MARK: contact data

    /// What follows is held from when the change takes effect: until then the old contact can object.
    func decideContactChange() -> PolicyVerdict {
        let hold = Hold.all([credentialHold] + measureHolds)
        return .allowed(
            Allowance(
                hold: hold,
                contactHoldUntil: max(state.at, hold?.until ?? state.at) + rules.contactChangeHold))
    }

    // MARK: new payees

    func decideNewPayee() -> PolicyVerdict {
        if let max = rules.newPayeesPerDayMax, state.used.newPayeesToday >= max {
            return .refused(
                .countExceeded(limit: .newPayeesPerDay, max: max, window: state.bankDay))
        }
        let hold = Hold.all([credentialHold, contactHold] + measureHolds)
        return .allowed(
            Allowance(
                hold: hold,
                reservations: [
                    Reservation(
                        dimension: Reservation.newPayees, windowStart: state.bankDay, amount: 1,
                        cap: rules.newPayeesPerDayMax.map(Int64.init) ?? Reservation.uncapped)
                ],
                // The clock starts at the signed confirmation; a hold of the confirmation itself holds
                // the payee.
                payeeTimes: Allowance.PayeeTimes(
                    usableAt: max(state.at + rules.payeeCoolingOff, hold?.until ?? state.at),
                    newUntil: state.at + rules.newPayeePeriod)))
    }

    // MARK: a customer's own limits

    /// The cap that holds for a customer: the own one, and above the policy's only with a raise behind it,
    /// as far as the policy lets customers raise.
    func cap(_ limit: OwnLimit, _ currency: Currency) -> Int64? {
        guard let limits = rules.currencies[currency] else { return nil }
        let usual = limits[limit].minorUnits
        guard let own = state.ownLimits[limit] else { return usual }
        guard own.isRaised else { return min(own.minorUnits, usual) }
        let most = rules.limitChange?.max(limit, currency)?.minorUnits ?? usual
        return min(own.minorUnits, max(usual, most))
    }

    func decide(_ change: LimitChange) -> PolicyVerdict {
        let currency = change.amount.currency
        guard let before = cap(change.limit, currency), let limits = rules.currencies[currency]
        else { return .refused(.currencyNotAllowed(currency)) }
        let holds = [credentialHold, contactHold] + measureHolds
        guard change.amount.minorUnits > before else {
            // What only makes it stricter waits for nothing but its own doubts: HP-T8.
            return .allowed(Allowance(hold: nil, limitBefore: before))
        }
        let most = max(
            limits[change.limit].minorUnits,
            rules.limitChange?.max(change.limit, currency)?.minorUnits ?? 0)
        guard change.amount.minorUnits <= most else {
            return .refused(
                .limitExceeded(
                    limit: .limitChangeMax, allowed: Money(minorUnits: most, currency: currency),
                    window: nil))
        }
        // Going back to what the policy gives everybody is a raise too.
        let delay = rules.limitChange?.delay ?? PolicyRules.limitRaiseDelay
        return .allowed(
            Allowance(
                hold: Hold.all(holds + [hold(until: state.at + delay, .limitChangeDelay)]),
                limitBefore: before))
    }
}

extension PolicyRules {
    /// How long the raise of a lowered limit waits under a policy that says nothing of raises.
    /// Source: standards HP-09.
    package static let limitRaiseDelay = Seconds(43_200)
}

extension PolicyRules.CurrencyLimits {
    /// The policy's limit of this name.
    subscript(limit: OwnLimit) -> Money {
        switch limit {
        case .singleMax: singleMax
        case .dailyMax: dailyMax
        }
    }
}

extension Hold {
    /// All holds as one: until the last of them ends, by the rule of that one. If any ends in a
    /// cancellation, so does the whole, by the rule of the last that does: nobody has answered it.
    static func all(_ holds: [Hold?]) -> Hold? {
        let holds = holds.compactMap { $0 }
        guard let until = holds.map(\.until).max() else { return nil }
        let decisive = holds.filter { $0.end == .cancel }
        let last = (decisive.isEmpty ? holds : decisive).reduce(nil as Hold?) { last, hold in
            guard let last, last.until >= hold.until else { return hold }
            return last
        }
        return last.map { Hold(until: until, rule: $0.rule, end: $0.end) }
    }
}
