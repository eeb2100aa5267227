import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import WebAuthn

/// A bank with a customer who has no key, and two officers who have one each.
struct AssistedWorld: Sendable {
    let bank: DecisionWorld
    let people: PeopleWorld
    let customer: TestCustomer
    let anna: HeldKey
    let bert: HeldKey

    static let reason = "the phone was stolen, and the rent is due"

    /// Gives `body` such a bank; `rule` is the policy's member `assisted` as JSON, `nil` for none.
    static func with<Result>(
        rule: String? = #"{"hold_s": 86400, "max": {"EUR": "200.00"}}"#,
        _ body: (AssistedWorld) async throws -> Result
    ) async throws -> Result {
        try await withDatabase { test in
            let bank = try await DecisionWorld(test, test.open(size: 16))
            if let rule { try await bank.policy(["{assisted}": rule]) }
            let people = try await PeopleWorld(test, bank.database, key: bank.keyEncryption)
            let customer = try TestCustomer("c-2002")
            _ = try await bank.administration.importPayee(
                Fixtures.payee(), alias: DisplayText("", .payeeAlias), of: customer.id)
            return try await body(
                AssistedWorld(
                    bank: bank, people: people, customer: customer,
                    anna: try await people.person("anna", .officer),
                    bert: try await people.person("bert", .officer)))
        }
    }

    /// An action that waits for its customer.
    func pending(_ content: ActionContent? = nil) async throws -> AskedAction {
        try await bank.ask(content ?? Fixtures.transfer("150.00"), customer)
    }

    func document(_ action: ID<Action>) throws -> JSON {
        AssistedRequest(
            action: action, reason: try DisplayText(Self.reason, .actReason),
            identityCheck: IdentityCheck(
                method: .inPerson, reference: try DisplayText("passport, copy 7", .reason))
        ).json
    }

    /// What comes of asking to propose.
    func refusal(_ action: ID<Action>, by key: HeldKey? = nil) async throws -> ActRefusal? {
        try await people.acts.propose(
            ProposeActCommand(
                person: (key ?? anna).person, kind: .approveAction, document: document(action))
        ).refusal
    }

    /// An act that its proposer has signed.
    func proposed(_ action: ID<Action>) async throws -> ID<Act> {
        let (act, outcome) = try await people.propose(
            .approveAction, document(action), by: anna)
        guard outcome.state == .open else { throw Unexpected("\(outcome)") }
        return act
    }

    /// Both officers sign; the outcome of the second.
    func approve(_ action: ID<Action>) async throws -> ActOutcome {
        try await people.sign(try await proposed(action), by: bert)
    }

    /// Both officers approve, and it is held.
    func approved(_ content: ActionContent? = nil) async throws -> ID<Action> {
        let asked = try await pending(content)
        guard try await approve(asked.id).state == .done else { throw Unexpected("not approved") }
        return asked.id
    }

    func action(_ id: ID<Action>) async throws -> RecordedAction {
        guard let action = try await bank.bank.action(id) else { throw Unexpected("no action") }
        return action
    }

    /// Gives the customer an active key, as an enrolment does.
    var enrolling: String {
        """
        INSERT INTO countersign.credential (id, subject_id, kind, public_key, attestation,
               created_at, seq, head, evidence_id)
        SELECT '\(customer.phone.deviceKeyID.text)', subject_id, 'device_key',
               '\\x\(Hex.encode(customer.phone.publicKey))', '{}', clock_timestamp(), 1, sha256(''),
               gen_random_uuid()
          FROM countersign.customer WHERE customer_id = 'c-2002'
        """
    }

