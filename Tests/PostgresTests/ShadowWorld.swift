import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport

/// People of the risk team on a bank whose customers decide, and drafts that are evaluated beside.
struct ShadowWorld: Sendable {
    let bank: DecisionWorld
    let customer: TestCustomer
    let anna: ID<Client>
    let shadows: Shadows
    /// The verdicts that workers of ``evaluate`` said were new.
    let reported = Locked<[ShadowVerdict]>([])

    static func with<Result>(_ body: (ShadowWorld) async throws -> Result) async throws -> Result {
        try await DecisionWorld.with { try await body(ShadowWorld($0)) }
    }

    init(_ bank: DecisionWorld) async throws {
        self.bank = bank
        try await bank.policy(["{open_challenges_max}": "100"])
        customer = try await bank.customer()
        anna = ID(rawValue: 7)
        let isNew = try await bank.administration.addClient(
            anna, name: "anna", role: .risk, keyDigest: sha256([7]), subjectAlternativeName: nil)
        guard isNew else { throw Unexpected("there is anna already") }
        shadows = Shadows(
            store: PostgresShadowStore(
                database: bank.database,
                service: ServiceSubject(
                    database: bank.database, sealer: bank.sealer,
                    keyEncryption: bank.keyEncryption, entropy: .openSSL)),
            sha256: .openSSL, entropy: .openSSL)
    }

    /// The policy in force, with one member changed.
    func draft(
        _ path: String = "currencies.EUR.single_max", _ value: JSON = "15.00"
    ) async throws -> JSON {
        let text = try await bank.text(
            "SELECT convert_from(document, 'UTF8') FROM countersign.policy ORDER BY version DESC LIMIT 1"
        )
        guard let document = JSON(recorded: Bytes((text ?? "").utf8)) else {
            throw Unexpected("no policy")
        }
        return document.setting(path, to: value)
    }

    /// The database's time, and so much more.
    func time(_ seconds: Int64 = 0) async throws -> Instant {
        try await shadows.shadows().at + Seconds(seconds)
    }

    func begin(
        _ draft: JSON? = nil, for seconds: Int64 = 3600, by person: ID<Client>? = nil
    ) async throws -> StartShadowOutcome {
        try await shadows.start(
            StartShadowCommand(
                person: person ?? anna, label: DisplayText("tighter", .credentialLabel),
                document: draft ?? Fixtures.policyDocument, until: try await time(seconds)))
    }

    /// Begins one that has to begin.
    func shadow(_ draft: JSON? = nil) async throws -> PolicyShadow {
        let outcome = try await begin(draft)
        guard case .started(let shadow, _) = outcome else { throw Unexpected("\(outcome)") }
        return shadow
    }

    /// What the background worker of one instance does, once.
    func evaluate() async throws {
        let worker = EvaluateShadows(queue: PostgresShadowQueue(database: bank.database)) {
            [reported] verdict in reported.withLock { $0.append(verdict) }
        }
        while try await worker() {}
    }

    func report(_ shadow: PolicyShadow) async throws -> JSON {
        guard let found = try await shadows.report(of: shadow.id) else {
            throw Unexpected("the shadow is gone")
        }
        return found.report.json
    }

    /// Approves a transfer of each amount.
    @discardableResult
    func pay(_ amounts: String...) async throws -> [DecisionOutcome] {
        var outcomes: [DecisionOutcome] = []
        for amount in amounts {
            outcomes.append(try await bank.approve(Fixtures.transfer(amount), customer))
        }
        return outcomes
    }

    /// Records a copy of the newest decision, for what no service would write.
    func copyDecision(_ changes: String) -> String {
        """
        INSERT INTO countersign.policy_decision (evidence_id, action_id, policy_version, decided_at,
               inputs, outcome, hold_until, hold_rule)
        SELECT gen_random_uuid(), action_id, policy_version, \(changes), outcome, hold_until, hold_rule
          FROM countersign.policy_decision ORDER BY decided_at DESC LIMIT 1
        """
    }
}

extension TestDatabase {
    /// Runs several statements as the superuser.
    func runScript(_ text: String) async throws {
        try await run { connection throws(PostgresError) in try connection.run(script: text) }
    }
}
