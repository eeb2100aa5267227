/// Reads a policy document. What the law bounds is bounded here and refuses a document beyond it.
extension PolicyRules {
    /// The member `version` of the documents that are read.
    package static let documentVersion = "countersign/policy/1"
    /// Source: WebAuthn L3 §15.1 recommends at most 600 s for a ceremony.
    package static let challengeLifetimeMax = Seconds(600)
    /// Source: PSD2 RTS Art. 4(3)(b), at most five consecutive failures.
    package static let failuresMax = 5

    /// - Throws: The first thing that is wrong, with the member's name as its code.
    package init(document: JSON) throws(InvalidValue) {
        let reader = DocumentReader(document)
        guard document["version"]?.text == PolicyRules.documentVersion else {
            throw InvalidValue("version", "The document is not of this version.")
        }
        guard let zone = document["time_zone"]?.text, !zone.isEmpty else {
            throw InvalidValue("time_zone", "A time zone is needed.")
        }
        timeZone = zone
        challengeLifetime = try reader.seconds(
            "challenge_lifetime_s", in: 30...PolicyRules.challengeLifetimeMax.count)
        actionLifetime = try reader.seconds("action_lifetime_s", in: 60...86_400)
        openChallengesMax = try reader.count("open_challenges_max", in: 1...100)
        attempts = try Attempts(DocumentReader(document["attempts"]))
        let payee = DocumentReader(document["payee"])
        payeeCoolingOff = try payee.seconds("cooling_off_s", in: 0...345_600)
        newPayeePeriod = try payee.seconds("new_period_s", in: 0...2_592_000)
        guard let mode = document["payee"]?["mode"]?.text.flatMap(CoolingOffMode.init) else {
            throw InvalidValue("mode", "The mode is hold or refuse.")
        }
        payeeCoolingOffMode = mode
        contactChangeHold = try reader.seconds("contact_change_hold_s", in: 0...345_600)
        let coolingOff = DocumentReader(document["new_credential_cooling_off_s"])
        newCredentialCoolingOff = try coolingOff.byKind { (kind) throws(InvalidValue) in
            try coolingOff.seconds(kind.rawValue, in: 0...259_200)
        }
        let factorRules = DocumentReader(document["factors"])
        factors = try factorRules.byKind { (kind) throws(InvalidValue) in
            try factorRules.credentialKinds(kind.rawValue)
        }
        requiredAttestation = try DocumentReader.forKinds("required_attestation", of: document) {
            (reader, kind) throws(InvalidValue) in try reader.profiles(kind.rawValue)
        }
        backupEligible = try DocumentReader.forKinds("backup_eligible", of: document) {
            (reader, kind) throws(InvalidValue) in
            try BackupEligibleRule(reader.member(kind.rawValue), for: kind)
        }
        currencies = try PolicyRules.limits(document["currencies"])
        homeCurrency = try Currency(document["home_currency"]?.text ?? "")
        guard currencies[homeCurrency] != nil else {
            throw InvalidValue("home_currency", "The home currency needs limits.")
        }
    }

    private static func limits(
        _ json: JSON?
    ) throws(InvalidValue) -> [Currency: CurrencyLimits] {
        guard case .object(let members) = json else {
            throw InvalidValue("currencies", "The limits by currency are missing.")
        }
        var limits: [Currency: CurrencyLimits] = [:]
        for member in members {
            let currency = try Currency(member.name)
            func amount(_ name: String) throws(InvalidValue) -> Money {
                guard let text = member.value[name]?.text else {
                    throw InvalidValue(name, "A limit of \(currency.code) is missing.")
                }
                return try Money(limit: text, currency: currency)
            }
            limits[currency] = CurrencyLimits(
                singleMax: try amount("single_max"), dailyMax: try amount("daily_max"),
                firstTransferMax: try amount("first_transfer_max"),
                newPayeeSumMax: try amount("new_payee_sum_max"))
        }
        return limits
    }
}

extension PolicyRules.Attempts {
    fileprivate init(_ reader: DocumentReader) throws(InvalidValue) {
        let bound = 1...Int64(PolicyRules.failuresMax)
        perChallenge = try reader.count("per_challenge", in: bound)
        perAction = try reader.count("per_action", in: bound)
        perCustomer = try reader.count("per_customer", in: bound)
        lock = try reader.seconds("lock_s", in: 300...86_400)
    }
}