    /// Lets all that has happened be two days older, and the time of their holds be over: only a superuser without
    /// triggers can do that.
    func letTimePass() async throws {
        try await bank.test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    ALTER TABLE countersign.decision DISABLE TRIGGER ALL;
                    UPDATE countersign.decision SET decided_at = decided_at - interval '2 days';
                    ALTER TABLE countersign.decision ENABLE TRIGGER ALL;
                    UPDATE countersign.person_key SET revoked_at = revoked_at - interval '2 days';
                    UPDATE countersign.client SET removed_at = removed_at - interval '2 days'
                    """)
        }
        try await bank.endHolds()
    }

    /// How many decisions and orders there are.
    func written() async throws -> [Int] {
        [
            try await bank.count("SELECT count(*) FROM countersign.decision"),
            try await bank.count("SELECT count(*) FROM countersign.execution_order"),
            try await people.evidence(.actionApproved),
        ]
    }

    /// What an audit finds where a test has let time pass: that a hold was over too early.
    static let earlyRelease = "action.released: \(EvidenceFault.hold.rawValue)"

    /// Every fault of form and chains, of people behind what needs them, and of decisions that come out
    /// otherwise when they are made again.
    func faults() async throws -> [String] {
        // These policies were put in force without evidence, which the audit of decisions finds here.
        let unpublished = ["action.approved", "action.refused"]
            .map { "\($0): \(EvidenceFault.policy.rawValue)" }
        return try await bank.evidenceFaults()
            + people.audit().faults.filter { !unpublished.contains($0) }
            + bank.replayed().keys.filter { $0 != "decisions: none" }
    }
}

/// A store in whose way something comes, once, between the load and the commit.
struct InterferedActStore: ActStore {
    let base: PostgresActStore
    let interference: Interference

    func load(_ person: ID<Client>) async throws(StoreFailure) -> ProposalContext? {
        try await base.load(person)
    }

    func load(
        _ act: ID<Act>, for person: ID<Client>, challenge: ID<ActChallenge>?
    ) async throws(StoreFailure) -> ActContext? {
        try await base.load(act, for: person, challenge: challenge)
    }

    func knowsTimeZone(_ name: String) async throws(StoreFailure) -> Bool {
        try await base.knowsTimeZone(name)
    }

    func heldAction(_ id: ID<Action>) async throws(StoreFailure) -> HeldAction? {
        try await base.heldAction(id)
    }

    func assistedAction(_ id: ID<Action>) async throws(StoreFailure) -> AssistedAction? {
        try await base.assistedAction(id)
    }

    func create(
        _ act: RecordedAct, _ challenge: RecordedActChallenge, openMax: Int
    ) async throws(StoreFailure) -> ActCreation {
        try await base.create(act, challenge, openMax: openMax)
    }

    func ask(_ challenge: RecordedActChallenge) async throws(StoreFailure) -> Bool {
        try await base.ask(challenge)
    }

    func fail(
        _ command: SignActCommand, because failure: VerificationFailure, key: RecordedPersonKey?,
        on context: ActContext
    ) async throws(StoreFailure) -> Bool {
        try await base.fail(command, because: failure, key: key, on: context)
    }

    func sign(
        _ signature: NewActSignature, on context: ActContext
    ) async throws(StoreFailure) -> Bool {
        try await interference.happen()
        let isSigned = try await base.sign(signature, on: context)
        if !isSigned { interference.lose() }
        return isSigned
    }

    func refuse(
        _ signature: NewActSignature, because refusal: ActRefusal, on context: ActContext
    ) async throws(StoreFailure) -> Bool {
        try await interference.happen()
        let isRefused = try await base.refuse(signature, because: refusal, on: context)
        if !isRefused { interference.lose() }
        return isRefused
    }

    func refuse(
        _ command: ProposeActCommand, because refusal: ActRefusal, on context: ProposalContext
    ) async throws(StoreFailure) -> Bool {
        try await base.refuse(command, because: refusal, on: context)
    }

    func recordTampering(
        _ found: AssistedAction, contradicting document: Bytes?
    ) async throws(StoreFailure) -> Bool {
        try await base.recordTampering(found, contradicting: document)
    }

    func withdraw(
        _ context: ActContext, reason: DisplayText
    ) async throws(StoreFailure) -> Bool {
        try await base.withdraw(context, reason: reason)
    }

    func act(_ id: ID<Act>, of role: PersonRole) async throws(StoreFailure) -> RecordedAct? {
        try await base.act(id, of: role)
    }

    func acts(_ query: ActQuery) async throws(StoreFailure) -> [RecordedAct] {
        try await base.acts(query)
    }

    func barrier() async throws(StoreFailure) { try await base.barrier() }
}
