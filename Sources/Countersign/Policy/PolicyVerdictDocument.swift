/// How a verdict is shown, in answers and in evidence: the same words in both.
extension PolicyVerdict {
    /// `{"outcome": "allowed", …}` or `{"outcome": "refused", "rule": …, …}`.
    package var json: JSON {
        switch self {
        case .allowed(let allowance): .object(allowance.members)
        case .refused(let refusal): .object(refusal.members)
        }
    }
}

extension PolicyVerdict {
    /// The same, as a customer can be told before signing: without what is only counted.
    package var forecast: JSON {
        guard case .object(let members) = json else { return json }
        return .object(members.filter { !["reservations", "ceilings"].contains($0.name) })
    }
}

extension Allowance {
    fileprivate var members: [JSON.Member] {
        var members: [JSON.Member] = [
            .init("outcome", "allowed"), .init("hold", hold?.json ?? .null),
            .init("reservations", .array(reservations.map(\.json))),
        ]
        if !ceilings.isEmpty {
            members.append(.init("ceilings", .array(ceilings.map(\.json))))
        }
        if let payeeTimes {
            members.append(.init("usable_at", .string(payeeTimes.usableAt.text)))
            members.append(.init("new_until", .string(payeeTimes.newUntil.text)))
        }
        if let contactHoldUntil {
            members.append(.init("contact_hold_until", .string(contactHoldUntil.text)))
        }
        if let limitBefore {
            members.append(.init("limit_before", .string(String(limitBefore))))
        }
        return members
    }
}

extension Reservation {
    /// What is counted against which cap, in minor units.
    fileprivate var json: JSON {
        [
            "dimension": .string(dimension),
            "window_start": .string(windowStart),
            "amount": .string(String(amount)),
            "cap": .string(String(cap)),
        ]
    }
}

extension Ceiling {
    /// What the functions of the database read, too.
    package var json: JSON {
        [
            "dimensions": .string(dimensions),
            "measure": .string(measure.rawValue),
            "window_s": .integer(window.count),
            "added": .string(String(added)),
            "cap": .string(String(cap)),
        ]
    }
}

extension CredentialDemand {
    /// What will do.
    package var members: [JSON.Member] {
        [
            .init("allowed", .array(kinds.map { .string($0.rawValue) })),
            .init("profiles", .array(profiles.map { .string($0.rawValue) })),
            .init("backup_eligible", .bool(backupEligible)),
        ]
    }
}

extension PolicyRefusal {
    /// One word for the rule that refused.
    package var word: String {
        switch self {
        case .riskRefused: "risk_refused"
        case .credentialNotAllowed: "credential_not_allowed"
        case .assistedNotAllowed: "assisted_not_allowed"
        case .payeeUnknown: "payee_unknown"
        case .payeeNotUsable: "payee_not_usable"
        case .currencyNotAllowed: "currency_not_allowed"
        case .limitExceeded(let limit, _, _): limit.rawValue
        case .countExceeded(let limit, _, _): limit.rawValue
        }
    }

    fileprivate var members: [JSON.Member] {
        let members: [JSON.Member] = [
            .init("outcome", "refused"), .init("rule", .string(word)),
        ]
        switch self {
        case .riskRefused(let rule): return members + [.init("because", .string(rule))]
        case .credentialNotAllowed(let demand): return members + demand.members
        case .assistedNotAllowed, .payeeUnknown, .currencyNotAllowed: return members
        case .payeeNotUsable(let usableAt):
            return members + [.init("usable_at", .string(usableAt.text))]
        case .limitExceeded(_, let allowed, let window):
            return members + [
                .init("allowed", .string(allowed.decimal)), .init("window", .optional(window)),
            ]
        case .countExceeded(_, let max, let window):
            return members + [
                .init("max", .integer(Int64(max))), .init("window", .string(window)),
            ]
        }
    }
}
