import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import WebAuthn

/// A bank on a database of its own whose customers can act in parallel over real connections.
struct DecisionWorld: Sendable {
    let test: TestDatabase
    let database: Database
    let sealer: EvidenceSealer
    let keyEncryption: KeyEncryptionKey
    let store: PostgresActionStore
    let bank: Actions<PostgresActionStore, CustomerProofVerifier>
    let queue: PostgresDeliveryQueue
    let housekeeping: Housekeeping
    let administration: Administration
    let client: ID<Client>

    static func with<Result>(
        connections: Int = 16, _ body: (DecisionWorld) async throws -> Result
    ) async throws -> Result {
        try await withDatabase { test in
            try await body(try await DecisionWorld(test, test.open(size: connections)))
        }
    }

    init(_ test: TestDatabase, _ database: Database) async throws {
        self.test = test
        self.database = database
        guard let key = KeyEncryptionKey(EntropySource.openSSL(32)) else {
            preconditionFailure("32 bytes are a key")
        }
        keyEncryption = key
        sealer = EvidenceSealer(log: "bank.example/log", keyEncryption: key, entropy: .openSSL)
        store = PostgresActionStore(
            database: database, sealer: sealer,
            subjects: SubjectMaker(keyEncryption: key, entropy: .openSSL))
        bank = Actions(
            store: store, verifier: try Fixtures.verifier(),
            issuer: ChallengeIssuer(
                audience: Fixtures.audience, entropy: .openSSL, sha256: .openSSL,
                requestOptions: { challenge, _, _ in ["challenge": .string(challenge.hex)] },
                paymentRequest: nil),
            sha256: .openSSL)
        queue = PostgresDeliveryQueue(database: database, sealer: sealer)
        housekeeping = Housekeeping(database: database, sealer: sealer)
        administration = Administration(
            database: await test.open(as: .op, size: 1), sealer: sealer, keyEncryption: key,
            entropy: .openSSL)
        client = ID(rawValue: 1)
        try await test.sql(
            """
            INSERT INTO countersign.client (id, name, role)
            VALUES ('\(client.text)', 'core', 'backend')
            """)
    }

    /// Puts a policy in force that differs from the newest one in some members.
    ///
    /// - Parameter changes: JSON texts by path, such as `{currencies,EUR,daily_max}`.
    /// - Throws: What the database refuses.
    func policy(_ changes: [String: String]) async throws {
        try await test.policy(changes)
    }

    /// One number out of the database, as the superuser.
    func count(_ expression: String) async throws -> Int {
        let rows = try await test.sql("SELECT (\(expression))::bigint AS value")
        guard let row = rows.first else { return -1 }
        return try row["value"]
    }

    /// One text out of the database, as the superuser.
    func text(_ expression: String) async throws -> String? {
        let rows = try await test.sql("SELECT (\(expression))::text AS value")
        guard let row = rows.first else { return nil }
        return try row["value"]
    }

    /// What counts against caps on money; that a payee was confirmed stays counted.
    func usedAmounts() async throws -> Int {
        try await count("SELECT sum(used) FROM countersign.counter WHERE dimension <> 'new_payees'")
    }

    /// A customer with a device key that has long been usable.
    func customer(_ name: String = "c-1001") async throws -> TestCustomer {
        let customer = try TestCustomer(name)
        _ = try await administration.importPayee(
            Fixtures.payee(), alias: DisplayText("", .payeeAlias), of: customer.id)
        try await test.sql(
            """
            INSERT INTO countersign.credential (id, subject_id, kind, public_key, attestation,
                   created_at, seq, head, evidence_id)
            SELECT '\(customer.phone.deviceKeyID.text)', subject_id, 'device_key',
                   '\\x\(Hex.encode(customer.phone.publicKey))', '{}',
                   clock_timestamp() - interval '90 days', 1, sha256(''), gen_random_uuid()
              FROM countersign.customer WHERE customer_id = '\(name)'
            """)
        return customer
    }
}

extension TestDatabase {
    /// See ``DecisionWorld/policy(_:)``.
    func policy(_ changes: [String: String]) async throws {
        let document = changes.reduce("convert_from(document, 'UTF8')::jsonb") { document, change in
            "jsonb_set(\(document), '\(change.key)', '\(change.value)')"
        }
        try await sql(
            """
            INSERT INTO countersign.policy (version, time_zone, active_from, document)
            SELECT version + 1, \(document) ->> 'time_zone', clock_timestamp(),
                   convert_to((\(document))::text, 'UTF8')
              FROM countersign.policy ORDER BY version DESC LIMIT 1
            """)
    }
}

/// A customer with a phone.
struct TestCustomer: Sendable {
    let id: CustomerID
    let phone: TestPhone

    init(_ name: String) throws {
        id = try CustomerID(name)
        // Every customer of a test has IDs of its own.
        phone = try TestPhone(name.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF })
    }
}

/// A stored action with its live challenge, as the app got them.
struct AskedAction: Sendable {
    let id: ID<Action>
    let challenge: ID<Challenge>
    let approveMessage: Bytes
    let rejectMessage: Bytes
}

extension DecisionWorld {
    /// Stores an action and reads the answer as an app would.
    func ask(
        _ content: ActionContent, _ customer: TestCustomer, key: String? = nil, risk: JSON? = nil
    ) async throws -> AskedAction {
        let outcome = try await bank.create(
            CreateActionCommand(
                client: client, customerID: customer.id, content: content, externalID: nil,
                risk: risk, idempotencyKey: key ?? Hex.encode(EntropySource.openSSL(8))))
        guard case .created(let answer, _) = outcome else { throw Unexpected("\(outcome)") }
        return try AskedAction(answer)
    }

