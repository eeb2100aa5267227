/// What a policy says about an action that was signed well.
package enum PolicyVerdict: Sendable, Equatable {
    case allowed(Allowance)
    case refused(PolicyRefusal)
}

/// What comes with an approval.
package struct Allowance: Sendable, Equatable {
    /// All holds that apply, as one; `nil` when it is executed at once.
    package let hold: Hold?
    /// What the approval counts for.
    package let reservations: [Reservation]
    /// What the approval may not exceed together with those of the time before it.
    package let ceilings: [Ceiling]
    /// The times of the payee that a `new_payee` adds.
    package let payeeTimes: PayeeTimes?
    /// Until when a change of contact data holds what moves money.
    package let contactHoldUntil: Instant?
    /// What the limit was that a `limit_change` changes, in minor units.
    package let limitBefore: Int64?

    package init(
        hold: Hold?, reservations: [Reservation] = [], ceilings: [Ceiling] = [],
        payeeTimes: PayeeTimes? = nil, contactHoldUntil: Instant? = nil, limitBefore: Int64? = nil
    ) {
        self.hold = hold
        self.reservations = reservations
        self.ceilings = ceilings
        self.payeeTimes = payeeTimes
        self.contactHoldUntil = contactHoldUntil
        self.limitBefore = limitBefore
    }

    /// When a new payee may be paid, and until when it counts as new at least.
    package struct PayeeTimes: Sendable, Equatable {
        package let usableAt: Instant
        package let newUntil: Instant
    }
}

/// An amount that is counted against a cap, inside the approving transaction.
package struct Reservation: Hashable, Sendable {
    /// `day:<currency>`, `new_payee:<payee id or account>:<currency>` or `new_payees`.
    package let dimension: String
    /// The day it counts for, or ``lifetime``.
    package let windowStart: String
    package let amount: Int64
    package let cap: Int64

    /// The window of a sum that is not counted by days.
    package static let lifetime = "1970-01-01"
    /// The cap of what is only counted: a later policy may ask for it.
    package static let uncapped = Int64.max
    /// How many payees are confirmed on a day.
    package static let newPayees = "new_payees"

    /// The dimension of a customer's sum of one day.
    package static func day(_ currency: Currency) -> String { "day:\(currency.code)" }

    /// The dimension of the sum that goes to one payee while it is new.
    package static func whileNew(_ payee: ID<Payee>, _ currency: Currency) -> String {
        "new_payee:\(payee.text):\(currency.code)"
    }

    /// The dimension of the sum that goes to an account that is no payee.
    package static func unknown(_ account: Account, _ currency: Currency) -> String {
        "new_payee:\(account.text):\(currency.code)"
    }
}

/// A cap on the reservations of one dimension over the time before a decision, which no counter of a
/// fixed window can hold; checked again under the lock of the approving transaction.
package struct Ceiling: Hashable, Sendable {
    /// What of the reservations is counted.
    package enum Measure: String, Sendable {
        case amount, count
    }

    /// The dimension, or with a last `%` all that begin like it.
    package let dimensions: String
    package let measure: Measure
    package let window: Seconds
    /// What this approval adds.
    package let added: Int64
    package let cap: Int64
}

/// Why a policy does not allow an action that was signed well, in the order of precedence.
package enum PolicyRefusal: Equatable, Sendable {
    /// A signal of risk, or the result of the name check, refuses; the rule's words.
    case riskRefused(rule: String)
    /// Another credential is needed: one that meets this.
    case credentialNotAllowed(CredentialDemand)
    /// Officers may not approve this for a customer.
    case assistedNotAllowed
    /// The account is not the customer's payee.
    case payeeUnknown
    /// The payee is in its cooling-off, and the policy refuses meanwhile.
    case payeeNotUsable(usableAt: Instant)
    /// The policy does not name the currency.
    case currencyNotAllowed(Currency)
    /// A cap on money would be passed; `allowed` is what could still be sent.
    case limitExceeded(limit: Limit, allowed: Money, window: String?)
    /// A cap on a number of things would be passed.
    case countExceeded(limit: CountLimit, max: Int, window: String)

    /// The caps on amounts; the raw value is the word in answers and evidence.
    package enum Limit: String, CaseIterable, Sendable {
        case singleMax = "single_max"
        /// What officers may approve for a customer.
        case assistedMax = "assisted_max"
        /// What a signal or a name check allows.
        case riskMax = "risk_max"
        case firstTransferMax = "first_transfer_max"
        case newPayeeSumMax = "new_payee_sum_max"
        case dailyMax = "daily_max"
        /// The most to which a customer may raise an own limit.
        case limitChangeMax = "limit_change_max"
    }

    /// The caps on counts; the raw value is the word in answers and evidence.
    package enum CountLimit: String, CaseIterable, Sendable {
        case velocity
        case newPayeesPerDay = "new_payees_per_day"
    }
}