extension PolicyRules.BackupEligibleRule {
    fileprivate init(_ json: JSON?, for kind: ActionKind) throws(InvalidValue) {
        try DocumentReader(json).refuseOthers(than: ["allowed", "max"], as: kind.rawValue)
        guard case .bool(let isAllowed) = json?["allowed"] else {
            throw InvalidValue("allowed", "Whether they are allowed is true or false.")
        }
        guard let max = json?["max"] else {
            self = isAllowed ? .allowed : .refused
            return
        }
        guard isAllowed, kind == .transfer, case .object(let members) = max, !members.isEmpty
        else {
            throw InvalidValue("max", "Amounts by currency are for transfers that are allowed.")
        }
        var maxima: [Currency: Money] = [:]
        for member in members {
            let currency = try Currency(member.name)
            maxima[currency] = try Money(limit: member.value.text ?? "", currency: currency)
        }
        self = .upTo(maxima)
    }
}

/// Reads the members of one object of the document.
private struct DocumentReader {
    private let json: JSON?

    init(_ json: JSON?) { self.json = json }

    func count(_ name: String, in range: ClosedRange<Int64>) throws(InvalidValue) -> Int {
        guard case .integer(let value) = json?[name], range.contains(value) else {
            throw InvalidValue(
                name, "A whole number from \(range.lowerBound) to \(range.upperBound) is needed.")
        }
        return Int(value)
    }

    func seconds(_ name: String, in range: ClosedRange<Int64>) throws(InvalidValue) -> Seconds {
        Seconds(Int64(try count(name, in: range)))
    }

    func credentialKinds(_ name: String) throws(InvalidValue) -> [CredentialKind] {
        guard case .array(let words) = json?[name] else {
            throw InvalidValue(name, "A list of kinds of credential is needed.")
        }
        var kinds: [CredentialKind] = []
        for word in words {
            guard let kind = word.text.flatMap(CredentialKind.init(rawValue:)) else {
                throw InvalidValue(name, "A kind of credential is device_key or passkey.")
            }
            kinds.append(kind)
        }
        return kinds
    }

    func member(_ name: String) -> JSON? { json?[name] }

    func profiles(_ name: String) throws(InvalidValue) -> [AttestationProfile] {
        guard case .array(let words) = json?[name], !words.isEmpty else {
            throw InvalidValue(name, "A list of profiles is needed; leave it out to require none.")
        }
        var profiles: [AttestationProfile] = []
        for word in words {
            guard let profile = word.text.flatMap(AttestationProfile.init(rawValue:)) else {
                throw InvalidValue(name, "There is no attestation profile of this name.")
            }
            profiles.append(profile)
        }
        return profiles
    }

    /// Reads a member that may be left out, and in it what is said of some kinds of action. A word that
    /// is no kind is refused: misspelt, a demand would demand nothing.
    static func forKinds<Value>(
        _ name: String, of document: JSON,
        _ read: (DocumentReader, ActionKind) throws(InvalidValue) -> Value
    ) throws(InvalidValue) -> [ActionKind: Value] {
        guard let json = document[name] else { return [:] }
        let reader = DocumentReader(json)
        try reader.refuseOthers(than: ActionKind.allCases.map(\.rawValue), as: name)
        var values: [ActionKind: Value] = [:]
        for kind in ActionKind.allCases where json[kind.rawValue] != nil {
            values[kind] = try read(reader, kind)
        }
        return values
    }

    /// Refuses what is no object, or has a member of another name.
    func refuseOthers(than names: [String], as name: String) throws(InvalidValue) {
        guard case .object(let members) = json, members.allSatisfy({ names.contains($0.name) })
        else {
            throw InvalidValue(name, "Only \(names.joined(separator: ", ")) can stand here.")
        }
    }

    func byKind<Value>(
        _ read: (ActionKind) throws(InvalidValue) -> Value
    ) throws(InvalidValue) -> [ActionKind: Value] {
        var values: [ActionKind: Value] = [:]
        for kind in ActionKind.allCases { values[kind] = try read(kind) }
        return values
    }
}
