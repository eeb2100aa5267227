/// What a policy says about an action that was signed well.
package enum PolicyVerdict: Sendable {
    case allowed(Allowance)
    case refused(PolicyRefusal)
}

/// What comes with an approval.
package struct Allowance: Sendable {
    /// The latest of all holds that apply; `nil` when it is executed at once.
    package let hold: Hold?
    /// What the approval counts for.
    package let reservations: [Reservation]
    /// The times of the payee that a `new_payee` adds.
    package let payeeTimes: PayeeTimes?
    /// Until when a change of contact data holds what moves money.
    package let contactHoldUntil: Instant?

    /// When a new payee may be paid, and until when it counts as new at least.
    package struct PayeeTimes: Sendable {
        package let usableAt: Instant
        package let newUntil: Instant
    }
}

/// An amount that is counted against a cap, inside the approving transaction.
package struct Reservation: Hashable, Sendable {
    /// `day:<currency>` or `new_payee:<payee id>:<currency>`.
    package let dimension: String
    /// The day it counts for, or ``lifetime``.
    package let windowStart: String
    package let amount: Int64
    package let cap: Int64

    /// The window of a sum that is not counted by days.
    package static let lifetime = "1970-01-01"

    /// The dimension of a customer's sum of one day.
    package static func day(_ currency: Currency) -> String { "day:\(currency.code)" }

    /// The dimension of the sum that goes to one payee while it is new.
    package static func whileNew(_ payee: ID<Payee>, _ currency: Currency) -> String {
        "new_payee:\(payee.text):\(currency.code)"
    }
}

/// Why a policy does not allow an action that was signed well, in the order of precedence.
package enum PolicyRefusal: Equatable, Sendable {
    /// Another credential is needed: one that meets this.
    case credentialNotAllowed(CredentialDemand)
    /// The account is not the customer's payee.
    case payeeUnknown
    /// The payee is in its cooling-off, and the policy refuses meanwhile.
    case payeeNotUsable(usableAt: Instant)
    /// The policy does not name the currency.
    case currencyNotAllowed(Currency)
    /// A cap would be passed; `allowed` is what could still be sent.
    case limitExceeded(limit: Limit, allowed: Money, window: String?)

    /// The caps on amounts; the raw value is the word in answers and evidence.
    package enum Limit: String, Sendable {
        case singleMax = "single_max"
        case firstTransferMax = "first_transfer_max"
        case newPayeeSumMax = "new_payee_sum_max"
        case dailyMax = "daily_max"
    }
}

extension Policy {
    /// Decides on an action. Pure: the same three inputs always give the same verdict.
    package func decide(_ content: ActionContent, _ state: RecordedState) -> PolicyVerdict {
        let demand = rules.demand(for: content)
        guard demand.isMet(by: state.credentialTraits) else {
            return .refused(.credentialNotAllowed(demand))
        }
        switch content {
        case .transfer(let transfer): return decide(transfer, state)
        case .newPayee:
            let hold = latest(credentialHold(.newPayee, state), contactHold(state))
            return .allowed(
                Allowance(
                    hold: hold, reservations: [], payeeTimes: payeeTimes(state.at, hold),
                    contactHoldUntil: nil))
        case .contactChange:
            return .allowed(
                Allowance(
                    hold: credentialHold(.contactChange, state), reservations: [], payeeTimes: nil,
                    contactHoldUntil: state.at + rules.contactChangeHold))
        }
    }

    private func decide(_ transfer: Transfer, _ state: RecordedState) -> PolicyVerdict {
        guard let payee = state.payee else { return .refused(.payeeUnknown) }
        if rules.payeeCoolingOffMode == .refuse, payee.usableAt > state.at {
            return .refused(.payeeNotUsable(usableAt: payee.usableAt))
        }
        let currency = transfer.amount.currency
        guard let limits = rules.currencies[currency] else {
            return .refused(.currencyNotAllowed(currency))
        }
        if let refusal = exceeded(transfer.amount, limits, payee, state) {
            return .refused(refusal)
        }
        var reservations = [
            Reservation(
                dimension: Reservation.day(currency), windowStart: state.bankDay,
                amount: transfer.amount.minorUnits, cap: limits.dailyMax.minorUnits)
        ]
        if payee.isNew(at: state.at) {
            reservations.append(
                Reservation(
                    dimension: Reservation.whileNew(payee.id, currency),
                    windowStart: Reservation.lifetime, amount: transfer.amount.minorUnits,
                    cap: limits.newPayeeSumMax.minorUnits))
        }
        let coolingOff =
            payee.usableAt > state.at ? Hold(until: payee.usableAt, rule: .payeeCoolingOff) : nil
        let hold = latest(coolingOff, latest(credentialHold(.transfer, state), contactHold(state)))
        return .allowed(
            Allowance(
                hold: hold, reservations: reservations, payeeTimes: nil, contactHoldUntil: nil))
    }

    /// The first cap that the amount would pass, in the order in which they are documented.
    private func exceeded(
        _ amount: Money, _ limits: PolicyRules.CurrencyLimits, _ payee: RecordedPayee,
        _ state: RecordedState
    ) -> PolicyRefusal? {
        func check(
            _ limit: PolicyRefusal.Limit, _ cap: Money, used: Int64, window: String?
        ) -> PolicyRefusal? {
            let left = max(0, cap.minorUnits - used)
            guard amount.minorUnits > left else { return nil }
            return .limitExceeded(
                limit: limit, allowed: Money(minorUnits: left, currency: amount.currency),
                window: window)
        }
        if let refusal = check(.singleMax, limits.singleMax, used: 0, window: nil) {
            return refusal
        }
        if payee.isNew(at: state.at) {
            if let refusal = check(
                .firstTransferMax, limits.firstTransferMax, used: 0, window: nil)
                ?? check(
                    .newPayeeSumMax, limits.newPayeeSumMax, used: state.usedWhileNew,
                    window: "while_new")
            {
                return refusal
            }
        }
        return check(.dailyMax, limits.dailyMax, used: state.usedToday, window: state.bankDay)
    }

    private func credentialHold(_ kind: ActionKind, _ state: RecordedState) -> Hold? {
        let until = state.credentialCreatedAt + (rules.newCredentialCoolingOff[kind] ?? Seconds(0))
        return until > state.at ? Hold(until: until, rule: .newCredentialCoolingOff) : nil
    }

    private func contactHold(_ state: RecordedState) -> Hold? {
        guard let until = state.contactHoldUntil, until > state.at else { return nil }
        return Hold(until: until, rule: .contactChangeHold)
    }

    /// The clock starts at the signed confirmation; a hold of the confirmation itself holds the payee.
    private func payeeTimes(_ at: Instant, _ hold: Hold?) -> Allowance.PayeeTimes {
        Allowance.PayeeTimes(
            usableAt: max(at + rules.payeeCoolingOff, hold?.until ?? at),
            newUntil: at + rules.newPayeePeriod)
    }
}

private func latest(_ first: Hold?, _ second: Hold?) -> Hold? {
    guard let first else { return second }
    guard let second else { return first }
    return second.until > first.until ? second : first
}
