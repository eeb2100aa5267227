import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// What officers are refused, and what is left of it, on a real database.
@Suite struct `What officers are refused` {
    private static let low = #"{"hold_s": 86400, "max": {"EUR": "149.99"}}"#
    private static let high = #"{"hold_s": 86400, "max": {"EUR": "200.00"}}"#

    /// The answer of the second officer to a question about an act that the first has signed.
    private func lastAnswer(
        _ world: AssistedWorld, _ act: ID<Act>
    ) async throws -> SignActCommand {
        try AskedAct(try await world.people.acts.challenge(act, for: world.bert.person))
            .command(world.bert)
    }

    private func isAssistedMax(_ refusal: ActRefusal?) -> Bool {
        if case .action(.policy(.limitExceeded(.assistedMax, _, _)))? = refusal {
            true
        } else {
            false
        }
    }

    /// How many refusals are told of acts, of actions, to dry runs and in the feed of limits.
    private func told(_ world: AssistedWorld) async throws -> [Int] {
        [
            try await world.people.evidence(.actRefused),
            try await world.people.evidence(.actionRefused),
            try await world.bank.count(
                "SELECT count(*) FROM countersign.policy_decision WHERE outcome <> 'approved'"),
            try await world.bank.count(
                "SELECT count(*) FROM countersign.event WHERE kind = 'limit.refused'"),
        ]
    }

