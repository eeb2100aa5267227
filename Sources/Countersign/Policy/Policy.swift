/// One published version of the bank's holds, limits and factor rules. Immutable.
package struct Policy: Sendable {
    package let version: Int
    /// SHA-256 of the document's bytes; evidence names the policy by it.
    package let digest: Digest
    package let rules: PolicyRules

    package init(version: Int, digest: Digest, rules: PolicyRules) {
        self.version = version
        self.digest = digest
        self.rules = rules
    }
}

/// What a policy document says. Amounts are per currency; a currency that is not named is not paid.
package struct PolicyRules: Sendable, Equatable {
    /// The bank's time zone, by which its days are counted; an IANA name.
    package let timeZone: String
    /// The currency in which a payee's allowance is shown; one of ``currencies``.
    package let homeCurrency: Currency
    package let challengeLifetime: Seconds
    package let actionLifetime: Seconds
    package let openChallengesMax: Int
    package let attempts: Attempts
    /// How a customer's transfers are summed for `daily_max`.
    package let dailyWindow: DailyWindow
    package let payeeCoolingOff: Seconds
    package let payeeCoolingOffMode: CoolingOffMode
    package let newPayeePeriod: Seconds
    /// What a transfer to an account that is no payee comes to.
    package let unknownPayee: UnknownPayeeRule
    /// New payees that one customer may confirm on one of the bank's days; `nil` for any number.
    package let newPayeesPerDayMax: Int?
    /// How many transfers one customer may approve within a time; `nil` for any number.
    package let velocity: Velocity?
    package let newCredentialCoolingOff: [ActionKind: Seconds]
    package let contactChangeHold: Seconds
    package let recovery: RecoveryRule
    package let factors: [ActionKind: [CredentialKind]]
    /// The kinds of credential that will do above an amount, by currency, the lowest amount first.
    package let factorSteps: [Currency: [FactorStep]]
    /// The profiles of attestation of which a credential must have met one; a kind that is not named
    /// needs none.
    package let requiredAttestation: [ActionKind: [AttestationProfile]]
    /// Whether passkeys that may be copied to other devices will do; they do for a kind that is not
    /// named.
    package let backupEligible: [ActionKind: BackupEligibleRule]
    package let currencies: [Currency: CurrencyLimits]
    /// What the bank's signals of risk come to, by the word of the signal.
    package let signals: [String: Measure]
    /// What the result of the bank's check of the payee's name comes to.
    package let nameChecks: [NameCheck: Measure]
    /// How customers may raise their own limits; `nil` when they may only lower them.
    package let limitChange: LimitChangeRule?
    /// What two officers may approve for a customer without a key; `nil` for nothing.
    package let assisted: AssistedRule?
    /// The rules of the segments that differ; every other segment has these.
    package internal(set) var segments: [String: PolicyRules]

    /// The rules for customers of a segment.
    package func of(segment: String) -> PolicyRules { segments[segment] ?? self }
}

extension PolicyRules {
    /// How the cooling-off of a payee works.
    package enum CoolingOffMode: String, Sendable {
        /// Approve now, execute when it has ended.
        case hold
        /// Refuse until it has ended.
        case refuse
    }

    /// What a transfer to an account that is no payee comes to.
    package enum UnknownPayeeRule: String, Sendable {
        case refuse
        /// As to a payee that was confirmed this very moment.
        case asNew = "as_new"
    }

    /// Over which time the transfers of a day are summed.
    package enum DailyWindow: String, Sendable {
        /// The bank's day, by its time zone.
        case calendar
        /// The 24 hours before the decision.
        case rolling24h = "rolling_24h"
    }

    /// The caps of one currency.
    package struct CurrencyLimits: Sendable, Equatable {
        package let singleMax: Money
        package let dailyMax: Money
        /// Also the cap of all transfers together that are approved before the first was executed.
        package let firstTransferMax: Money
        package let newPayeeSumMax: Money
    }

    /// What passkeys that may be copied to other devices are good for.
    package enum BackupEligibleRule: Equatable, Sendable {
        case allowed
        case refused
        /// Transfers up to these amounts, and none in another currency.
        case upTo([Currency: Money])
    }

    /// How often a customer may fail. Bounds: PSD2 RTS Art. 4(3)(b).
    package struct Attempts: Sendable, Equatable {
        package let perChallenge: Int
        package let perAction: Int
        package let perCustomer: Int
        package let lock: Seconds
    }

    /// How many transfers may be approved within a time before now.
    package struct Velocity: Sendable, Equatable {
        package let transfersMax: Int
        package let window: Seconds
    }

    /// What follows from the recovery of a customer's access. Source: standards HP-14.
    package struct RecoveryRule: Sendable, Equatable {
        /// Transfers to young payees are held until so long after it.
        package let hold: Seconds
        /// A payee is young for so long after its confirmation.
        package let payeeAge: Seconds
        /// What becomes of what was approved and not tried at that time.
        package let heldApprovals: HeldApprovals
    }

    /// The kinds of credential that will do above an amount.
    package struct FactorStep: Sendable, Equatable {
        package let above: Money
        package let kinds: [CredentialKind]
    }

    /// What two officers may approve for a customer without a key.
    package struct AssistedRule: Sendable, Equatable {
        /// What they approve is held for at least so long.
        package let hold: Seconds
        /// The most that one transfer may move, by currency; nothing in another currency.
        package let max: [Currency: Money]
    }

    /// How customers may raise their own limits.
    package struct LimitChangeRule: Sendable, Equatable {
        /// A raise takes effect so long after it was signed; a lower limit at once.
        package let delay: Seconds
        /// The most that a customer may set, by currency; another currency's limits cannot be raised.
        package let singleMax: [Currency: Money]
        package let dailyMax: [Currency: Money]

        /// The most for one limit.
        package func max(_ limit: OwnLimit, _ currency: Currency) -> Money? {
            switch limit {
            case .singleMax: singleMax[currency]
            case .dailyMax: dailyMax[currency]
            }
        }
    }
}

/// What the bank's check of a payee's name found, as the bank tells it. Source: Regulation (EU)
/// 260/2012 Art. 5c (verification of payee); in the UK Confirmation of Payee.
package enum NameCheck: String, CaseIterable, Sendable {
    case match
    case closeMatch = "close_match"
    case noMatch = "no_match"
    case notPossible = "not_possible"
}

/// What one signal of risk, or one result of a name check, does to an action.
package struct Measure: Sendable, Equatable {
    /// The kinds of action that it is about.
    package let kinds: [ActionKind]
    package let refuses: Bool
    package let hold: Seconds
    /// What happens at the end of that hold when nobody has decided.
    package let holdEnd: Hold.End
    /// The most that one transfer may move, by currency; no cap in another currency.
    package let max: [Currency: Money]
    /// The kinds of credential that will do; `nil` when it asks for nothing.
    package let factors: [CredentialKind]?
}
