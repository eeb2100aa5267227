import Countersign

/// Reads what an action will do: `kind`, and the member that is named like it.
extension ObjectReader {
    mutating func actionContent(_ sha256: Hasher256) throws(BodyRefusal) -> ActionContent? {
        let kind = try choice("kind", ActionKind.self)
        return try object(kind.rawValue) { reader throws(BodyRefusal) in
            switch kind {
            case .transfer: try reader.transfer().map(ActionContent.transfer)
            case .newPayee: try reader.newPayee().map(ActionContent.newPayee)
            case .contactChange:
                try reader.contactChange(sha256).map(ActionContent.contactChange)
            case .limitChange: try reader.limitChange().map(ActionContent.limitChange)
            }
        }
    }

    private mutating func transfer() throws(BodyRefusal) -> Transfer? {
        let currency = try value("currency") { text throws(InvalidValue) in try Currency(text) }
        let amountText = try string("amount")
        // Without its currency nobody can say whether an amount is one.
        let amount = currency.flatMap { currency in
            check("amount") { () throws(InvalidValue) in
                try Money(decimal: amountText, currency: currency)
            }
        }
        let debtorAccount = try account("debtor_account")
        let payee = try payee()
        let reference = try displayText("reference", .reference)
        let endToEndID = try displayText("end_to_end_id", .endToEndID)
        guard let amount, let debtorAccount, let payee, let reference, let endToEndID else {
            return nil
        }
        return Transfer(
            amount: amount, debtorAccount: debtorAccount, payee: payee, reference: reference,
            endToEndID: endToEndID)
    }

    private mutating func newPayee() throws(BodyRefusal) -> NewPayee? {
        let payee = try payee()
        let alias = try displayText("alias", .payeeAlias)
        guard let payee, let alias else { return nil }
        return NewPayee(payee: payee, alias: alias)
    }

    private mutating func payee() throws(BodyRefusal) -> PayeeIdentity? {
        try object("payee") { reader throws(BodyRefusal) in
            let name = try reader.displayText("name", .payeeName)
            let account = try reader.account("account")
            guard let name, let account else { return nil }
            return PayeeIdentity(name: name, account: account)
        }
    }

    private mutating func limitChange() throws(BodyRefusal) -> LimitChange? {
        let limit = try choice("limit_name", OwnLimit.self)
        let currency = try value("currency") { text throws(InvalidValue) in try Currency(text) }
        let amountText = try string("amount")
        let amount = currency.flatMap { currency in
            check("amount") { () throws(InvalidValue) in
                try Money(limit: amountText, currency: currency)
            }
        }
        return amount.map { LimitChange(limit: limit, amount: $0) }
    }

    private enum Channel: String, CaseIterable {
        case phone, email
    }

    /// The old value is only hashed, but it must be one of its channel: the digest is of its one
    /// spelling, so that whoever has the number on file finds the same.
    private mutating func contactChange(
        _ sha256: Hasher256
    ) throws(BodyRefusal) -> ContactChange? {
        let channel = try choice("channel", Channel.self)
        func read(_ text: String) throws(InvalidValue) -> ContactChange.NewValue {
            switch channel {
            case .phone: .phone(try PhoneNumber(text))
            case .email: .email(try EmailAddress(text))
            }
        }
        let oldValue = try optionalValue("old_value", read)
        let newValue = try value("new_value", read)
        return newValue.map { newValue in
            ContactChange(
                oldValueDigest: oldValue.map { sha256(Bytes($0.text.utf8)) }, newValue: newValue)
        }
    }
}
