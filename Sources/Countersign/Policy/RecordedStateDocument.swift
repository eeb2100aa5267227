/// What a policy looked at, as evidence keeps it: enough to decide again.
///
/// Flat and of texts, like the signed message, so that it has one spelling and is read by the same code.
extension RecordedState {
    /// Every member, empty where there is nothing.
    package var members: [String: String] {
        var members = always
        // Only where it is so: records of before officers could approve say nothing of it.
        if isAssisted { members["assisted"] = "true" }
        if ownLimits.tellsRaises {
            members["own_single_raised"] = ownLimits.singleMax?.isRaised == true ? "true" : "false"
            members["own_daily_raised"] = ownLimits.dailyMax?.isRaised == true ? "true" : "false"
        }
        return members
    }

    private var always: [String: String] {
        [
            "at": at.text,
            "bank_day": bankDay,
            "contact_hold_until": contactHoldUntil?.text ?? "",
            "recovered_at": recoveredAt?.text ?? "",
            "credential_kind": credential?.traits.kind.rawValue ?? "",
            "credential_created_at": credential?.createdAt.text ?? "",
            "credential_profiles": (credential?.traits.profiles ?? []).map(\.rawValue)
                .joined(separator: ","),
            "credential_backup_eligible": credential?.traits.isBackupEligible == true
                ? "true" : "false",
            "payee_id": payee?.id.text ?? "",
            "payee_confirmed_at": payee?.confirmedAt.text ?? "",
            "payee_usable_at": payee?.usableAt.text ?? "",
            "payee_new_until": payee?.newUntil.text ?? "",
            "payee_first_executed_at": payee?.firstExecutedAt?.text ?? "",
            "segment": risk.segment,
            "signals": risk.signals.joined(separator: ","),
            "name_check": risk.nameCheck?.rawValue ?? "",
            "used_today": String(used.today),
            "used_last_24h": String(used.last24h),
            "used_while_new": String(used.whileNew),
            "transfers_in_window": String(used.transfersInWindow),
            "new_payees_today": String(used.newPayeesToday),
            "own_single_max": ownLimits.singleMax.map { String($0.minorUnits) } ?? "",
            "own_daily_max": ownLimits.dailyMax.map { String($0.minorUnits) } ?? "",
        ]
    }

    /// The members as one JSON object of texts.
    package var json: JSON {
        .object(members.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
    }

    /// The members in their canonical bytes.
    package var encoded: Bytes { CanonicalJSON.encode(members) }

    /// Reads what ``encoded`` wrote; `nil` for everything else.
    package init?(decoding bytes: Bytes) {
        // Written again it is those very bytes: so they were canonical, and all of them was understood.
        guard let members = CanonicalJSON.parse(bytes), let state = Self(reading: members),
            state.encoded == bytes
        else { return nil }
        self = state
    }

    /// Reads what ``members`` wrote; `nil` for everything else.
    package init?(members: [String: String]) {
        // One spelling: whatever was not understood does not come out again.
        guard let state = Self(reading: members), state.members == members else { return nil }
        self = state
    }

    /// Reads what it understands of members; `nil` when one that is always there is missing.
    private init?(reading members: [String: String]) {
        func instant(_ name: String) -> Instant? { members[name].flatMap(Instant.init(text:)) }
        // What counts against a cap is never below zero; a cap less such a number could not be told.
        func count(_ name: String) -> Int64? {
            members[name].flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
        }
        func own(_ amount: String, _ raised: String) -> OwnAmount? {
            // Until it was recorded, whatever the customer had set could give more.
            count(amount).map {
                OwnAmount($0, isRaised: members[raised, default: "true"] == "true")
            }
        }
        func words(_ name: String) -> [String] {
            (members[name] ?? "").split(separator: ",").map(String.init)
        }
        guard let at = instant("at"), let bankDay = members["bank_day"],
            let segment = members["segment"], let today = count("used_today"),
            let last24h = count("used_last_24h"), let whileNew = count("used_while_new"),
            let transfersInWindow = count("transfers_in_window"),
            let newPayeesToday = count("new_payees_today")
        else { return nil }
        self.init(
            at: at, bankDay: bankDay, contactHoldUntil: instant("contact_hold_until"),
            recoveredAt: instant("recovered_at"), credential: nil, payee: nil,
            risk: RecordedRisk(
                segment: segment, signals: words("signals"),
                nameCheck: members["name_check"].flatMap(NameCheck.init(rawValue:))),
            used: Used(
                today: today, last24h: last24h, whileNew: whileNew,
                transfersInWindow: transfersInWindow, newPayeesToday: newPayeesToday),
            ownLimits: OwnLimits(
                singleMax: own("own_single_max", "own_single_raised"),
                dailyMax: own("own_daily_max", "own_daily_raised"),
                tellsRaises: members["own_single_raised"] != nil))
        isAssisted = members["assisted"] == "true"
        if let kind = members["credential_kind"].flatMap(CredentialKind.init(rawValue:)),
            let createdAt = instant("credential_created_at")
        {
            credential = Credential(
                traits: CredentialTraits(
                    kind: kind,
                    profiles: words("credential_profiles")
                        .compactMap(AttestationProfile.init(rawValue:)),
                    isBackupEligible: members["credential_backup_eligible"] == "true"),
                createdAt: createdAt)
        }
        if let id = members["payee_id"].flatMap({ ID<Payee>($0) }),
            let confirmedAt = instant("payee_confirmed_at"),
            let usableAt = instant("payee_usable_at"), let newUntil = instant("payee_new_until")
        {
            payee = RecordedPayee(
                id: id, confirmedAt: confirmedAt, usableAt: usableAt, newUntil: newUntil,
                firstExecutedAt: instant("payee_first_executed_at"))
        }
    }
}
