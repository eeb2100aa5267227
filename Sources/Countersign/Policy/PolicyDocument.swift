/// Reads a policy document. What the law bounds is bounded here and refuses a document beyond it.
extension PolicyRules {
    /// The member `version` of the documents that are read.
    package static let documentVersion = "countersign/policy/1"
    /// Source: WebAuthn L3 §15.1 recommends at most 600 s for a ceremony.
    package static let challengeLifetimeMax = Seconds(600)
    /// Source: PSD2 RTS Art. 4(3)(b), at most five consecutive failures.
    package static let failuresMax = 5
    /// The word that the bank gives a customer's segment when it gives none.
    package static let defaultSegment = "retail"
    /// Source: standards HP-08 to HP-11: nobody in the market waits longer than four days.
    private static let coolingOffMax: Int64 = 345_600

    /// The members of a document that hold for the whole bank.
    private static let bankMembers = [
        "version", "time_zone", "home_currency", "challenge_lifetime_s", "action_lifetime_s",
        "open_challenges_max", "attempts", "daily_window", "segments",
    ]
    /// The members that may differ for a segment.
    private static let segmentMembers = [
        "payee", "velocity", "new_credential_cooling_off_s", "contact_change_hold_s", "recovery",
        "factors", "factors_above", "required_attestation", "backup_eligible", "currencies",
        "signals", "name_check", "limit_change", "assisted",
    ]

    /// - Throws: The first thing that is wrong, and where.
    package init(document: JSON) throws(PolicyFault) {
        let reader = DocumentReader(document)
        try reader.refuseOthers(than: Self.bankMembers + Self.segmentMembers)
        self = try PolicyRules(whole: document, at: "")
        guard let overrides = document["segments"] else { return }
        guard case .object(let members) = overrides else {
            throw reader.fault("segments", "An object by segment is needed.")
        }
        for member in members {
            let pointer = reader["segments"][member.name].pointer
            try DocumentReader(member.value, at: pointer).refuseOthers(than: Self.segmentMembers)
            let rules = try PolicyRules(whole: document.merging(member.value), at: pointer)
            // The load counts transfers over one window for all customers.
            guard rules.velocity?.window == velocity?.window else {
                throw PolicyFault(
                    pointer: pointer + "/velocity", code: "velocity",
                    detail: "A segment may have another count, not another window.")
            }
            segments[member.name] = rules
        }
    }

    /// Reads all but the segments.
    private init(whole document: JSON, at pointer: String) throws(PolicyFault) {
        let reader = DocumentReader(document, at: pointer)
        guard reader.text("version") == PolicyRules.documentVersion else {
            throw reader.fault("version", "The document is not of this version.")
        }
        guard let zone = reader.text("time_zone"), !zone.isEmpty else {
            throw reader.fault("time_zone", "A time zone is needed.")
        }
        timeZone = zone
        challengeLifetime = try reader.seconds(
            "challenge_lifetime_s", in: 30...PolicyRules.challengeLifetimeMax.count)
        actionLifetime = try reader.seconds("action_lifetime_s", in: 60...86_400)
        openChallengesMax = try reader.count("open_challenges_max", in: 1...100)
        attempts = try Attempts(reader["attempts"])
        dailyWindow = try reader.word(
            "daily_window", or: .calendar, "The window is calendar or rolling_24h.")
        let payee = reader["payee"]
        try payee.refuseOthers(
            than: ["cooling_off_s", "mode", "new_period_s", "unknown", "new_per_day_max"])
        payeeCoolingOff = try payee.seconds("cooling_off_s", in: 0...Self.coolingOffMax)
        newPayeePeriod = try payee.seconds("new_period_s", in: 0...2_592_000)
        payeeCoolingOffMode = try payee.word("mode", or: nil, "The mode is hold or refuse.")
        unknownPayee = try payee.word("unknown", or: .refuse, "This is refuse or as_new.")
        newPayeesPerDayMax =
            payee.has("new_per_day_max") ? try payee.count("new_per_day_max", in: 0...1000) : nil
        velocity = reader.has("velocity") ? try Velocity(reader["velocity"]) : nil
        contactChangeHold = try reader.seconds("contact_change_hold_s", in: 0...Self.coolingOffMax)
        recovery = try RecoveryRule(reader["recovery"])
        newCredentialCoolingOff = try reader["new_credential_cooling_off_s"].byKind {
            (reader, name) throws(PolicyFault) in try reader.seconds(name, in: 0...259_200)
        }
        factors = try reader["factors"].byKind { (reader, name) throws(PolicyFault) in
            try reader.credentialKinds(name)
        }
        factorSteps =
            reader.has("factors_above") ? try Self.factorSteps(reader["factors_above"]) : [:]
        requiredAttestation = try reader["required_attestation"].forKinds {
            (reader, kind) throws(PolicyFault) in try reader.profiles(kind.rawValue)
        }
        backupEligible = try reader["backup_eligible"].forKinds {
            (reader, kind) throws(PolicyFault) in
            try BackupEligibleRule(reader[kind.rawValue], for: kind)
        }
        currencies = try reader["currencies"].byCurrency {
            (reader, name, currency) throws(PolicyFault) in
            try CurrencyLimits(reader[name], currency)
        }
        signals = try Measure.byWord(reader["signals"]) { _ in true }
        let checks = try Measure.byWord(reader["name_check"]) { NameCheck(rawValue: $0) != nil }
        nameChecks = checks.reduce(into: [:]) { checks, entry in
            if let check = NameCheck(rawValue: entry.key) { checks[check] = entry.value }
        }
        limitChange = reader.has("limit_change") ? try LimitChangeRule(reader["limit_change"]) : nil
        assisted = reader.has("assisted") ? try AssistedRule(reader["assisted"]) : nil
        homeCurrency = try reader.currency(
            reader.text("home_currency") ?? "", at: reader["home_currency"].pointer)
        guard currencies[homeCurrency] != nil else {
            throw reader.fault("home_currency", "The home currency needs limits.")
        }
        segments = [:]
    }

