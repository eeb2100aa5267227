import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// Everything that may come between what officers read and what they write.
@Suite struct `An approval by officers that is raced` {
    private func acts(
        _ world: AssistedWorld, _ interference: Interference
    ) -> Acts<InterferedActStore, CustomerProofVerifier> {
        Acts(
            store: InterferedActStore(
                base: PostgresActStore(
                    database: world.bank.database, service: world.people.service),
                interference: interference),
            verifier: world.people.verifier, asker: world.people.asker,
            isAtLeastAsStrict: { $0.isAtLeastAsStrict(as: $1) })
    }

    /// The outcome of the last signature when something comes between its load and its commit.
    private func outcome(
        _ world: AssistedWorld, of action: ID<Action>, whenInTheWay sql: String
    ) async throws -> ActOutcome {
        let act = try await world.proposed(action)
        let command = try AskedAct(
            try await world.people.acts.challenge(act, for: world.bert.person)
        ).command(world.bert)
        let interference = Interference(sql, in: world.bank.test)
        let outcome = try await acts(world, interference).sign(command)
        #expect(interference.racesLost == 1, "\(sql)")
        return outcome
    }

    @Test func `loses to a key that the customer gets, and to whatever ends the action`()
        async throws
    {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            #expect(
                try await outcome(world, of: asked.id, whenInTheWay: world.enrolling).refusal
                    == .customerHasKey)
            #expect(try await world.written() == [0, 0, 0])
            #expect(try await world.action(asked.id).authorization == .pending)
        }
    }

    @Test func `is decided again when something else has changed`() async throws {
        try await AssistedWorld.with { world in
            for change in [
                // Another day's sum, another version of the policy, another record on the chain.
                "UPDATE countersign.customer SET version = version + 1",
                """
                INSERT INTO countersign.policy (version, time_zone, active_from, document)
                SELECT version + 1, time_zone, clock_timestamp(), document
                  FROM countersign.policy ORDER BY version DESC LIMIT 1
                """,
            ] {
                let asked = try await world.pending(Fixtures.transfer("1.00"))
                #expect(
                    try await outcome(world, of: asked.id, whenInTheWay: change).state == .done)
            }
            #expect(try await world.written() == [2, 2, 2])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is refused when the policy no longer allows it as it was signed`() async throws {
        func change(_ rule: String) -> String {
            """
            INSERT INTO countersign.policy (version, time_zone, active_from, document)
            SELECT version + 1, time_zone, clock_timestamp(), convert_to(jsonb_set(
                       convert_from(document, 'UTF8')::jsonb, '{assisted}', '\(rule)')::text, 'UTF8')
              FROM countersign.policy ORDER BY version DESC LIMIT 1
            """
        }
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let lower = change(#"{"hold_s": 86400, "max": {"EUR": "149.99"}}"#)
            guard
                case .action(.policy(.limitExceeded(.assistedMax, let allowed, _)))? =
                    try await outcome(world, of: asked.id, whenInTheWay: lower).refusal
            else {
                Issue.record("not refused by the limit")
                return
            }
            #expect(allowed.minorUnits == 14_999)
            let longer = change(#"{"hold_s": 90000, "max": {"EUR": "200.00"}}"#)
            try await world.bank.policy(
                ["{assisted}": #"{"hold_s": 86400, "max": {"EUR": "200.00"}}"#])
            #expect(
                try await outcome(world, of: asked.id, whenInTheWay: longer).refusal
                    == .approvalChanged)
            #expect(try await world.written() == [0, 0, 0])
            // Proposed anew, both sign the longer one.
            #expect(try await world.approve(asked.id).state == .done)
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.decision
                     WHERE hold_until = decided_at + interval '90000 seconds'
                    """) == 1)
        }
    }

    @Test func `counts no signature of a key that has ended`() async throws {
        try await AssistedWorld.with { world in
            let carla = try await world.people.admitted(
                "carla", .officer, by: world.anna, world.bert)
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            _ = try await world.people.keys.revoke(
                world.anna.recorded.id, of: world.anna.person)
            #expect(try await world.people.sign(act, by: world.bert).state == .open)
            #expect(try await world.action(asked.id).authorization == .pending)
            #expect(try await world.people.sign(act, by: carla).state == .done)
            let told = try await world.people.bodies(.actionApproved)
            #expect(told.first?["people"] == ["bert", "carla"])
            try await world.letTimePass()
            #expect(try await world.bank.housekeeping.settleDueActions() == 1)
            guard
                case .order(let order)? = try await world.bank.queue.claim(
                    limit: 1, lease: Seconds(60)
                ).first?.item, case .assisted(_, let signatures) = order.approval
            else {
                Issue.record("no order of officers")
                return
            }
            #expect(signatures.map(\.person) == ["bert", "carla"])
            #expect(try await world.faults() == [AssistedWorld.earlyRelease])
        }
    }

    @Test func `is written once, whoever signs last and however often`() async throws {
        try await AssistedWorld.with { world in
            var officers = [world.bert]
            for name in ["carla", "dirk", "emma"] {
                officers.append(
                    try await world.people.admitted(name, .officer, by: world.anna, world.bert))
            }
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            var commands: [SignActCommand] = []
            for officer in officers {
                let question = try await world.people.acts.challenge(act, for: officer.person)
                commands.append(try AskedAct(question).command(officer))
            }
            let answers = commands
            let outcomes = try await inParallel(16) { number in
                try await world.people.acts.sign(answers[number % answers.count])
            }
            // The four copies of the one that won are answered alike.
            #expect(outcomes.count { $0.state == .done } == 4, "\(outcomes)")
            #expect(try await world.written() == [1, 1, 1])
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.act_signature a "
                        + "JOIN countersign.act t ON t.id = a.act_id WHERE t.kind = 'action.approve'"
                )
                    == 2)
            #expect(try await world.bank.usedAmounts() == 15_000)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `and a cancellation end an action one way`() async throws {
        try await AssistedWorld.with { world in
            var approvals = 0
            for _ in 0..<12 {
                let asked = try await world.pending(Fixtures.transfer("1.00"))
                let act = try await world.proposed(asked.id)
                let question = try await world.people.acts.challenge(act, for: world.bert.person)
                let command = try AskedAct(question).command(world.bert)
                let context = try #require(
                    try await world.bank.store.load(
                        action: asked.id, challenge: nil, credential: nil))
                let wins = try await inParallel(2) { number in
                    guard number == 1 else {
                        return try await world.people.acts.sign(command).state == .done
                    }
                    try await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000)))
                    return try await world.bank.store.cancel(reason: "mistake", on: context) != nil
                }
                #expect(wins.count(where: \.self) == 1, "\(wins)")
                approvals += wins[0] ? 1 : 0
                let authorization = try await world.action(asked.id).authorization
                #expect(authorization == (wins[0] ? .approved : .cancelled))
                if !wins[0] {
                    _ = try await world.people.acts.withdraw(
                        act, by: world.anna.person, reason: DisplayText("cancelled", .reason))
                }
            }
            #expect(try await world.written() == [approvals, approvals, approvals])
            #expect(try await world.faults() == [])
        }
    }
}

/// What the database lets nobody do, whatever the service says.
@Suite struct `Approvals by officers in the database` {
    @Test func `are made by one function only, and always held for a day`() async throws {
        try await AssistedWorld.with { world in
            _ = try await world.approved()
            for statement in [
                "SELECT countersign.write_approval(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
                    + "NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                "INSERT INTO countersign.decision DEFAULT VALUES",
                "UPDATE countersign.decision SET act_id = NULL",
                "UPDATE countersign.act SET state = 'done', closed_at = now()",
            ] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "42501"), "\(statement)"
                ) {
                    try await world.bank.database.run { connection throws(PostgresError) in
                        try connection.run(script: statement)
                    }
                }
            }
            for (change, constraint) in [
                ("hold_until = decided_at + interval '86399 seconds'", "decision_assisted"),
                ("hold_until = NULL", "decision_assisted"),
                ("execution = 'ready'", "decision_assisted"),
                ("assertion_digest = 'x'", "decision_approved_is_signed"),
                ("act_id = NULL", "decision_approved_is_signed"),
            ] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "23514:\(constraint)"), "\(change)"
                ) {
                    try await world.bank.test.run { connection throws(PostgresError) in
                        try connection.run(
                            script: """
                                ALTER TABLE countersign.decision DISABLE TRIGGER ALL;
                                UPDATE countersign.decision SET \(change)
                                """)
                    }
                }
            }
        }
    }

    @Test func `need the last of two signatures, and the action that was signed`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            _ = try await world.people.acts.challenge(act, for: world.bert.person)
            let status = try await world.bank.text(
                """
                SELECT countersign.approve_assisted(to_jsonb(s) || jsonb_build_object('challenge_id', c.id,
                           'client_id', c.client_id, 'message', c.message,
                           'signed_at', clock_timestamp()),
                       '{"sign_count_before": 0, "sign_count": 0, "backup_state": false}',
                       ARRAY[]::uuid[], 1, 1, 1, clock_timestamp(), current_date,
                       clock_timestamp() + interval '2 days', 'assisted_hold', 'release', '{}', '{}', '{}',
                       '{}', NULL, NULL, false, NULL, '{}', '[]', '[]')
                  FROM countersign.act_signature s
                  JOIN countersign.act_challenge c ON c.act_id = s.act_id AND c.state = 'live'
                """)
            #expect(status == "lost_race")
            // A changed action is another one than was signed, also for whoever can change it.
            try await world.bank.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.action DISABLE TRIGGER ALL;
                        UPDATE countersign.action SET amount = '151.00', amount_minor = 15100;
                        ALTER TABLE countersign.action ENABLE TRIGGER ALL
                        """)
            }
            #expect(try await world.people.sign(act, by: world.bert).refusal == .approvalChanged)
            #expect(try await world.refusal(asked.id) == .approvalChanged)
            #expect(try await world.written() == [0, 0, 0])
        }
    }
}
