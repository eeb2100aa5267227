import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// A customer of whom there is everything: payees, keys, an executed transfer, one that officers approved and
/// that was cancelled, a refusal and a failed attempt; and another customer, of whom nothing may go.
struct ErasureWorld: Sendable {
    let world: AssistedWorld
    let other: TestCustomer
    let privacy: PostgresPrivacyStore
    let store: PostgresEvidenceStore
    let executed: ID<Action>
    let assisted: ID<Action>
    let subject: String

    static let officer = ID<Client>(rawValue: 0xDA7A)

    /// Words that name the customer or somebody in the customer's actions, in the clear.
    static let canaries = [
        "c-2002", "Zacharias Quendolin", "NL91ABNA0417164300", "Canary-Reference-77",
        "CANARY-E2E-77",
        "Canary Alias", "Canary Phone", "canary-external-7", "+4915187650077", "Canary-Core-9",
        AssistedWorld.reason,
    ]
    static let friend = (name: "Zacharias Quendolin", iban: "NL91ABNA0417164300")

    static func with<Result>(
        isDevelopment: Bool = true, retentionDays: Int = 0,
        _ body: (ErasureWorld) async throws -> Result
    ) async throws -> Result {
        try await AssistedWorld.with { world in
            _ = try await Migrator.state(
                isDevelopment: true, of: world.bank.test.superuser)
            let erasure = try await ErasureWorld(world, retentionDays: retentionDays)
            // Payees are imported unsigned in development alone.
            if !isDevelopment {
                _ = try await Migrator.state(
                    isDevelopment: false, of: world.bank.test.superuser)
            }
            return try await body(erasure)
        }
    }

    private init(_ world: AssistedWorld, retentionDays: Int) async throws {
        self.world = world
        let bank = world.bank
        other = try await bank.customer("c-1001")
        let service = ServiceSubject(
            database: bank.database, sealer: bank.sealer, keyEncryption: bank.keyEncryption,
            entropy: .openSSL)
        store = PostgresEvidenceStore(
            database: bank.database, keyEncryption: bank.keyEncryption, service: service)
        privacy = PostgresPrivacyStore(
            database: bank.database, privacy: await bank.test.open(as: .privacy, size: 1),
            sealer: bank.sealer, service: service, retentionDays: retentionDays)
        let customer = world.customer
        _ = try await bank.administration.importPayee(
            Fixtures.payee(name: Self.friend.name, iban: Self.friend.iban),
            alias: DisplayText("Canary Alias", .payeeAlias), of: customer.id)
        let content = try Fixtures.transfer(
            "20.00", payee: Self.friend, reference: "Canary-Reference-77",
            endToEndID: "CANARY-E2E-77")
        // The officers approve for a customer without a key; the customer takes it back.
        let asked = try await bank.ask(content, customer)
        assisted = asked.id
        guard try await world.approve(asked.id).state == .done else { throw Unexpected("act") }
        _ = try await bank.bank.cancel(asked.id, reason: "Canary-Reference-77")
        try await bank.test.sql(world.enrolling)
        try await bank.test.sql(
            "UPDATE countersign.credential SET label = 'Canary Phone', created_at = created_at - interval '90 days'"
                + " WHERE id = '\(customer.phone.deviceKeyID.text)'"
        )
        let contact = try await bank.ask(
            try Fixtures.contactChange(newValue: "+4915187650077"), customer)
        _ = try await bank.bank.decide(bank.wrongCommand(contact, customer))
        _ = try await bank.bank.decide(bank.command(.reject, contact, customer))
        let created = try await bank.bank.create(
            CreateActionCommand(
                client: bank.client, customerID: customer.id, content: content,
                externalID: try ExternalID("canary-external-7"),
                risk: ["session_id": "Canary-Reference-77"], idempotencyKey: "key-7"))
        guard case .created(let answer, _) = created,
            let id = SignedJSON.decode(answer)?["action"]?["id"]?.text.flatMap({ ID<Action>($0) })
        else { throw Unexpected("\(created)") }
        executed = id
        subject =
            try await bank.text(
                "SELECT subject_id FROM countersign.customer WHERE customer_id = 'c-2002'") ?? ""
        try await approve(answer, in: bank, customer)
        // The other one has an action of the same kind, and acts of officers about nobody.
        #expect(try await bank.approve(try Fixtures.transfer("10.00"), other).isDecided)
    }

    private func approve(
        _ answer: Bytes, in bank: DecisionWorld, _ customer: TestCustomer
    ) async throws {
        let json = try #require(SignedJSON.decode(answer)?["challenge"])
        let challenge = try #require(json["id"]?.text.flatMap { ID<Challenge>($0) })
        let message = try #require(
            json["messages"]?["approve"]?.text.flatMap { Base64.decodeURL($0) })
        let decided = try await bank.bank.decide(
            DecideCommand(
                action: executed, decision: .approve,
                proof: .signed(challenge: challenge, try customer.phone.sign(message))))
        guard decided.isDecided else { throw Unexpected("\(decided)") }
    }

    /// Core banking executes what is due.
    func settle() async throws {
        for claim in try await world.bank.queue.claim(limit: 9, lease: Seconds(60)) {
            var reference = "Other-Core-1"
            if case .order(let order) = claim.item, order.actionID == executed {
                reference = "Canary-Core-9"
            }
            _ = try await world.bank.queue.settle(
                claim, .executed(reference: reference, raw: Bytes(#"{"r":"\#(reference)"}"#.utf8)))
        }
    }

    func erase() async throws -> ErasureOutcome {
        try await privacy.erase(world.customer.id, by: Self.officer)
    }

    func hold(_ reason: String = "a court wants to see it") throws -> LegalHoldCommand {
        LegalHoldCommand(
            client: Self.officer, customer: world.customer.id,
            reason: try DisplayText(reason, .reason))
    }

    /// Every fault of an audit that knows who was erased.
    func faults() async throws -> [String] {
        let records = try await store.everything().map(\.record)
        let verifier = EvidenceVerifier(
            keyEncryption: world.bank.keyEncryption,
            erasures: Erasures(reading: records, with: world.bank.keyEncryption))
        return records.compactMap { record in
            do throws(EvidenceFault) {
                _ = try verifier.verify(record)
                return nil
            } catch { return "\(record.kind): \(error.rawValue)" }
        }
    }

    /// All rows of all tables as text, as a dump would hold them in the clear: bytes decoded where they are text.
    func everythingInTheClear() async throws -> String {
        let tables = try await world.bank.test.sql(
            """
            SELECT c.relname AS name FROM pg_class c
             WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'p')
               AND NOT c.relispartition
            """)
        var text = ""
        for row in try tables.map({ row throws(PostgresError) -> String in try row["name"] }) {
            // Bytes as hexadecimal and as text; nothing that somebody reads is hidden in between.
            text +=
                try await world.bank.text(
                    """
                    SELECT string_agg(t::text, E'\\n')
                        || coalesce(string_agg((SELECT string_agg(encode(decode(substr(x.value, 3), 'hex'), 'escape'), ' ')
                             FROM jsonb_each_text(to_jsonb(t)) x WHERE x.value ~ '^\\\\x([0-9a-f]{2})+$'), E'\\n'), '')
                      FROM countersign.\(row) t
                    """) ?? ""
        }
        return text
    }
}