    private static func factorSteps(
        _ reader: DocumentReader
    ) throws(PolicyFault) -> [Currency: [FactorStep]] {
        try reader.byCurrency { (reader, name, currency) throws(PolicyFault) in
            guard case .array(let elements) = reader.json?[name] else {
                throw reader.fault(name, "A list of steps is needed.")
            }
            var steps: [FactorStep] = []
            for (index, element) in elements.enumerated() {
                let step = DocumentReader(element, at: "\(reader[name].pointer)/\(index)")
                try step.refuseOthers(than: ["above", "kinds"])
                steps.append(
                    FactorStep(
                        above: try step.amount("above", currency),
                        kinds: try step.credentialKinds("kinds")))
            }
            return steps.sorted { $0.above.minorUnits < $1.above.minorUnits }
        }
    }
}

extension PolicyRules.Attempts {
    fileprivate init(_ reader: DocumentReader) throws(PolicyFault) {
        try reader.refuseOthers(than: ["per_challenge", "per_action", "per_customer", "lock_s"])
        let bound = 1...Int64(PolicyRules.failuresMax)
        perChallenge = try reader.count("per_challenge", in: bound)
        perAction = try reader.count("per_action", in: bound)
        perCustomer = try reader.count("per_customer", in: bound)
        lock = try reader.seconds("lock_s", in: 300...86_400)
    }
}

extension PolicyRules.Velocity {
    fileprivate init(_ reader: DocumentReader) throws(PolicyFault) {
        try reader.refuseOthers(than: ["transfers_max", "window_s"])
        transfersMax = try reader.count("transfers_max", in: 0...10_000)
        window = try reader.seconds("window_s", in: 60...86_400)
    }
}

extension PolicyRules.RecoveryRule {
    /// Bounds: standards §i. Left out, it is the default there.
    fileprivate init(_ reader: DocumentReader) throws(PolicyFault) {
        try reader.refuseOthers(than: ["hold_s", "payee_age_s", "held_approvals"])
        hold = try reader.seconds("hold_s", in: 86_400...604_800, or: Seconds(259_200))
        payeeAge = try reader.seconds("payee_age_s", in: 0...31_536_000, or: Seconds(2_592_000))
        heldApprovals = try reader.word(
            "held_approvals", or: .cancel, "Held approvals are cancel or keep.")
    }
}

