/// The members of each kind, as flat strings: one spelling for the signed message and for columns.
extension ActionContent {
    /// Every member of the kind, present even when empty. Source: `docs/signed-message.md`.
    package var members: [String: String] {
        switch self {
        case .transfer(let transfer):
            [
                "amount": transfer.amount.decimal,
                "currency": transfer.amount.currency.code,
                "debtor_account": transfer.debtorAccount.text,
                "payee_name": transfer.payee.name.text,
                "payee_account": transfer.payee.account.text,
                "reference": transfer.reference.text,
                "end_to_end_id": transfer.endToEndID.text,
            ]
        case .newPayee(let newPayee):
            [
                "payee_name": newPayee.payee.name.text,
                "payee_account": newPayee.payee.account.text,
                "payee_alias": newPayee.alias.text,
            ]
        case .contactChange(let change):
            [
                "channel": change.newValue.channel,
                "old_value_digest": change.oldValueDigest?.hex ?? "",
                "new_value": change.newValue.text,
            ]
        case .limitChange(let change):
            [
                "limit_name": change.limit.rawValue,
                "amount": change.amount.decimal,
                "currency": change.amount.currency.code,
            ]
        }
    }

    /// Reads what ``members`` wrote; other members, missing or more, are refused.
    ///
    /// - Throws: What is wrong with a value, or `members` when the set of names is not the kind's.
    package init(kind: ActionKind, members: [String: String]) throws(InvalidValue) {
        func member(_ name: String) throws(InvalidValue) -> String {
            guard let text = members[name] else {
                throw InvalidValue("members", "A member of this kind is missing.")
            }
            return text
        }
        func payee() throws(InvalidValue) -> PayeeIdentity {
            PayeeIdentity(
                name: try DisplayText(member("payee_name"), .payeeName),
                account: try Account(text: member("payee_account")))
        }
        switch kind {
        case .transfer:
            self = .transfer(
                Transfer(
                    amount: try Money(
                        decimal: member("amount"), currency: Currency(member("currency"))),
                    debtorAccount: try Account(text: member("debtor_account")),
                    payee: try payee(),
                    reference: try DisplayText(member("reference"), .reference),
                    endToEndID: try DisplayText(member("end_to_end_id"), .endToEndID)))
        case .newPayee:
            self = .newPayee(
                NewPayee(
                    payee: try payee(), alias: try DisplayText(member("payee_alias"), .payeeAlias)))
        case .contactChange:
            let digest = try member("old_value_digest")
            self = .contactChange(
                ContactChange(
                    oldValueDigest: Hex.decode(digest).flatMap(Digest.init),
                    newValue: try .init(channel: member("channel"), text: member("new_value"))))
        case .limitChange:
            guard let limit = OwnLimit(rawValue: try member("limit_name")) else {
                throw InvalidValue("limit_unknown", "The limit is single_max or daily_max.")
            }
            self = .limitChange(
                LimitChange(
                    limit: limit,
                    amount: try Money(
                        limit: member("amount"), currency: Currency(member("currency")))))
        }
        // Not only equal values but the same spelling: "1.0" is not what "1.00" was signed as.
        guard self.members == members, self.members.allSatisfy({ sameBytes($0, members) }) else {
            throw InvalidValue("members", "The members are not those of this kind.")
        }
    }
}

/// Swift compares strings by canonical equivalence; what was signed is compared by bytes.
private func sameBytes(_ member: (key: String, value: String), _ other: [String: String]) -> Bool {
    other[member.key].map { member.value.utf8.elementsEqual($0.utf8) } ?? false
}
