import Countersign
import Crypto
import Delivery
import Evidence
import Postgres
import TestSupport
import Testing

/// Two officers approve for a customer who has no key, on a real database.
@Suite struct `An approval by officers` {
    @Test func `holds the action, and reaches core banking when its time has come`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            #expect(try await world.action(asked.id).authorization == .pending)
            #expect(try await world.people.sign(act, by: world.anna).refusal == .alreadySigned)
            #expect(try await world.people.sign(act, by: world.bert).state == .done)
            let action = try await world.action(asked.id)
            #expect(action.authorization == .approved && action.execution == .held)
            #expect(action.hold?.rule == .assistedHold && action.hold?.end == .release)
            #expect(try await world.written() == [1, 1, 1])
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.decision d JOIN countersign.act a ON a.id = d.act_id
                     WHERE d.hold_until = d.decided_at + interval '86400 seconds'
                       AND d.message_digest = a.digest AND a.state = 'done'
                    """) == 1)
            #expect(try await world.bank.queue.claim(limit: 9, lease: Seconds(60)).isEmpty)
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.event
                     WHERE kind = 'hold.placed' AND document ->> 'rule' = 'assisted_hold'
                    """) == 1)
            #expect(try await world.bank.usedAmounts() == 15_000)

            try await world.letTimePass()
            #expect(try await world.bank.housekeeping.settleDueActions() == 1)
            let claims = try await world.bank.queue.claim(limit: 9, lease: Seconds(60))
            guard case .order(let order)? = claims.first?.item,
                case .assisted(act, let signatures) = order.approval
            else {
                Issue.record("no order of officers: \(claims)")
                return
            }
            #expect(signatures.map(\.person) == ["anna", "bert"])
            #expect(signatures.map(\.key) == [world.anna, world.bert].map(\.recorded.id))
            let recorded = try #require(try await world.people.acts.act(act, of: .officer))
            #expect(order.message == recorded.document)
            let body = try #require(
                OrderDocument.encode(order) { _, _ in nil }.flatMap(SignedJSON.decode))
            #expect(body["approval"]?["kind"] == "assisted" && body["message"] == nil)
            #expect(body["transfer"]?["amount"] == "150.00")
            #expect(try await world.faults() == [AssistedWorld.earlyRelease])
        }
    }

    @Test func `is told with all that was signed and looked at`() async throws {
        try await AssistedWorld.with { world in
            let id = try await world.approved()
            let told = try await world.people.bodies(.actionApproved)
            let body = try #require(told.first)
            #expect(told.count == 1 && body["approval"] == "assisted")
            #expect(body["people"] == ["anna", "bert"])
            #expect(body["reason"] == .string(AssistedWorld.reason))
            #expect(
                body["identity_check"] == [
                    "method": "in_person", "reference": "passport, copy 7",
                ])
            let document = try #require(body.bytes("document"))
            #expect(sha256(document).hex == body["document_digest"]?.text)
            let approval = SignedJSON.decode(document).flatMap {
                AssistedApproval(recorded: $0)
            }
            let action = try await world.action(id)
            #expect(approval?.content == action.content)
            #expect(approval?.customerID == world.customer.id && approval?.request.action == id)
            // The decision can be made again from what is recorded.
            let inputs = try #require(body["policy"]?["inputs"])
            guard case .object(let members) = inputs else { throw Unexpected("no inputs") }
            let state = try #require(
                RecordedState(
                    members: members.reduce(into: [:]) { $0[$1.name] = $1.value.text ?? "" }))
            #expect(state.isAssisted && state.credential == nil)
            #expect(try await world.people.evidence(.actProposed) == 1)
            #expect(try await world.people.evidence(.actApproved) == 1)
            #expect(try await world.people.evidence(.actionHeld) == 1)
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.policy_decision WHERE outcome = 'approved'")
                    == 1)
        }
    }

    @Test func `confirms a payee and a change of contact data, which wait too`() async throws {
        try await AssistedWorld.with { world in
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            _ = try await world.approved(Fixtures.newPayee(payee: friend))
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.payee p JOIN countersign.decision d USING (action_id)
                     WHERE p.usable_at >= d.hold_until
                    """) == 1)
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.event WHERE kind = 'payee.added'") == 1)
            _ = try await world.approved(Fixtures.contactChange())
            #expect(
                try await world.bank.count(
                    """
                    SELECT count(*) FROM countersign.customer
                     WHERE contact_hold_until > clock_timestamp() + interval '47 hours'
                    """) == 1)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is refused to whoever has a key, or to whom the policy does not give it`()
        async throws
    {
        try await AssistedWorld.with { world in
            let over = try await world.pending(Fixtures.transfer("200.01"))
            #expect(
                try await world.refusal(over.id)
                    == .action(
                        .policy(
                            .limitExceeded(
                                limit: .assistedMax,
                                allowed: Money(minorUnits: 20_000, currency: Currency("EUR")),
                                window: nil))))
            let limit = try await world.pending(Fixtures.limitChange("50.00"))
            #expect(
                try await world.refusal(limit.id) == .action(.policy(.assistedNotAllowed)))
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            try await world.bank.test.sql(world.enrolling)
            #expect(try await world.refusal(asked.id) == .customerHasKey)
            #expect(try await world.people.sign(act, by: world.bert).refusal == .customerHasKey)
            // What became of that key counts, not that there once was one.
            try await world.bank.test.sql(
                "UPDATE countersign.credential SET status = 'suspended', failures = 100")
            #expect(try await world.people.sign(act, by: world.bert).state == .done)
        }
        try await AssistedWorld.with(rule: nil) { world in
            let asked = try await world.pending()
            #expect(
                try await world.refusal(asked.id) == .action(.policy(.assistedNotAllowed)))
        }
    }

    @Test func `is about a pending action, by officers`() async throws {
        try await AssistedWorld.with { world in
            #expect(try await world.refusal(ID(rawValue: 7)) == .notFound)
            let asked = try await world.pending()
            let risk = try await world.people.person("rita", .risk)
            #expect(try await world.refusal(asked.id, by: risk) == .kindNotAllowed)
            #expect(try await world.approve(asked.id).state == .done)
            #expect(
                try await world.refusal(asked.id) == .action(.alreadyDecided(.approved)))
            let cancelled = try await world.pending()
            _ = try await world.bank.bank.cancel(cancelled.id, reason: "mistake")
            #expect(try await world.refusal(cancelled.id) == .action(.actionCancelled))
            let expired = try await world.pending()
            let late = try await world.proposed(expired.id)
            let recorded = try #require(try await world.people.acts.act(late, of: .officer))
            #expect(recorded.expiresAt == (try await world.action(expired.id)).expiresAt)
            try await world.bank.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.action DISABLE TRIGGER ALL;
                        UPDATE countersign.action SET expires_at = clock_timestamp()
                         WHERE "authorization" = 'pending';
                        ALTER TABLE countersign.action ENABLE TRIGGER ALL
                        """)
            }
            #expect(try await world.refusal(expired.id) == .action(.actionExpired))
            #expect(
                try await world.people.sign(late, by: world.bert).refusal
                    == .action(.actionExpired))
            #expect(try await world.written() == [1, 1, 1])
        }
    }

    @Test func `needs two people, not two keys of one`() async throws {
        try await AssistedWorld.with { world in
            let carla = try await world.people.admitted(
                "carla", .officer, by: world.anna, world.bert)
            // A second key of the first officer, which two others have admitted.
            let second = try await world.people.register(world.anna.person)
            let (admission, _) = try await world.people.propose(
                .admitKey, ["key_id": .string(second.recorded.id.text)], by: world.bert)
            #expect(try await world.people.sign(admission, by: carla).state == .done)
            let asked = try await world.pending()
            let act = try await world.proposed(asked.id)
            for key in [world.anna, second] {
                #expect(try await world.people.sign(act, by: key).refusal == .alreadySigned)
            }
            #expect(try await world.action(asked.id).authorization == .pending)
            #expect(try await world.people.sign(act, by: carla).state == .done)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `does not stop at a lock, and leaves the customer's questions dead`() async throws {
        try await AssistedWorld.with { world in
            let asked = try await world.pending()
            try await world.bank.test.sql(
                """
                UPDATE countersign.customer SET failures = 5,
                       locked_until = clock_timestamp() + interval '1 hour'
                """)
            #expect(try await world.approve(asked.id).state == .done)
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.challenge WHERE state = 'live'") == 0)
            // The lock is the customer's, and stays.
            #expect(try await world.bank.count("SELECT failures FROM countersign.customer") == 5)
            try await world.bank.test.sql(world.enrolling)
            let late = try await world.bank.bank.decide(
                world.bank.command(.approve, asked, world.customer))
            #expect(late.refusal == .alreadyDecided(.approved))
            #expect(try await world.written() == [1, 1, 1])
        }
    }

    @Test func `is not released early, by whomever, but can be cancelled`() async throws {
        try await AssistedWorld.with { world in
            let id = try await world.approved()
            let document: JSON = ["action_id": .string(id.text), "reason": "in a hurry"]
            let early = ProposeActCommand(
                person: world.anna.person, kind: .releaseHold, document: document)
            #expect(
                try await world.people.acts.propose(early).refusal
                    == .notReleasable(rule: "assisted_hold"))
            let (act, _) = try await world.people.propose(
                .cancelHold, document, by: world.anna)
            #expect(try await world.people.sign(act, by: world.bert).state == .done)
            #expect(try await world.action(id).execution == .cancelled)
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.reservation WHERE returned_at IS NULL") == 0)
            #expect(try await world.faults() == [])
        }
    }

    @Test(arguments: ["key", "client"])
    func `is cancelled when fewer than two officers stand behind it at the end`(
        what: String
    ) async throws {
        try await AssistedWorld.with { world in
            let id = try await world.approved()
            if what == "key" {
                let revoked = try await world.people.keys.revoke(
                    world.bert.recorded.id, of: world.bert.person)
                #expect(revoked?.status == .revoked)
            } else {
                try await world.bank.test.sql(
                    "UPDATE countersign.client SET removed_at = now() WHERE name = 'anna'")
            }
            try await world.letTimePass()
            #expect(try await world.bank.housekeeping.settleDueActions() == 1)
            #expect(try await world.action(id).execution == .cancelled)
            let told = try await world.people.bodies(.actionCancelled)
            #expect(told.first?["reason"] == "credential_ended")
            #expect(try await world.bank.queue.claim(limit: 9, lease: Seconds(60)).isEmpty)
            #expect(try await world.faults() == [])
        }
    }
}
