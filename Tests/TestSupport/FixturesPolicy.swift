package import Countersign

extension Fixtures {
    /// A small policy document with round numbers, so that a test can do sums in its head.
    package static let policyDocument: JSON = [
        "version": "countersign/policy/1",
        "time_zone": "Europe/Berlin",
        "home_currency": "EUR",
        "challenge_lifetime_s": .integer(300),
        "action_lifetime_s": .integer(900),
        "open_challenges_max": .integer(10),
        "attempts": [
            "per_challenge": .integer(3), "per_action": .integer(5), "per_customer": .integer(5),
            "lock_s": .integer(1800),
        ],
        "payee": [
            "cooling_off_s": .integer(86_400), "mode": "hold", "new_period_s": .integer(345_600),
        ],
        "new_credential_cooling_off_s": [
            "transfer": .integer(3600), "new_payee": .integer(7200),
            "contact_change": .integer(10_800),
        ],
        "contact_change_hold_s": .integer(86_400),
        "factors": [
            "transfer": ["device_key", "passkey"], "new_payee": ["device_key", "passkey"],
            "contact_change": ["device_key", "passkey"],
        ],
        "currencies": [
            "EUR": [
                "single_max": "500.00", "daily_max": "1000.00", "first_transfer_max": "100.00",
                "new_payee_sum_max": "250.00",
            ],
            "JPY": [
                "single_max": "50000", "daily_max": "100000", "first_transfer_max": "10000",
                "new_payee_sum_max": "25000",
            ],
        ],
    ]

    /// The fixtures' policy, with one member of its document replaced.
    ///
    /// - Throws: ``PolicyFault`` when the changed document is refused.
    package static func policy(
        setting path: String? = nil, to value: JSON? = nil
    ) throws(PolicyFault) -> Policy {
        try policy(setting: path.map { [($0, value)] } ?? [])
    }

    /// The fixtures' policy, with several members of its document replaced.
    ///
    /// - Throws: ``PolicyFault`` when the changed document is refused.
    package static func policy(
        setting changes: [(String, JSON?)]
    ) throws(PolicyFault) -> Policy {
        let document = changes.reduce(policyDocument) { $0.setting($1.0, to: $1.1) }
        guard let digest = Digest(bytes32(9)) else { preconditionFailure("a digest has 32 bytes") }
        return Policy(version: 3, digest: digest, rules: try PolicyRules(document: document))
    }
}

extension JSON {
    /// This object with the member at a path like `payee.mode` set, added, or for `nil` removed.
    package func setting(_ path: String, to value: JSON?) -> JSON {
        let steps = path.split(separator: ".", maxSplits: 1)
        guard case .object(var members) = self, let first = steps.first else { return self }
        let name = String(first)
        let changed =
            steps.count == 1
            ? value : (self[name] ?? .object([])).setting(String(steps[1]), to: value)
        let index = members.firstIndex { $0.name == name }
        switch (index, changed) {
        case (let index?, let changed?): members[index] = Member(name, changed)
        case (let index?, nil): members.remove(at: index)
        case (nil, let changed?): members.append(Member(name, changed))
        case (nil, nil): break
        }
        return .object(members)
    }
}
