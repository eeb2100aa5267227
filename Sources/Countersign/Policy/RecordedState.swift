/// All that a policy looks at beside the action itself, as recorded when the decision was made.
///
/// It is stored with the evidence, so that an auditor can decide again and must find the same.
package struct RecordedState: Sendable, Equatable {
    /// The database's time at which it was read.
    package var at: Instant
    /// The bank's day at that time, `YYYY-MM-DD` in the policy's time zone.
    package var bankDay: String
    /// Until when a change of contact data holds what moves money; past or `nil` when none does.
    package var contactHoldUntil: Instant?
    /// When the customer's access was last recovered.
    package var recoveredAt: Instant?
    /// The credential that signed; `nil` when it is only asked what would apply.
    package var credential: Credential?
    /// The customer's payee at the action's account; `nil` when there is none.
    package var payee: RecordedPayee?
    package var risk: RecordedRisk
    package var used: Used
    /// The limits that the customer has set, in the action's currency.
    package var ownLimits: OwnLimits
    /// Whether two officers approve in the place of a customer who has no key.
    package var isAssisted = false

    /// What a policy looks at in a credential that signed.
    package struct Credential: Sendable, Equatable {
        package let traits: CredentialTraits
        package let createdAt: Instant

        package init(traits: CredentialTraits, createdAt: Instant) {
            self.traits = traits
            self.createdAt = createdAt
        }
    }

    /// What counts against caps already, in minor units of the action's currency where it is money.
    package struct Used: Sendable, Equatable {
        /// Transfers of the bank's day.
        package var today: Int64
        /// Transfers of the 24 hours before ``RecordedState/at``; 0 under a policy that does not ask.
        package var last24h: Int64
        /// Transfers to this payee, or to this account that is no payee, while it is new.
        package var whileNew: Int64
        /// How many transfers within the policy's window of velocity; 0 under one that has none.
        package var transfersInWindow: Int64
        /// How many payees the customer has confirmed on the bank's day.
        package var newPayeesToday: Int64

        package init(
            today: Int64 = 0, last24h: Int64 = 0, whileNew: Int64 = 0, transfersInWindow: Int64 = 0,
            newPayeesToday: Int64 = 0
        ) {
            self.today = today
            self.last24h = last24h
            self.whileNew = whileNew
            self.transfersInWindow = transfersInWindow
            self.newPayeesToday = newPayeesToday
        }
    }

    /// A limit that a customer has set.
    package struct OwnAmount: Sendable, Equatable {
        package let minorUnits: Int64
        /// Whether a raise is behind it, signed as such and waited for: only then may it give more than
        /// the policy gives everybody.
        package let isRaised: Bool

        package init(_ minorUnits: Int64, isRaised: Bool = false) {
            self.minorUnits = minorUnits
            self.isRaised = isRaised
        }
    }

    /// The limits that a customer has set; `nil` where the policy's holds.
    package struct OwnLimits: Sendable, Equatable {
        package var singleMax: OwnAmount?
        package var dailyMax: OwnAmount?
        /// Whether it is recorded what a raise is behind; `false` for records of before that counted, when
        /// a limit that a customer had set always could give more.
        package let tellsRaises: Bool

        package init(
            singleMax: OwnAmount? = nil, dailyMax: OwnAmount? = nil, tellsRaises: Bool = true
        ) {
            self.singleMax = singleMax
            self.dailyMax = dailyMax
            self.tellsRaises = tellsRaises
        }

        package subscript(limit: OwnLimit) -> OwnAmount? {
            switch limit {
            case .singleMax: singleMax
            case .dailyMax: dailyMax
            }
        }
    }

    package init(
        at: Instant, bankDay: String, contactHoldUntil: Instant?, recoveredAt: Instant?,
        credential: Credential?, payee: RecordedPayee?, risk: RecordedRisk, used: Used,
        ownLimits: OwnLimits
    ) {
        self.at = at
        self.bankDay = bankDay
        self.contactHoldUntil = contactHoldUntil
        self.recoveredAt = recoveredAt
        self.credential = credential
        self.payee = payee
        self.risk = risk
        self.used = used
        self.ownLimits = ownLimits
    }
}

/// A payee of a customer, with its times.
package struct RecordedPayee: Sendable, Equatable {
    package let id: ID<Payee>
    package let confirmedAt: Instant
    package let usableAt: Instant
    package let newUntil: Instant
    package let firstExecutedAt: Instant?

    package init(
        id: ID<Payee>, confirmedAt: Instant, usableAt: Instant, newUntil: Instant,
        firstExecutedAt: Instant?
    ) {
        self.id = id
        self.confirmedAt = confirmedAt
        self.usableAt = usableAt
        self.newUntil = newUntil
        self.firstExecutedAt = firstExecutedAt
    }

    /// New until its period is over *and* one transfer to it was executed.
    package func isNew(at instant: Instant) -> Bool {
        instant < newUntil || firstExecutedAt == nil
    }
}

/// What the bank said about the risk when it created the action, as far as a policy looks at it.
package struct RecordedRisk: Sendable, Equatable {
    package let segment: String
    /// The words of the bank's signals, sorted, each once.
    package let signals: [String]
    /// The result of the bank's check of the payee's name; `nil` when it told none.
    package let nameCheck: NameCheck?

    package init(segment: String, signals: [String], nameCheck: NameCheck?) {
        self.segment = segment
        self.signals = Array(Set(signals)).sorted()
        self.nameCheck = nameCheck
    }

    /// A bank that said nothing.
    package static let unsaid = RecordedRisk(
        segment: PolicyRules.defaultSegment, signals: [], nameCheck: nil)

    /// Reads what the bank gave as `risk`; it was checked when the action was created.
    package init(given risk: JSON?) {
        var signals: [String] = []
        if case .array(let words) = risk?["signals"] { signals = words.compactMap(\.text) }
        self.init(
            segment: risk?["segment"]?.text ?? PolicyRules.defaultSegment, signals: signals,
            nameCheck: risk?["name_check"]?.text.flatMap(NameCheck.init(rawValue:)))
    }
}