    @Test func `by the policy is recorded with the last signature, which is spent`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            try await world.bank.policy(["{assisted}": Self.low])
            // To ask tells nothing of the limit.
            let answer = try await lastAnswer(world, act)
            #expect(try await told(world) == [0, 0, 0, 0])
            #expect(isAssistedMax(try await world.people.acts.sign(answer).refusal))
            #expect(try await told(world) == [1, 1, 1, 1])
            #expect(
                try await world.people.acts.sign(answer).refusal == .challengeConsumed)
            #expect(try await told(world) == [1, 1, 1, 1])

            let recorded = try #require(try await world.people.acts.act(act, of: .officer))
            #expect(recorded.state == .open && recorded.signatures.count == 1)
            #expect(try await world.action(asked.id).authorization == .pending)
            let refused = try #require(try await world.people.bodies(.actionRefused).first)
            #expect(refused["people"] == ["anna", "bert"])
            #expect(refused["act_id"] == .string(act.text))
            #expect(refused["document_digest"] == .string(recorded.digest.hex))
            #expect(refused["policy"]?["verdict"]?["rule"] == "assisted_max")
            #expect(refused["policy"]?["inputs"]?["assisted"] == "true")
            let signed = try #require(try await world.people.bodies(.actRefused).first)
            #expect(signed["person"] == "bert" && signed["refusal"] == "assisted_max")
            #expect(
                signed["assertion"]?.bytes("signature") == answer.assertion.signature)

            // Another attempt is another signature, and another record.
            #expect(isAssistedMax(try await world.people.sign(act, by: world.bert).refusal))
            #expect(try await told(world) == [2, 2, 2, 2])
            try await world.bank.policy(["{assisted}": Self.high])
            #expect(try await world.people.sign(act, by: world.bert).state == .done)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `for the customer's own key is recorded without a policy`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            try await world.bank.test.sql(world.enrolling)
            #expect(try await world.people.sign(act, by: world.bert).refusal == .customerHasKey)
            #expect(try await told(world) == [1, 1, 0, 0])
            let refused = try #require(try await world.people.bodies(.actionRefused).first)
            #expect(refused["people"] == ["anna", "bert"] && refused["policy"] == nil)
            #expect(
                try await world.bank.text(
                    """
                    SELECT convert_from(leaf, 'UTF8')::jsonb ->> 'outcome' FROM countersign.evidence
                     WHERE kind = 'action.refused'
                    """) == "customer_has_key")
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is not told to whoever signs first`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let question = try await world.people.acts.propose(
                ProposeActCommand(
                    person: world.anna.person, kind: .approveAction,
                    document: world.document(asked.id)))
            try await world.bank.policy(["{assisted}": Self.low])
            let first = try AskedAct(question).command(world.anna)
            #expect(try await world.people.acts.sign(first).state == .open)
            #expect(try await told(world) == [0, 0, 0, 0])
        }
    }

    @Test func `when they propose is recorded, with what they sent`() async throws {
        try await AssistedWorld.with { world in
            let over = try await world.pending(Fixtures.transfer("200.01"))
            #expect(isAssistedMax(try await world.refusal(over.id)))
            let told = try #require(try await world.people.bodies(.actRefused).first)
            #expect(told["signed"] == .bool(false) && told["person"] == "anna")
            #expect(told["content"]?["action_id"] == .string(over.id.text))
            #expect(told["verdict"]?["rule"] == "assisted_max")
            // Under the key of the customer, with whom it goes.
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.evidence_body b
                      JOIN countersign.evidence e ON e.id = b.evidence_id
                      JOIN countersign.action a ON a.subject_id = b.subject_id
                     WHERE e.kind = 'act.refused' AND a.id = '\(over.id.text)'
                    """) == 1)
            try await world.bank.test.sql(world.enrolling)
            #expect(try await world.refusal(over.id) == .customerHasKey)
            #expect(try await self.told(world) == [2, 0, 0, 0])
            #expect(try await world.bank.count("SELECT count(*) FROM countersign.act") == 0)
            // What everybody sees is no evidence.
            #expect(try await world.refusal(ID(rawValue: 7)) == .notFound)
            #expect(try await self.told(world) == [2, 0, 0, 0])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is recorded once, however often the same answer comes at once`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let answer = try await lastAnswer(world, world.proposed(asked.id))
            try await world.bank.policy(["{assisted}": Self.low])
            let outcomes = try await inParallel(8) { _ in
                try await world.people.acts.sign(answer)
            }
            #expect(outcomes.count { isAssistedMax($0.refusal) } == 1, "\(outcomes)")
            #expect(outcomes.count { $0.refusal == .challengeConsumed } == 7, "\(outcomes)")
            #expect(try await told(world) == [1, 1, 1, 1])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is decided again when what it was refused for has changed`() async throws {
        try await AssistedWorld.with { world in
            for (isDone, change) in [
                (false, "UPDATE countersign.customer SET version = version + 1"),
                (
                    true,
                    """
                    INSERT INTO countersign.policy (version, time_zone, active_from, document)
                    SELECT version + 1, time_zone, clock_timestamp(), convert_to(jsonb_set(
                               convert_from(document, 'UTF8')::jsonb, '{assisted}', '\(Self.high)')::text,
                               'UTF8')
                      FROM countersign.policy ORDER BY version DESC LIMIT 1
                    """
                ),
            ] {
                let asked = try await world.pending()
                let answer = try await lastAnswer(world, world.proposed(asked.id))
                try await world.bank.policy(["{assisted}": Self.low])
                let interference = Interference(change, in: world.bank.test)
                let acts = Acts(
                    store: InterferedActStore(
                        base: PostgresActStore(
                            database: world.bank.database, service: world.people.service),
                        interference: interference),
                    verifier: world.people.verifier, asker: world.people.asker,
                    isAtLeastAsStrict: { $0.isAtLeastAsStrict(as: $1) })
                let outcome = try await acts.sign(answer)
                #expect(interference.racesLost == 1)
                #expect(isAssistedMax(outcome.refusal) == !isDone)
                #expect((outcome.state == .done) == isDone)
                #expect(try await told(world) == [1, 1, 1, 1])
                try await world.bank.policy(["{assisted}": Self.high])
            }
            #expect(try await world.faults() == [])
        }
    }

    @Test func `about a hold is recorded too, and the hold stays`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let act = try await world.proposed(.releaseHold, action)
            try await world.bank.test.sql("UPDATE countersign.payee SET status = 'removed'")
            let answer = try AskedAct(
                try await world.people.acts.challenge(act, for: world.bert.person)
            ).command(world.bert)
            let refusal = ActRefusal.notReleasable(rule: "payee_removed")
            #expect(try await world.people.acts.sign(answer).refusal == refusal)
            #expect(try await world.people.acts.sign(answer).refusal == .challengeConsumed)
            #expect(try await world.execution(action) == .held)
            let told = try await world.people.bodies(.actRefused)
            #expect(told.count == 1 && told.first?["person"] == "bert")
            #expect(told.first?["refusal"] == "hold_not_releasable")
            #expect(told.first?["rule"] == "payee_removed")
            #expect(told.first?["act_id"] == .string(act.text))
            #expect(try await world.people.evidence(.actionRefused) == 0)
            #expect(try await world.refusal(.releaseHold, action) == refusal)
            #expect(try await world.people.evidence(.actRefused) == 2)
            // An action that has changed since is another one than was signed.
            let late = try await world.proposed(.cancelHold, action)
            try await world.bank.test.tamper(
                with: "action", "hold_until = hold_until + interval '1 second'")
            #expect(try await world.people.sign(late, by: world.bert).refusal == .holdChanged)
            #expect(try await world.people.evidence(.actRefused) == 3)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is written by functions only, with the evidence that belongs to it`() async throws {
        try await AssistedWorld.with { world in
            for statement in [
                "SELECT countersign.refuse_last_signature('{}', '{}', '{}', '{}', '[]', '[]')",
                "SELECT countersign.note_act_answer('{}', '{}')",
                "SELECT countersign.act_signature_stands('{}', true, '{}', '{}')",
            ] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "42501"), "\(statement)"
                ) {
                    try await world.bank.database.run { connection throws(PostgresError) in
                        try connection.run(script: statement)
                    }
                }
            }
            await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                try await world.bank.database.run { connection throws(PostgresError) in
                    try connection.run(
                        script: """
                            SELECT countersign.record_refused_act('\(world.anna.person.text)', NULL, '[]')
                            """)
                }
            }
        }
    }
}

