/// What kind of thing the customer is asked to sign; the raw value is its word everywhere.
package enum ActionKind: String, CaseIterable, Sendable {
    case transfer
    case newPayee = "new_payee"
    case contactChange = "contact_change"
    case limitChange = "limit_change"
}

/// What an action will do, complete and immutable: to change it, cancel it and create another.
package enum ActionContent: Hashable, Sendable {
    case transfer(Transfer)
    case newPayee(NewPayee)
    case contactChange(ContactChange)
    case limitChange(LimitChange)

    package var kind: ActionKind {
        switch self {
        case .transfer: .transfer
        case .newPayee: .newPayee
        case .contactChange: .contactChange
        case .limitChange: .limitChange
        }
    }

    /// The account whose payee a decision looks at.
    package var payeeAccount: Account? {
        switch self {
        case .transfer(let transfer): transfer.payee.account
        case .newPayee(let newPayee): newPayee.payee.account
        case .contactChange, .limitChange: nil
        }
    }

    /// The amount that is moved, or that a limit becomes.
    package var amount: Money? {
        switch self {
        case .transfer(let transfer): transfer.amount
        case .limitChange(let change): change.amount
        case .newPayee, .contactChange: nil
        }
    }
}

/// Name and account that money goes to.
package struct PayeeIdentity: Hashable, Sendable {
    package let name: DisplayText
    package let account: Account

    package init(name: DisplayText, account: Account) {
        self.name = name
        self.account = account
    }
}

/// A payment to a payee.
package struct Transfer: Hashable, Sendable {
    package let amount: Money
    package let debtorAccount: Account
    package let payee: PayeeIdentity
    /// Text for the payee; empty when there is none.
    package let reference: DisplayText
    /// The customer's own reference, handed through to the payee; empty when there is none.
    package let endToEndID: DisplayText

    package init(
        amount: Money, debtorAccount: Account, payee: PayeeIdentity, reference: DisplayText,
        endToEndID: DisplayText
    ) {
        self.amount = amount
        self.debtorAccount = debtorAccount
        self.payee = payee
        self.reference = reference
        self.endToEndID = endToEndID
    }
}

/// The wish to be able to pay somebody.
package struct NewPayee: Hashable, Sendable {
    package let payee: PayeeIdentity
    /// What the customer calls the payee; empty when there is none.
    package let alias: DisplayText

    package init(payee: PayeeIdentity, alias: DisplayText) {
        self.payee = payee
        self.alias = alias
    }
}

/// A change of the phone number or e-mail address on file.
package struct ContactChange: Hashable, Sendable {
    /// The new value, by channel; the channel's word is `phone` or `email`.
    package enum NewValue: Hashable, Sendable {
        case phone(PhoneNumber)
        case email(EmailAddress)

        /// The word of its channel.
        package var channel: String {
            switch self {
            case .phone: "phone"
            case .email: "email"
            }
        }

        /// The number or address itself.
        package var text: String {
            switch self {
            case .phone(let number): number.text
            case .email(let address): address.text
            }
        }

        /// Reads a channel's word and a value.
        package init(channel: String, text: String) throws(InvalidValue) {
            switch channel {
            case "phone": self = .phone(try PhoneNumber(text))
            case "email": self = .email(try EmailAddress(text))
            default: throw InvalidValue("channel_unknown", "The channel is phone or email.")
            }
        }
    }

    /// SHA-256 of the current value, so that the message does not repeat it; `nil` when there is none.
    package let oldValueDigest: Digest?
    package let newValue: NewValue

    package init(oldValueDigest: Digest?, newValue: NewValue) {
        self.oldValueDigest = oldValueDigest
        self.newValue = newValue
    }
}

/// The limits that a customer may set; the raw value is the word of the policy's limit.
package enum OwnLimit: String, CaseIterable, Sendable {
    case singleMax = "single_max"
    case dailyMax = "daily_max"
}

/// The wish for another limit than before: lower at once, higher after the policy's delay.
package struct LimitChange: Hashable, Sendable {
    package let limit: OwnLimit
    /// The new limit; zero forbids.
    package let amount: Money

    package init(limit: OwnLimit, amount: Money) {
        self.limit = limit
        self.amount = amount
    }
}
