extension RuleSet {
    /// Decides on a transfer whose credential will do.
    func decide(_ transfer: Transfer) -> PolicyVerdict {
        let currency = transfer.amount.currency
        let payee = state.payee
        if payee == nil, !takesUnknownPayees { return .refused(.payeeUnknown) }
        if rules.payeeCoolingOffMode == .refuse, let payee, payee.usableAt > state.at {
            return .refused(.payeeNotUsable(usableAt: payee.usableAt))
        }
        guard let caps = caps(in: currency) else { return .refused(.currencyNotAllowed(currency)) }
        if let refusal = exceeded(transfer.amount, caps) { return .refused(refusal) }
        return .allowed(
            Allowance(
                hold: transferHold(payee), reservations: reservations(transfer, caps),
                ceilings: ceilings(transfer.amount, caps)))
    }

    /// Everything that holds a transfer to the payee.
    func transferHold(_ payee: RecordedPayee?) -> Hold? {
        let usableAt = payee?.usableAt ?? state.at + rules.payeeCoolingOff
        return Hold.all(
            [
                hold(until: usableAt, .payeeCoolingOff), credentialHold, assistedHold, contactHold,
                recoveryHold(payee),
            ] + measureHolds)
    }

    /// The caps that hold for this customer in this currency.
    struct Caps {
        let limits: PolicyRules.CurrencyLimits
        let single: Int64
        let daily: Int64
    }

    /// The caps that hold in a currency; `nil` in one that the policy does not name.
    func caps(in currency: Currency) -> Caps? {
        guard let limits = rules.currencies[currency], let single = cap(.singleMax, currency),
            let daily = cap(.dailyMax, currency)
        else { return nil }
        return Caps(limits: limits, single: single, daily: daily)
    }

    /// An account that is no payee could never be waited for where the policy refuses meanwhile.
    private var takesUnknownPayees: Bool {
        rules.unknownPayee == .asNew && rules.payeeCoolingOffMode == .hold
    }

    private var isNew: Bool { state.payee?.isNew(at: state.at) ?? true }

    /// What a cap leaves for one more transfer.
    struct Left {
        let limit: PolicyRefusal.Limit
        let amount: Int64
        let window: String?
    }

    /// What each cap on money leaves, in the order in which they are documented.
    func left(in currency: Currency, _ caps: Caps) -> [Left] {
        func left(
            _ limit: PolicyRefusal.Limit, _ cap: Int64, used: Int64 = 0, window: String? = nil
        ) -> Left {
            Left(limit: limit, amount: max(0, cap - used), window: window)
        }
        var all = [left(.singleMax, caps.single)]
        if state.isAssisted {
            all.append(left(.assistedMax, rules.assisted?.max[currency]?.minorUnits ?? 0))
        }
        for entry in measures {
            guard let max = entry.measure.max[currency] else { continue }
            all.append(left(.riskMax, max.minorUnits, window: entry.rule))
        }
        if isNew {
            // Until one was executed, all together are the first: none of them has proved anything.
            let isFirst = state.payee?.firstExecutedAt == nil
            all.append(
                left(
                    .firstTransferMax, caps.limits.firstTransferMax.minorUnits,
                    used: isFirst ? state.used.whileNew : 0))
            all.append(
                left(
                    .newPayeeSumMax, caps.limits.newPayeeSumMax.minorUnits,
                    used: state.used.whileNew, window: "while_new"))
        }
        let isRolling = rules.dailyWindow == .rolling24h
        all.append(
            left(
                .dailyMax, caps.daily, used: isRolling ? state.used.last24h : state.used.today,
                window: isRolling ? rules.dailyWindow.rawValue : state.bankDay))
        return all
    }

    private func exceeded(_ amount: Money, _ caps: Caps) -> PolicyRefusal? {
        let passed = left(in: amount.currency, caps).first { amount.minorUnits > $0.amount }
        return passed.map { left in
            .limitExceeded(
                limit: left.limit,
                allowed: Money(minorUnits: left.amount, currency: amount.currency),
                window: left.window)
        } ?? exceededVelocity
    }

    private var exceededVelocity: PolicyRefusal? {
        guard let velocity = rules.velocity,
            state.used.transfersInWindow >= velocity.transfersMax
        else { return nil }
        return .countExceeded(
            limit: .velocity, max: velocity.transfersMax, window: "\(velocity.window.count)s")
    }

    /// What the transfer counts for. Every transfer counts for its day, whatever is asked of days today:
    /// a later policy must find what was sent before it.
    private func reservations(_ transfer: Transfer, _ caps: Caps) -> [Reservation] {
        let currency = transfer.amount.currency
        let day = Reservation(
            dimension: Reservation.day(currency), windowStart: state.bankDay,
            amount: transfer.amount.minorUnits,
            cap: rules.dailyWindow == .calendar ? caps.daily : Reservation.uncapped)
        guard isNew else { return [day] }
        let whileNew = Reservation(
            dimension: state.payee.map { Reservation.whileNew($0.id, currency) }
                ?? Reservation.unknown(transfer.payee.account, currency),
            windowStart: Reservation.lifetime, amount: transfer.amount.minorUnits,
            cap: caps.limits.newPayeeSumMax.minorUnits)
        return [day, whileNew]
    }

    private func ceilings(_ amount: Money, _ caps: Caps) -> [Ceiling] {
        var ceilings: [Ceiling] = []
        if rules.dailyWindow == .rolling24h {
            ceilings.append(
                Ceiling(
                    dimensions: Reservation.day(amount.currency), measure: .amount,
                    window: Seconds(86_400), added: amount.minorUnits, cap: caps.daily))
        }
        if let velocity = rules.velocity {
            ceilings.append(
                Ceiling(
                    dimensions: "day:%", measure: .count, window: velocity.window, added: 1,
                    cap: Int64(velocity.transfersMax)))
        }
        return ceilings
    }
}