@Suite struct `An action that was changed where it is stored` {
    /// Changes the action as a superuser without triggers.
    private func change(_ world: AssistedWorld, _ assignments: String) async throws {
        try await world.bank.test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    ALTER TABLE countersign.action DISABLE TRIGGER ALL;
                    UPDATE countersign.action SET \(assignments);
                    ALTER TABLE countersign.action ENABLE ALWAYS TRIGGER guard
                    """)
        }
    }

    @Test(arguments: [
        "amount = '1.00', amount_minor = 100", "payee_name = 'Mallory'", "currency = 'no'",
    ])
    func `is found by officers at every step, and evidence says so`(edit: String) async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            let question = try await world.people.acts.challenge(act, for: world.bert.person)
            let answer = try AskedAct(question).command(world.bert)
            try await change(world, edit)
            #expect(try await world.people.acts.sign(answer).refusal == .approvalChanged)
            #expect(try await world.people.evidence(.tamperDetected) == 1)
            let told = try await world.people.bodies(.tamperDetected)
            let recorded = try #require(try await world.people.acts.act(act, of: .officer))
            #expect(told.first?.bytes("document") == recorded.document)
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.challenge WHERE state = 'live'") == 0)
            #expect(
                try await world.people.acts.challenge(act, for: world.bert.person).refusal
                    == .approvalChanged)
            #expect(try await world.people.evidence(.tamperDetected) == 2)
            #expect(try await world.refusal(asked.id) == .approvalChanged)
            #expect(try await world.people.evidence(.tamperDetected) == 3)
            #expect(try await world.written() == [0, 0, 0])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is found where only the officers were shown what has changed`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            try await change(world, "external_id = 'another'")
            #expect(try await world.people.sign(act, by: world.bert).refusal == .approvalChanged)
            #expect(try await world.people.evidence(.tamperDetected) == 1)
        }
    }

    @Test func `is not what a longer hold of the policy makes of an act`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            try await world.bank.policy(
                ["{assisted}": #"{"hold_s": 90000, "max": {"EUR": "200.00"}}"#])
            #expect(try await world.people.sign(act, by: world.bert).refusal == .approvalChanged)
            #expect(try await world.people.evidence(.tamperDetected) == 0)
            #expect(try await world.people.evidence(.actRefused) == 1)
        }
    }
}
