import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// Acts, on a real database with real connections.
@Suite struct `An act` {
    @Test func `takes effect when two people have signed the same document`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let cara = try await world.person("cara")
            let (act, outcome) = try await world.propose(
                .admitKey, ["key_id": .string(cara.recorded.id.text)], by: anna)
            #expect(outcome.state == .open)
            #expect(try await world.keys.keys(of: .risk).last?.status == .pending)
            #expect(try await world.sign(act, by: bert).state == .done)
            #expect(try await world.keys.keys(of: .risk).last?.status == .active)
            #expect(try await world.sign(act, by: bert).refusal == .closed(.done))
            // Cara may sign from now on.
            let dora = try await world.person("dora")
            let (other, _) = try await world.propose(
                .admitKey, ["key_id": .string(dora.recorded.id.text)], by: cara)
            #expect(try await world.sign(other, by: bert).state == .done)
            let audit = try await world.audit()
            #expect(audit.faults == [] && audit.signatures == 4)
            #expect(try await world.evidence(.actProposed) == 2)
            #expect(try await world.evidence(.actApproved) == 2)
            #expect(try await world.evidence(.personKeyAdmitted) == 2)
        }
    }

    @Test func `is not signed twice by one person with two keys`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let cara = try await world.admitted("cara", by: anna, bert)
            // A second key of Anna, admitted by the two others.
            let second = try await world.register(anna.person)
            let (admission, _) = try await world.propose(
                .admitKey, ["key_id": .string(second.recorded.id.text)], by: bert)
            #expect(try await world.sign(admission, by: cara).state == .done)
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            #expect(try await world.sign(act, by: second).refusal == .alreadySigned)
            #expect(try await world.policies.policies().count == 1)
            // Nor with an answer to the first question by the other key.
            #expect(try await world.acts.act(act, of: .risk)?.signatures.count == 1)
        }
    }

    @Test func `waits for its proposer`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let asked = try AskedAct(
                try await world.acts.propose(
                    ProposeActCommand(
                        person: anna.person, kind: .publishPolicy,
                        document: try await world.proposal())))
            #expect(try await world.sign(asked.act, by: bert).refusal == .notProposed)
            #expect(
                try await world.acts.sign(asked.command(anna)).state == .open)
            #expect(try await world.sign(asked.act, by: bert).state == .done)
        }
    }

    @Test func `takes no signature of a key that has ended or waits`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let cara = try await world.person("cara")
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            #expect(try await world.sign(act, by: cara).refusal == .noKey)
            let asked = try AskedAct(try await world.acts.challenge(act, for: bert.person))
            _ = try await world.keys.revoke(bert.recorded.id, of: bert.person)
            #expect(
                try await world.acts.sign(asked.command(bert)).refusal == .authenticationFailed)
            #expect(try await world.policies.policies().count == 1)
        }
    }

    @Test func `counts no earlier signature whose key has ended since`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let cara = try await world.admitted("cara", by: anna, bert)
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            _ = try await world.keys.revoke(anna.recorded.id, of: anna.person)
            #expect(try await world.sign(act, by: bert).state == .open)
            #expect(try await world.policies.policies().count == 1)
            #expect(try await world.sign(act, by: cara).state == .done)
            #expect(try await world.policies.policies().count == 2)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `of one role is signed by nobody of another`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            let olga = try await world.person("olga", .officer)
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            #expect(try await world.acts.challenge(act, for: olga.person).refusal == .notFound)
            let own = try await world.acts.propose(
                ProposeActCommand(
                    person: olga.person, kind: .publishPolicy,
                    document: try await world.proposal()))
            #expect(own.refusal == .kindNotAllowed)
            // Olga's key in Anna's name.
            let asked = try AskedAct(
                try await world.acts.propose(
                    ProposeActCommand(
                        person: anna.person, kind: .publishPolicy,
                        document: try await world.proposal())))
            let forged = SignActCommand(
                person: anna.person, act: asked.act, challenge: asked.challenge,
                assertion: try olga.answer(asked.message))
            #expect(try await world.acts.sign(forged).refusal == .authenticationFailed)
        }
    }

    @Test func `that admits a key is signed by two people beside its owner`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let second = try await world.register(anna.person)
            let document: JSON = ["key_id": .string(second.recorded.id.text)]
            let own = try await world.acts.propose(
                ProposeActCommand(person: anna.person, kind: .admitKey, document: document))
            #expect(own.refusal == .ownKey)
            let (act, _) = try await world.propose(.admitKey, document, by: bert)
            #expect(try await world.sign(act, by: anna).refusal == .ownKey)
            // Whoever tries is on record, and the act waits for somebody else.
            let told = try await world.bodies(.actRefused)
            #expect(told.map { $0["refusal"] } == ["own_key", "own_key"])
            #expect(told.map { $0["signed"] } == [.bool(false), .bool(true)])
            #expect(told.allSatisfy { $0["person"] == "anna" && $0["kind"] == "person_key.admit" })
            #expect(try await world.acts.act(act, of: .risk)?.state == .open)
            #expect(try await world.audit().faults == [])
            // Where it would not be the last, no signature is asked for.
            _ = try await world.keys.revoke(bert.recorded.id, of: bert.person)
            #expect(try await world.sign(act, by: anna).refusal == .ownKey)
            #expect(try await world.evidence(.actRefused) == 2)
        }
    }

    /// The function that takes signatures asks again, whatever the service says.
    @Test func `that admits a key is not done by its owner in the database either`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let second = try await world.register(anna.person)
            let (act, _) = try await world.propose(
                .admitKey, ["key_id": .string(second.recorded.id.text)], by: bert)
            _ = try AskedAct(try await world.acts.challenge(act, for: anna.person))
            let rows = try await world.test.sql(
                """
                WITH given AS (
                    SELECT jsonb_build_object(
                               'act_id', c.act_id, 'challenge_id', c.id, 'client_id', c.client_id,
                               'person_key_id', '\(anna.recorded.id.text)', 'message', c.message,
                               'client_data_json', c.message, 'authenticator_data', c.message,
                               'signature', c.message, 'signed_at', clock_timestamp())
                               AS signature,
                           '{"sign_count_before": 0, "sign_count": 0, "backup_state": false}'::jsonb
                               AS state
                      FROM countersign.act_challenge c
                     WHERE c.state = 'live' AND c.client_id = '\(anna.person.text)')
                SELECT countersign.act_signature_stands(
                           ARRAY['person_key.admit'], true, signature, state) AS stands,
                       countersign.admit_person_key(signature, state, '[]') AS status
                  FROM given
                """)
            let row = try #require(rows.first)
            let (stands, status): (Bool, String) = (try row["stands"], try row["status"])
            // Nothing else is in the way of it.
            #expect(stands)
            #expect(status == "lost_race")
        }
    }

    @Test func `takes one answer to a question, and a bad one spends it`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            let old = try AskedAct(try await world.acts.challenge(act, for: bert.person))
            let asked = try AskedAct(try await world.acts.challenge(act, for: bert.person))
            #expect(
                try await world.acts.sign(old.command(bert)).refusal == .challengeSuperseded)
            let wrong = SignActCommand(
                person: bert.person, act: act, challenge: asked.challenge,
                assertion: try bert.answer(old.message))
            #expect(try await world.acts.sign(wrong).refusal == .authenticationFailed)
            #expect(
                try await world.acts.sign(asked.command(bert)).refusal == .challengeConsumed)
            #expect(try await world.evidence(.attemptFailed) == 1)
            let third = try AskedAct(try await world.acts.challenge(act, for: bert.person))
            let good = try third.command(bert)
            #expect(try await world.acts.sign(good).state == .done)
            // Sent again it is answered again.
            #expect(try await world.acts.sign(good).state == .done)
            #expect(try await world.evidence(.policyApproved) == 1)
        }
    }

    @Test func `remembers the counters of keys`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            for (count, expected) in [(7, nil), (7, .authenticationFailed), (8, nil)]
                as [(UInt32, ActRefusal?)]
            {
                let asked = try AskedAct(
                    try await world.acts.propose(
                        ProposeActCommand(
                            person: anna.person, kind: .publishPolicy,
                            document: try await world.proposal())))
                let outcome = try await world.acts.sign(asked.command(anna, signCount: count))
                #expect(outcome.refusal == expected)
            }
        }
    }

    @Test func `is open for ten of a person at most, and withdrawn by anybody of the role`()
        async throws
    {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let command = ProposeActCommand(
                person: anna.person, kind: .publishPolicy, document: try await world.proposal())
            var last: ID<Act>?
            for _ in 0..<10 { last = try AskedAct(try await world.acts.propose(command)).act }
            #expect(
                try await world.acts.propose(command).refusal
                    == .tooManyOpen(retryAfter: PersonAsker.lifetime))
            let reason = try DisplayText("not agreed", .reason)
            let act = try #require(last)
            for _ in 0..<2 {
                #expect(
                    try await world.acts.withdraw(act, by: bert.person, reason: reason).state
                        == .withdrawn)
            }
            #expect(try await world.evidence(.actWithdrawn) == 1)
            #expect(try await world.acts.propose(command).refusal == nil)
            let open = try await world.acts.acts(
                ActQuery(role: .risk, state: .open, limit: 50, before: nil))
            #expect(open.count == 10)
        }
    }
}