extension PolicyRules.AssistedRule {
    /// Source of the bounds: standards HP-11 and HP-14, a day is the least for which the market holds what
    /// it doubts, and a week is as long as anything may be held.
    fileprivate init(_ reader: DocumentReader) throws(PolicyFault) {
        try reader.refuseOthers(than: ["hold_s", "max"])
        hold = try reader.seconds("hold_s", in: 86_400...604_800)
        max = try reader.amounts("max")
    }
}

extension PolicyRules.CurrencyLimits {
    fileprivate init(_ reader: DocumentReader, _ currency: Currency) throws(PolicyFault) {
        try reader.refuseOthers(
            than: ["single_max", "daily_max", "first_transfer_max", "new_payee_sum_max"])
        singleMax = try reader.amount("single_max", currency)
        dailyMax = try reader.amount("daily_max", currency)
        firstTransferMax = try reader.amount("first_transfer_max", currency)
        newPayeeSumMax = try reader.amount("new_payee_sum_max", currency)
    }
}

extension PolicyRules.BackupEligibleRule {
    fileprivate init(_ reader: DocumentReader, for kind: ActionKind) throws(PolicyFault) {
        try reader.refuseOthers(than: ["allowed", "max"])
        guard case .bool(let isAllowed) = reader.json?["allowed"] else {
            throw reader.fault("allowed", "Whether they are allowed is true or false.")
        }
        guard let max = reader.json?["max"] else {
            self = isAllowed ? .allowed : .refused
            return
        }
        guard isAllowed, kind == .transfer, case .object(let members) = max, !members.isEmpty
        else {
            throw reader.fault("max", "Amounts by currency are for transfers that are allowed.")
        }
        self = .upTo(try reader.amounts("max"))
    }
}

extension PolicyRules.LimitChangeRule {
    fileprivate init(_ reader: DocumentReader) throws(PolicyFault) {
        try reader.refuseOthers(than: ["delay_s", "single_max", "daily_max"])
        delay = try reader.seconds("delay_s", in: 0...259_200)
        singleMax = try reader.amounts("single_max")
        dailyMax = try reader.amounts("daily_max")
    }
}

extension Measure {
    fileprivate static func byWord(
        _ reader: DocumentReader, _ isKnown: (String) -> Bool
    ) throws(PolicyFault) -> [String: Measure] {
        guard let json = reader.json else { return [:] }
        guard case .object(let members) = json else {
            throw PolicyFault(
                pointer: reader.pointer, code: "measures", detail: "An object is needed.")
        }
        var measures: [String: Measure] = [:]
        for member in members {
            guard isKnown(member.name), !member.name.isEmpty else {
                throw reader.fault(member.name, "There is no result of a name check like this.")
            }
            measures[member.name] = try Measure(reader[member.name])
        }
        return measures
    }

    private init(_ reader: DocumentReader) throws(PolicyFault) {
        try reader.refuseOthers(
            than: ["kinds", "refuse", "hold_s", "at_hold_end", "max", "factors"])
        kinds =
            reader.has("kinds")
            ? try reader.words("kinds", "A list of kinds of action is needed.")
            : ActionKind.allCases
        refuses = try reader.flag("refuse", or: false)
        hold = try reader.seconds("hold_s", in: 0...604_800, or: Seconds(0))
        holdEnd = try reader.word(
            "at_hold_end", or: .release, "At its end a hold will release or cancel.")
        max = try reader.amounts("max")
        factors = reader.has("factors") ? try reader.credentialKinds("factors") : nil
    }
}

extension DocumentReader {
    fileprivate func profiles(_ name: String) throws(PolicyFault) -> [AttestationProfile] {
        guard case .array(let words) = json?[name], !words.isEmpty else {
            throw fault(name, "A list of profiles is needed; leave it out to require none.")
        }
        return try self.words(name, "There is no attestation profile of this name.")
    }
}

extension JSON {
    /// This object with the members of another laid over it; objects within are merged likewise.
    fileprivate func merging(_ other: JSON) -> JSON {
        guard case .object(let mine) = self, case .object(let theirs) = other else { return other }
        var merged = mine.map { member in
            Member(member.name, other[member.name].map(member.value.merging) ?? member.value)
        }
        merged += theirs.filter { self[$0.name] == nil }
        return .object(merged)
    }
}
