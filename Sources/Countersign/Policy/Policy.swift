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
package struct PolicyRules: Sendable {
    /// How the cooling-off of a payee works.
    package enum CoolingOffMode: String, Sendable {
        /// Approve now, execute when it has ended.
        case hold
        /// Refuse until it has ended.
        case refuse
    }

    /// The caps of one currency.
    package struct CurrencyLimits: Sendable {
        package let singleMax: Money
        package let dailyMax: Money
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
    package struct Attempts: Sendable {
        package let perChallenge: Int
        package let perAction: Int
        package let perCustomer: Int
        package let lock: Seconds
    }

    /// The bank's time zone, by which its days are counted; an IANA name.
    package let timeZone: String
    /// The currency in which a payee's allowance is shown; one of ``currencies``.
    package let homeCurrency: Currency
    package let challengeLifetime: Seconds
    package let actionLifetime: Seconds
    package let openChallengesMax: Int
    package let attempts: Attempts
    package let payeeCoolingOff: Seconds
    package let payeeCoolingOffMode: CoolingOffMode
    package let newPayeePeriod: Seconds
    package let newCredentialCoolingOff: [ActionKind: Seconds]
    package let contactChangeHold: Seconds
    package let factors: [ActionKind: [CredentialKind]]
    /// The profiles of attestation of which a credential must have met one; a kind that is not named
    /// needs none.
    package let requiredAttestation: [ActionKind: [AttestationProfile]]
    /// Whether passkeys that may be copied to other devices will do; they do for a kind that is not
    /// named.
    package let backupEligible: [ActionKind: BackupEligibleRule]
    package let currencies: [Currency: CurrencyLimits]
}
