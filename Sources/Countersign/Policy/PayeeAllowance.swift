/// What one transfer to a payee may move now, and what says so.
package struct PayeeAllowance: Sendable {
    /// The most that is approved now; zero while nothing is.
    package let amount: Money
    /// The rule of which it is the most: the word of a limit, or of what refuses for now.
    package let rule: String
    /// Until when that rule gives this, as far as time alone decides; `nil` when it does not.
    package let until: Instant?
    /// What would hold a transfer that is approved now; a new credential may hold it longer.
    package let hold: Hold?
    /// What each limit leaves, by its word.
    package let left: [(limit: PolicyRefusal.Limit, amount: Money)]

    package init(
        amount: Money, rule: String, until: Instant?, hold: Hold?,
        left: [(limit: PolicyRefusal.Limit, amount: Money)]
    ) {
        self.amount = amount
        self.rule = rule
        self.until = until
        self.hold = hold
        self.left = left
    }
}

extension Policy {
    /// What one transfer to the payee in `state` may move now, in the home currency.
    ///
    /// Of a segment's rules, and of what the bank will say about the risk, only what `state` says.
    package func allowance(_ state: RecordedState) -> PayeeAllowance {
        let ruling = RuleSet(rules.of(segment: state.risk.segment), .transfer, state)
        let currency = rules.homeCurrency
        func nothing(_ rule: String, until: Instant?) -> PayeeAllowance {
            PayeeAllowance(
                amount: Money(minorUnits: 0, currency: currency), rule: rule, until: until,
                hold: nil, left: [])
        }
        guard let caps = ruling.caps(in: currency), let payee = state.payee else {
            return nothing("payee_unknown", until: nil)
        }
        if ruling.rules.payeeCoolingOffMode == .refuse, payee.usableAt > state.at {
            return nothing(Hold.Rule.payeeCoolingOff.rawValue, until: payee.usableAt)
        }
        let left = ruling.left(in: currency, caps)
        // The first of those that leave least: the one that would be named in a refusal.
        guard let least = left.map(\.amount).min(),
            let binding = left.first(where: { $0.amount == least })
        else { return nothing("payee_unknown", until: nil) }
        let isForNew = [.firstTransferMax, .newPayeeSumMax].contains(binding.limit)
        return PayeeAllowance(
            amount: Money(minorUnits: least, currency: currency), rule: binding.limit.rawValue,
            until: isForNew && payee.firstExecutedAt != nil ? payee.newUntil : nil,
            hold: ruling.transferHold(payee),
            left: left.map { ($0.limit, Money(minorUnits: $0.amount, currency: currency)) })
    }
}
