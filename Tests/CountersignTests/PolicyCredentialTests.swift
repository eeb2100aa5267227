import Countersign
import TestSupport
import Testing

@Suite struct `What a policy demands of a credential` {
    private func refused(_ policy: Policy, _ content: ActionContent, _ state: RecordedState)
        -> CredentialDemand?
    {
        guard case .refused(.credentialNotAllowed(let demand)) = policy.decide(content, state)
        else { return nil }
        return demand
    }

    @Test func `is nothing when the document says nothing`() throws {
        let rules = try Fixtures.policy().rules
        #expect(rules.requiredAttestation.isEmpty && rules.backupEligible.isEmpty)
        #expect(!rules.requiresAttestation)
        for kind in ActionKind.allCases {
            let state = Fixtures.state(credentialKind: .passkey, credentialBackupEligible: true)
            let refusal = refused(try Fixtures.policy(), try Fixtures.content(kind), state)
            #expect(refusal == nil)
        }
    }

    @Test(arguments: ActionKind.allCases)
    func `of its attestation is one of the profiles, for the kinds that are named`(
        kind: ActionKind
    ) throws {
        let policy = try Fixtures.policy(
            setting: "required_attestation",
            to: .object([.init(kind.rawValue, ["android-biometric-strongbox", "fido-trusted"])]))
        #expect(policy.rules.requiresAttestation)
        for profile in AttestationProfile.allCases {
            let isOne = profile == .androidBiometricStrongBox || profile == .fidoTrusted
            for other in ActionKind.allCases {
                let state = Fixtures.state(credentialProfiles: [profile])
                let demand = refused(policy, try Fixtures.content(other), state)
                // What is said of a change of contact data is said of a change of limits too.
                let isAsked = other == kind || (kind, other) == (.contactChange, .limitChange)
                #expect((demand == nil) == (isOne || !isAsked))
                guard let demand else { continue }
                #expect(demand.profiles == [.androidBiometricStrongBox, .fidoTrusted])
                #expect(demand.kinds == [.deviceKey, .passkey] && demand.backupEligible)
            }
        }
        let none = refused(policy, try Fixtures.content(kind), Fixtures.state())
        #expect(none != nil)
    }

    @Test(arguments: ActionKind.allCases)
    func `can be that it is copied nowhere`(kind: ActionKind) throws {
        let policy = try Fixtures.policy(
            setting: "backup_eligible",
            to: .object([.init(kind.rawValue, ["allowed": .bool(false)])]))
        let content = try Fixtures.content(kind)
        let copied = Fixtures.state(credentialKind: .passkey, credentialBackupEligible: true)
        let demand = refused(policy, content, copied)
        #expect(demand?.backupEligible == false && demand?.kinds == [.deviceKey, .passkey])
        let bound = refused(policy, content, Fixtures.state(credentialKind: .passkey))
        #expect(bound == nil)
        let allowed = try Fixtures.policy(
            setting: "backup_eligible",
            to: .object([.init(kind.rawValue, ["allowed": .bool(true)])]))
        let nothing = refused(allowed, content, copied)
        #expect(nothing == nil)
    }

    /// At the amount a copied passkey will do, one minor unit more it will not.
    @Test func `can be that above an amount it is copied nowhere`() throws {
        let policy = try Fixtures.policy(
            setting: "backup_eligible",
            to: ["transfer": ["allowed": .bool(true), "max": ["EUR": "50.00"]]])
        let copied = Fixtures.state(credentialKind: .passkey, credentialBackupEligible: true)
        let bound = Fixtures.state(credentialKind: .passkey)
        for (amount, currency, state, isRefused) in [
            ("50.00", "EUR", copied, false), ("50.01", "EUR", copied, true),
            ("50.01", "EUR", bound, false),
            // A currency that is not named has no amount up to which a copied one would do.
            ("1", "JPY", copied, true), ("1", "JPY", bound, false),
        ] {
            let transfer = try Fixtures.transfer(amount, currency: currency)
            let demand = refused(policy, transfer, state)
            #expect((demand != nil) == isRefused, "\(amount) \(currency)")
        }
        let other = refused(policy, try Fixtures.content(.newPayee), copied)
        #expect(other == nil)
    }

