package import Countersign

/// Good values by default: a test overrides the one that it is about.
package enum Fixtures {
    /// Monday, 5 January 2026, 10:00:00 UTC.
    package static let at = Instant(milliseconds: 1_767_607_200_000)
    /// The relying-party ID of every fixture.
    package static let audience = "bank.example"
    package static let origin = "https://bank.example"
    package static let bankDay = "2026-01-05"
    package static let iban = "DE89370400440532013000"
    package static let payeeIBAN = "FR1420041010050500013M02606"

    package static let defaultPayee = (name: "Erika Mustermann", iban: payeeIBAN)

    /// The same ID for the same number.
    package static func id<Entity>(_ number: Int) -> ID<Entity> {
        ID(rawValue: 0x019b_8d9c_1000_7000_8000_0000_0000_0000 + UInt128(number))
    }

    /// 32 bytes, the same for the same number.
    package static func bytes32(_ number: UInt8) -> Bytes { Bytes(repeating: number, count: 32) }

    package static func payee(
        name: String = "Erika Mustermann", iban: String = payeeIBAN
    ) throws(InvalidValue) -> PayeeIdentity {
        PayeeIdentity(name: try DisplayText(name, .payeeName), account: try Account(iban: iban))
    }

    package static func transfer(
        _ amount: String = "120.00", currency: String = "EUR",
        debtor: String = iban, payee: (name: String, iban: String) = defaultPayee,
        reference: String = "Invoice 7", endToEndID: String = "INV-7"
    ) throws(InvalidValue) -> ActionContent {
        .transfer(
            Transfer(
                amount: try Money(decimal: amount, currency: Currency(currency)),
                debtorAccount: try Account(iban: debtor),
                payee: try self.payee(name: payee.name, iban: payee.iban),
                reference: try DisplayText(reference, .reference),
                endToEndID: try DisplayText(endToEndID, .endToEndID)))
    }

    package static func newPayee(
        payee: (name: String, iban: String) = defaultPayee, alias: String = "Erika"
    ) throws(InvalidValue) -> ActionContent {
        .newPayee(
            NewPayee(
                payee: try self.payee(name: payee.name, iban: payee.iban),
                alias: try DisplayText(alias, .payeeAlias)))
    }

    package static func contactChange(
        channel: String = "phone", oldValueDigest: Digest? = Digest(bytes32(7)),
        newValue: String = "+4915187654321"
    ) throws(InvalidValue) -> ActionContent {
        .contactChange(
            ContactChange(
                oldValueDigest: oldValueDigest,
                newValue: try .init(channel: channel, text: newValue)))
    }

    /// The wish for another limit of one day.
    package static func limitChange(
        _ amount: String = "900.00", limit: OwnLimit = .dailyMax, currency: String = "EUR"
    ) throws(InvalidValue) -> ActionContent {
        .limitChange(
            LimitChange(
                limit: limit, amount: try Money(limit: amount, currency: try Currency(currency))))
    }

    /// One good content of each kind.
    package static func content(_ kind: ActionKind) throws(InvalidValue) -> ActionContent {
        switch kind {
        case .transfer: try transfer()
        case .newPayee: try newPayee()
        case .contactChange: try contactChange()
        case .limitChange: try limitChange()
        }
    }

    /// A message of the fixtures' action, challenge and customer.
    package static func message(
        _ content: ActionContent, action: ID<Action> = id(1), challenge: ID<Challenge> = id(2),
        customer: String = "c-1001", decision: SignedDecision = .approve,
        audience: String = audience, expiresAt: Instant = at + Seconds(300),
        nonce: Bytes = bytes32(1)
    ) throws(InvalidValue) -> SignedMessage {
        SignedMessage(
            actionID: action, audience: audience, challengeID: challenge,
            customerID: try CustomerID(customer), decision: decision, expiresAt: expiresAt,
            nonce: nonce, content: content)
    }

    /// What a policy looks at, of a customer with an established payee and an old credential.
    package static func state(
        at: Instant = at, contactHoldUntil: Instant? = nil,
        credentialKind: CredentialKind = .deviceKey,
        credentialCreatedAt: Instant = at - Seconds(90 * 86_400),
        credentialProfiles: [AttestationProfile] = [], credentialBackupEligible: Bool = false,
        payee: RecordedPayee? = establishedPayee, usedToday: Int64 = 0, usedWhileNew: Int64 = 0,
        risk: RecordedRisk = .unsaid, recoveredAt: Instant? = nil,
        ownLimits: RecordedState.OwnLimits = .init()
    ) -> RecordedState {
        RecordedState(
            at: at, bankDay: bankDay, contactHoldUntil: contactHoldUntil, recoveredAt: recoveredAt,
            credential: RecordedState.Credential(
                traits: CredentialTraits(
                    kind: credentialKind, profiles: credentialProfiles,
                    isBackupEligible: credentialBackupEligible),
                createdAt: credentialCreatedAt),
            payee: payee, risk: risk,
            used: RecordedState.Used(today: usedToday, whileNew: usedWhileNew),
            ownLimits: ownLimits)
    }

    /// Usable and not new for a month.
    package static let establishedPayee = RecordedPayee(
        id: id(5), confirmedAt: at - Seconds(31 * 86_400), usableAt: at - Seconds(30 * 86_400),
        newUntil: at - Seconds(26 * 86_400),
        firstExecutedAt: at - Seconds(29 * 86_400))

    /// Usable, and new although one transfer was executed.
    package static let paidPayee = RecordedPayee(
        id: id(6), confirmedAt: at - Seconds(90_000), usableAt: at - Seconds(3600),
        newUntil: at + Seconds(3 * 86_400), firstExecutedAt: at - Seconds(600))

    /// Usable, and new by both rules.
    package static let newPayee = RecordedPayee(
        id: id(6), confirmedAt: at - Seconds(90_000), usableAt: at - Seconds(3600),
        newUntil: at + Seconds(3 * 86_400),
        firstExecutedAt: nil)
}
