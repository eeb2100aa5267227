import Countersign

/// Who and what the story is about. Names and accounts are the usual examples of documentation.
enum Cast {
    static let debtorAccount: JSON = ["iban": "DE89370400440532013000"]
    /// Confirmed long ago, and imported.
    static let knownName = "Erika Mustermann"
    static let knownAccount = "FR1420041010050500013M02606"
    /// Added in the story.
    static let newName = "Stadtwerke Musterstadt"
    static let newAccount = "NL91ABNA0417164300"

    /// Has no key, and nobody but two officers acts for this customer.
    static let customerWithoutPhone = "c-2002"

    static func known() -> JSON { payee(knownName, knownAccount) }
    static func new() -> JSON { payee(newName, newAccount) }

    private static func payee(_ name: String, _ account: String) -> JSON {
        ["name": .string(name), "account": ["iban": .string(account)]]
    }

    /// The body that creates a transfer in euros.
    static func transfer(
        _ amount: String, to payee: JSON, _ reference: String,
        of customer: String = DemoBank.customer
    ) -> JSON {
        [
            "customer_id": .string(customer), "kind": "transfer",
            "transfer": [
                "amount": .string(amount), "currency": "EUR", "debtor_account": debtorAccount,
                "payee": payee, "reference": .string(reference),
            ],
        ]
    }

    /// What the phone shows for such a transfer.
    static func screen(_ verb: String, _ amount: String, _ reference: String) -> String {
        "\(verb): pay \(amount) EUR to \(knownName), iban:\(knownAccount) for “\(reference)”"
    }
}