    @Test func `is looked at before the payee and the limits`() throws {
        let policy = try Fixtures.policy(
            setting: "required_attestation", to: ["transfer": ["app-attest"]])
        let demand = refused(policy, try Fixtures.transfer("500.01"), Fixtures.state(payee: nil))
        #expect(demand?.profiles == [.appAttest])
    }

    @Test func `can leave a credential nothing that it could approve`() throws {
        let bound = CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: false)
        let copied = CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: true)
        let no: JSON = ["allowed": .bool(false)]
        let zero: JSON = ["allowed": .bool(true), "max": ["EUR": "0.00"]]
        let some: JSON = ["allowed": .bool(true), "max": ["EUR": "0.01"]]
        for (transfer, may) in [(no, false), (zero, false), (some, true)] {
            let rules = try Fixtures.policy(
                setting: "backup_eligible",
                to: ["transfer": transfer, "new_payee": no, "contact_change": no]
            ).rules
            #expect(rules.mayApproveSomething(copied) == may)
            #expect(rules.mayApproveSomething(bound))
        }
        let keys = try Fixtures.policy(
            setting: "factors",
            to: [
                "transfer": ["device_key"], "new_payee": ["device_key"],
                "contact_change": ["device_key"],
            ]
        ).rules
        #expect(!keys.mayApproveSomething(bound))
    }

    @Test(
        arguments: [
            ("required_attestation", .null, "required_attestation"),
            ("required_attestation", [], "required_attestation"),
            ("required_attestation", ["transfers": ["app-attest"]], "required_attestation"),
            ("required_attestation", ["transfer": []], "transfer"),
            ("required_attestation", ["transfer": "app-attest"], "transfer"),
            ("required_attestation", ["new_payee": ["App-Attest"]], "new_payee"),
            ("required_attestation", ["new_payee": ["app-attest", .null]], "new_payee"),
            ("backup_eligible", .bool(false), "backup_eligible"),
            ("backup_eligible", ["all": ["allowed": .bool(true)]], "backup_eligible"),
            ("backup_eligible", ["transfer": .bool(true)], "transfer"),
            ("backup_eligible", ["transfer": [:]], "allowed"),
            ("backup_eligible", ["transfer": ["allowed": "true"]], "allowed"),
            (
                "backup_eligible", ["transfer": ["allowed": .bool(true), "maximum": [:]]],
                "transfer"
            ),
            ("backup_eligible", ["transfer": ["allowed": .bool(true), "max": [:]]], "max"),
            ("backup_eligible", ["transfer": ["allowed": .bool(true), "max": "1.00"]], "max"),
            (
                "backup_eligible",
                ["transfer": ["allowed": .bool(false), "max": ["EUR": "1.00"]]], "max"
            ),
            (
                "backup_eligible",
                ["new_payee": ["allowed": .bool(true), "max": ["EUR": "1.00"]]], "max"
            ),
            (
                "backup_eligible",
                ["transfer": ["allowed": .bool(true), "max": ["EUR": "1.001"]]],
                "amount_decimals"
            ),
            (
                "backup_eligible",
                ["transfer": ["allowed": .bool(true), "max": ["XXX": "1.00"]]],
                "currency_unknown"
            ),
            (
                "backup_eligible",
                ["transfer": ["allowed": .bool(true), "max": ["EUR": .integer(1)]]],
                "EUR"
            ),
        ] as [(String, JSON, String)])
    func `is refused when it is not said as documented`(
        member: String, value: JSON, code: String
    ) {
        #expect(
            fault { () throws(PolicyFault) in try Fixtures.policy(setting: member, to: value) }
                == code)
    }

    @Test func `a credential vouches for nothing that it may not do itself`() throws {
        let rules = try Fixtures.policy(
            setting: "required_attestation", to: ["transfer": ["app-attest"]]
        ).rules
        let plain = CredentialTraits(kind: .deviceKey, profiles: [], isBackupEligible: false)
        let attested = CredentialTraits(
            kind: .deviceKey, profiles: [.appAttest], isBackupEligible: false)
        #expect(rules.mayVouch(attested, for: plain))
        #expect(rules.mayVouch(plain, for: plain))
        #expect(rules.mayVouch(attested, for: attested))
        #expect(!rules.mayVouch(plain, for: attested))
        let synced = CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: true)
        let limited = try Fixtures.policy(
            setting: "backup_eligible",
            to: ["transfer": ["allowed": .bool(true), "max": ["EUR": "100.00"]]]
        ).rules
        // A passkey that suffices up to an amount brings in none that suffices beyond it.
        #expect(!limited.mayVouch(synced, for: plain))
        #expect(limited.mayVouch(plain, for: synced))
    }

    /// One person narrows what approves transfers, has a weak passkey bring in a strong key meanwhile, and
    /// waits until the policy is back.
    @Test(
        arguments: [
            ("factors.transfer", ["passkey"]), ("required_attestation.transfer", ["fido-trusted"]),
            ("factors.transfer", []),
        ] as [(String, JSON)])
    func `a weak key vouches for no strong one while the policy is stricter`(
        path: String, value: JSON
    ) throws {
        let document = Fixtures.policyDocument.setting(
            "required_attestation", to: ["transfer": ["app-attest", "fido-trusted"]])
        let (rules, tighter) = (
            try PolicyRules(document: document),
            try PolicyRules(document: document.setting(path, to: value))
        )
        #expect(tighter.isAtLeastAsStrict(as: rules))
        let weak = CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: false)
        let strong = CredentialTraits(
            kind: .deviceKey, profiles: [.appAttest], isBackupEligible: false)
        #expect(!rules.mayVouch(weak, for: strong) && !tighter.mayVouch(weak, for: strong))
    }

    @Test func `a signal that refuses still says who vouches for whom`() throws {
        func rules(_ rooted: JSON) throws -> PolicyRules {
            try PolicyRules(
                document: Fixtures.policyDocument.setting("signals", to: ["rooted": rooted]))
        }
        let before = try rules(["factors": ["device_key"]])
        let without = try rules(["refuse": .bool(true)])
        #expect(!without.isAtLeastAsStrict(as: before))
        let refusing = try rules(["refuse": .bool(true), "factors": ["device_key"]])
        #expect(refusing.isAtLeastAsStrict(as: before))
        let passkey = CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: false)
        let phone = CredentialTraits(kind: .deviceKey, profiles: [], isBackupEligible: false)
        #expect(!before.mayVouch(passkey, for: phone) && !refusing.mayVouch(passkey, for: phone))
    }

    /// Attestations that nobody asks for, and copies that are as good as any, are in nobody's way.
    @Test func `a passkey vouches for a phone where the policy trusts both alike`() throws {
        let phone = CredentialTraits(
            kind: .deviceKey, profiles: [.appAttest], isBackupEligible: false)
        let synced = CredentialTraits(kind: .passkey, profiles: [], isBackupEligible: true)
        #expect(try Fixtures.policy().rules.mayVouch(synced, for: phone))
        let trusted = CredentialTraits(
            kind: .passkey, profiles: [.fidoTrusted], isBackupEligible: false)
        let attested = try Fixtures.policy(
            setting: "required_attestation", to: ["transfer": ["app-attest", "fido-trusted"]]
        ).rules
        #expect(attested.mayVouch(trusted, for: phone) && attested.mayVouch(phone, for: trusted))
    }
}