    /// A command with the phone's signature over the challenge's own message.
    func command(
        _ decision: SignedDecision, _ asked: AskedAction, _ customer: TestCustomer
    ) throws -> DecideCommand {
        let message = decision == .approve ? asked.approveMessage : asked.rejectMessage
        return DecideCommand(
            action: asked.id, decision: decision,
            proof: .signed(challenge: asked.challenge, try customer.phone.sign(message)))
    }

    /// A command with the phone's signature over something else.
    func wrongCommand(_ asked: AskedAction, _ customer: TestCustomer) throws -> DecideCommand {
        DecideCommand(
            action: asked.id, decision: .approve,
            proof: .signed(
                challenge: asked.challenge, try customer.phone.sign(asked.rejectMessage)))
    }

    /// Stores and approves an action.
    @discardableResult
    func approve(
        _ content: ActionContent, _ customer: TestCustomer
    ) async throws -> DecisionOutcome {
        let asked = try await ask(content, customer)
        return try await bank.decide(command(.approve, asked, customer))
    }

    /// What `countersign migrate` does beside the migration.
    func migrating() async -> Administration {
        Administration(
            database: await test.open(as: nil, size: 1), sealer: sealer,
            keyEncryption: keyEncryption, entropy: .openSSL)
    }

    private var evidence: PostgresEvidenceStore {
        PostgresEvidenceStore(
            database: database, keyEncryption: keyEncryption,
            service: ServiceSubject(
                database: database, sealer: sealer, keyEncryption: keyEncryption,
                entropy: .openSSL))
    }

    /// Decides every decision in evidence again, under the policies that are published at the end.
    ///
    /// - Returns: The faults, by how often each was found; `decisions: none` when there was none.
    func replayed() async throws -> [String: Int] {
        // As whoever migrates does, in development.
        let migrating = await self.migrating()
        try await migrating.recordInstallation()
        let refused = try await migrating.recordPolicies()
        if !refused.isEmpty { return ["refused: \(refused)": refused.count] }
        let found = try await evidence.everything()
        let records = found.map { evidence.opened($0) }
        var audit = PolicyAudit(migrated: Migration.policies)
        var faults: [String: Int] = [:]
        let decisions = [EvidenceKind.actionApproved, .actionRefused].map(\.rawValue)
        // These policies were put in force without evidence, which comes last.
        for record in records.filter({ !decisions.contains($0.kind) }) {
            try audit.check(record.kind, record.leaf, record.body ?? .null)
        }
        var decided = 0
        for record in records where decisions.contains(record.kind) {
            decided += 1
            do throws(EvidenceFault) {
                try audit.check(record.kind, record.leaf, record.body ?? .null)
            } catch { faults[error.rawValue, default: 0] += 1 }
        }
        if decided == 0 { faults["decisions: none"] = 1 }
        return faults
    }

    /// Checks every record's form, body and signature, and every chain.
    func evidenceFaults() async throws -> [String] {
        let found = try await evidence.everything()
        let verifier = EvidenceVerifier(keyEncryption: keyEncryption)
        var faults: [String] = []
        for record in found.map(\.record) {
            do throws(EvidenceFault) { _ = try verifier.verify(record) } catch {
                faults.append("\(record.kind): \(error.rawValue)")
            }
        }
        // The credentials of these customers begin at 1 without a record of their enrolment.
        let second = Set(
            found.filter { EvidenceLeaf(decoding: $0.record.leaf)?.credential?.sequence == 2 }
                .map(\.record.id))
        return faults
            + EvidenceChains(found.map(\.record)).broken(detached: [])
            .filter { !second.contains($0) }.map { "chain at \($0)" }
    }
}

extension PostgresEvidenceStore {
    /// All records, or those of a kind, oldest first.
    func everything(of kind: EvidenceKind? = nil) async throws(StoreFailure) -> [Found] {
        try await stored(
            EvidenceQuery(
                actionID: nil, customerID: nil, credentialID: nil, kind: kind?.rawValue, from: nil,
                to: nil, limit: 100_000, after: nil)
        ).found
    }
}

extension AskedAction {
    fileprivate init(_ answer: Bytes) throws {
        guard let json = SignedJSON.decode(answer),
            let id = json["action"]?["id"]?.text.flatMap({ ID<Action>($0) }),
            let challenge = json["challenge"],
            let challengeID = challenge["id"]?.text.flatMap({ ID<Challenge>($0) }),
            let approve = challenge["messages"]?["approve"]?.text.flatMap({ Base64.decodeURL($0) }),
            let reject = challenge["messages"]?["reject"]?.text.flatMap({ Base64.decodeURL($0) })
        else { throw Unexpected("the answer is not as documented") }
        self.id = id
        self.challenge = challengeID
        approveMessage = approve
        rejectMessage = reject
    }
}

extension DecisionOutcome {
    /// Whether there is a decision, new or replayed.
    var isDecided: Bool {
        if case .decided = self { true } else { false }
    }

    /// Why there is none.
    var refusal: DecisionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

/// Runs `body` `count` times at once.
func inParallel<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
        for index in 0..<count { group.addTask { (index, try await body(index)) } }
        var results: [(Int, Result)] = []
        for try await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
