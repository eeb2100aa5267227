package import Countersign

extension Fixtures {
    /// The fixtures' policy with every rule in use, for tables and properties.
    package static let richDocument: JSON =
        policyDocument
        .setting("payee.unknown", to: "as_new")
        .setting("payee.new_per_day_max", to: .integer(2))
        .setting("velocity", to: ["transfers_max": .integer(3), "window_s": .integer(3600)])
        .setting(
            "recovery",
            to: [
                "hold_s": .integer(259_200), "payee_age_s": .integer(2_592_000),
                "held_approvals": "cancel",
            ]
        )
        .setting(
            "factors_above", to: ["EUR": [["above": "400.00", "kinds": ["passkey"]]]]
        )
        .setting(
            "backup_eligible",
            to: ["transfer": ["allowed": .bool(true), "max": ["EUR": "300.00"]]]
        )
        .setting(
            "signals",
            to: [
                "remote_access": ["refuse": .bool(true)],
                "new_device": ["hold_s": .integer(7200), "at_hold_end": "cancel"],
                "sim_change": ["max": ["EUR": "30.00"], "kinds": ["transfer"]],
                "rooted": ["factors": ["passkey"]],
            ]
        )
        .setting(
            "name_check",
            to: [
                "no_match": ["hold_s": .integer(3600), "max": ["EUR": "50.00"]],
                "not_possible": ["hold_s": .integer(60)],
            ]
        )
        .setting(
            "limit_change",
            to: [
                "delay_s": .integer(43_200), "single_max": ["EUR": "800.00"],
                "daily_max": ["EUR": "2000.00"],
            ]
        )
        .setting(
            "assisted", to: ["hold_s": .integer(172_800), "max": ["EUR": "200.00"]]
        )
        .setting(
            "segments",
            to: ["young": ["currencies": ["EUR": ["single_max": "30.00"]]], "private": [:]])
}

extension PolicyVerdict {
    /// A verdict in one line: `allowed`, `held SECONDS RULE [cancel]`, or `refused RULE [ALLOWED]`.
    package func line(at: Instant) -> String {
        switch self {
        case .allowed(let allowance):
            guard let hold = allowance.hold else { return "allowed" }
            let length = Double(hold.until.milliseconds - at.milliseconds) / 1000
            let seconds = length == length.rounded() ? String(Int64(length)) : String(length)
            return "held \(seconds) \(hold.rule.rawValue)" + (hold.end == .cancel ? " cancel" : "")
        case .refused(.limitExceeded(let limit, let allowed, _)):
            return "refused \(limit.rawValue) \(allowed.decimal)"
        case .refused(.riskRefused(let rule)): return "refused \(rule)"
        case .refused(let refusal): return "refused \(refusal.word)"
        }
    }
}

extension PolicyVerdict {
    package var isAllowed: Bool { if case .allowed = self { true } else { false } }
}
