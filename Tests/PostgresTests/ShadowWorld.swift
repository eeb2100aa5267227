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
    let store: PostgresShadowStore
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
        store = PostgresShadowStore(
            database: bank.database,
            service: ServiceSubject(
                database: bank.database, sealer: bank.sealer, keyEncryption: bank.keyEncryption,
                entropy: .openSSL))
        shadows = Shadows(store: store, sha256: .openSSL, entropy: .openSSL)
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
        try await shadows.shadows(ShadowQuery(limit: 1)).at + Seconds(seconds)
    }

    func begin(
        _ draft: JSON? = nil, for seconds: Int64 = 3600, by person: ID<Client>? = nil
    ) async throws -> StartShadowOutcome {
        try await shadows.start(
            StartShadowCommand(
                person: person ?? anna, label: DisplayText("tighter", .shadowLabel),
                document: draft ?? Fixtures.policyDocument, until: try await time(seconds)))
    }

    /// Begins one that has to begin.
    func shadow(_ draft: JSON? = nil) async throws -> PolicyShadow {
        let outcome = try await begin(draft)
        guard case .started(let shadow, _) = outcome else { throw Unexpected("\(outcome)") }
        return shadow
    }

    /// What the background worker of one instance does, once.
    func evaluate(_ reach: ShadowReach = .whole) async throws {
        let worker = EvaluateShadows(queue: PostgresShadowQueue(database: bank.database)) {
            [reported] verdict in reported.withLock { $0.append(verdict) }
        }
        while try await worker(reach) {}
    }

    /// Evaluates until something is so. Transactions of other tests on the server may delay it.
    func evaluate(
        _ reach: ShadowReach = .whole, until isSo: () async throws -> Bool
    ) async throws {
        for _ in 0..<6000 {
            try await evaluate(reach)
            if try await isSo() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Unexpected("waited in vain")
    }

    /// Runs a statement in a transaction that is open until `body` has run, and is committed then.
    func holdingOpen(
        _ statement: String, _ body: () async throws -> Void
    ) async throws {
        let test = bank.test
        try await test.sql("CREATE TABLE public.gate (is_open bool)")
        async let open = test.sql(
            """
            DO $$ BEGIN
                \(statement);
                WHILE NOT EXISTS (SELECT FROM public.gate) LOOP
                    PERFORM pg_sleep(0.01);
                END LOOP;
            END $$
            """)
        let hasWritten = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
               AND backend_xid IS NOT NULL AND query LIKE 'DO %'
            """
        do {
            for _ in 0..<3000 {
                if try await bank.count(hasWritten) > 0 { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            guard try await bank.count(hasWritten) == 1 else { throw Unexpected("not open") }
            try await body()
        } catch {
            try await test.sql("INSERT INTO public.gate VALUES (true)")
            throw error
        }
        try await test.sql("INSERT INTO public.gate VALUES (true)")
        _ = try await open
    }

    /// So that a test need not wait for the longest way from a decision to its commit.
    func hurry() async throws {
        try await bank.test.sql(
            """
            CREATE OR REPLACE FUNCTION countersign.decision_age_max() RETURNS interval
            LANGUAGE sql IMMUTABLE AS $$ SELECT interval '0 seconds' $$
            """)
    }

    func doneUntil(_ shadow: PolicyShadow) async throws -> Instant {
        guard let found = try await shadows.report(of: shadow.id) else {
            throw Unexpected("the shadow is gone")
        }
        return found.report.shadow.doneUntil
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
