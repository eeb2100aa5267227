import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// Two officers end a hold, on a real database.
@Suite struct `An act about a hold` {
    @Test func `releases, and what was held is due at once`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let hold = try #require(try await world.bank.bank.action(action)?.hold)
            let act = try await world.proposed(.releaseHold, action)
            #expect(try await world.execution(action) == .held)
            #expect(try await world.bank.queue.claim(limit: 9, lease: Seconds(60)).isEmpty)
            #expect(try await world.people.sign(act, by: world.anna).refusal == .alreadySigned)
            #expect(try await world.people.sign(act, by: world.bert).state == .done)
            #expect(try await world.execution(action) == .ready)
            #expect(try await world.bank.queue.claim(limit: 9, lease: Seconds(60)).count == 1)
            let recorded = try #require(try await world.people.acts.act(act, of: .officer))
            #expect(hold.isWritten(in: recorded.content["hold"]))
            #expect(recorded.content["reason"] == .string(HoldWorld.reason))
            let told = try await world.people.bodies(.actionReleased)
            #expect(told.count == 1)
            #expect(told.first?["people"] == ["anna", "bert"])
            #expect(told.first?["act_id"] == .string(act.text))
            #expect(told.first?["reason"] == .string(HoldWorld.reason))
            #expect(hold.isWritten(in: told.first?["hold"]))
            #expect(try await world.people.evidence(.actProposed) == 1)
            #expect(try await world.people.evidence(.actApproved) == 1)
            #expect(
                try await world.bank.count(
                    "SELECT count(*) FROM countersign.event WHERE kind = 'hold.ended'") == 1)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `cancels, and gives back what was reserved`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let act = try await world.proposed(.cancelHold, action)
            let question = try await world.people.acts.challenge(act, for: world.bert.person)
            let answer = try AskedAct(question).command(world.bert)
            for _ in 0..<2 {
                // Sent again it is answered again.
                #expect(try await world.people.acts.sign(answer).state == .done)
            }
            #expect(try await world.execution(action) == .cancelled)
            let reserved = try await world.bank.count(
                "SELECT count(*) FROM countersign.reservation WHERE returned_at IS NULL")
            #expect(reserved == 0)
            let told = try await world.people.bodies(.actionCancelled)
            #expect(told.count == 1 && told.first?["people"] == ["anna", "bert"])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is refused where there is no hold, and to whoever ends none`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let late = try await world.proposed(.cancelHold, action)
            #expect(try await world.end(.releaseHold, action).state == .done)
            #expect(try await world.people.sign(late, by: world.bert).refusal == .notHeld)
            let pending = try await world.bank.ask(Fixtures.transfer("1.00"), world.customer)
            for kind in [ActKind.releaseHold, .cancelHold] {
                #expect(try await world.refusal(kind, action) == .notHeld)
                #expect(try await world.refusal(kind, pending.id) == .notHeld)
                #expect(try await world.refusal(kind, ID(rawValue: 7)) == .notFound)
            }
            let risk = try await world.people.person("rita", .risk)
            let waiting = try await world.held()
            let own = ProposeActCommand(
                person: risk.person, kind: .releaseHold, document: world.document(waiting))
            #expect(try await world.people.acts.propose(own).refusal == .kindNotAllowed)
            let policy = ProposeActCommand(
                person: world.anna.person, kind: .publishPolicy,
                document: try await world.people.proposal())
            #expect(try await world.people.acts.propose(policy).refusal == .kindNotAllowed)
            #expect(try await world.execution(waiting) == .held)
            #expect(try await world.faults() == [])
        }
    }

    @Test(arguments: [
        ("seq", "seq = seq + 1"), ("time", "hold_until = hold_until + interval '1 second'"),
        ("end", "hold_end = 'cancel'"), ("rule", "hold_rule = 'contact_change_hold'"),
    ])
    func `is refused when the action is another than when it was proposed`(
        what: String, change: String
    ) async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let acts = [
                try await world.proposed(.releaseHold, action),
                try await world.proposed(.cancelHold, action),
            ]
            try await world.bank.test.tamper(with: "action", change)
            for act in acts {
                #expect(try await world.people.sign(act, by: world.bert).refusal == .holdChanged)
            }
            #expect(try await world.execution(action) == .held)
        }
    }

    @Test(arguments: [
        ("payee_removed", "UPDATE countersign.payee SET status = 'removed'"),
        (
            "payee_removed",
            """
            UPDATE countersign.payee SET confirmed_at = clock_timestamp(),
                   usable_at = clock_timestamp() + interval '60 seconds'
            """
        ),
        (
            "credential_suspended",
            "UPDATE countersign.credential SET status = 'suspended', failures = 100"
        ),
    ])
    func `releases nothing that would be cancelled at its release`(
        rule: String, change: String
    ) async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let act = try await world.proposed(.releaseHold, action)
            try await world.bank.test.sql(change)
            let refusal = ActRefusal.notReleasable(rule: rule)
            #expect(try await world.people.sign(act, by: world.bert).refusal == refusal)
            #expect(try await world.refusal(.releaseHold, action) == refusal)
            #expect(try await world.execution(action) == .held)
            // To stop it is not against a rule.
            #expect(try await world.end(.cancelHold, action).state == .done)
            #expect(try await world.execution(action) == .cancelled)
        }
    }

    @Test func `releases nothing above a limit that the customer has lowered`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held(Fixtures.transfer("60.00"))
            let act = try await world.proposed(.releaseHold, action)
            #expect(
                try await world.bank.approve(
                    Fixtures.limitChange("50.00", limit: .singleMax), world.customer
                ).isDecided)
            #expect(
                try await world.people.sign(act, by: world.bert).refusal
                    == .notReleasable(rule: "limit_single_max"))
            #expect(try await world.execution(action) == .held)
        }
    }

    @Test func `lets a raised limit hold at once`() async throws {
        try await HoldWorld.with { world in
            let customer = world.customer
            let low = try Fixtures.limitChange("50.00")
            #expect(try await world.bank.approve(low, customer).isDecided)
            let raise = try await world.held(Fixtures.limitChange("90.00"))
            let over = try Fixtures.transfer("60.00")
            #expect(try await world.bank.approve(over, customer).isDecided == false)
            #expect(try await world.end(.releaseHold, raise).state == .done)
            #expect(try await world.bank.approve(over, customer).isDecided)
            #expect(try await world.faults() == [])
        }
    }

    @Test func `releases a transfer whose payee cools off, and that transfer only`() async throws {
        try await HoldWorld.with { world in
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            try await world.bank.approve(Fixtures.newPayee(payee: friend), world.customer)
            let transfer = try Fixtures.transfer("1.00", payee: friend)
            let first = try await world.held(transfer)
            let second = try await world.held(transfer)
            #expect(try await world.end(.releaseHold, first).state == .done)
            #expect(try await world.execution(first) == .ready)
            #expect(try await world.execution(second) == .held)
            #expect(try await world.faults() == [])
        }
    }

    @Test(arguments: [
        ("{}", "/action_id"), (#"{"action_id":"x","reason":"y"}"#, "/action_id"),
        (#"{"action_id":"00000000-0000-0000-0000-000000000001"}"#, "/reason"),
        (#"{"action_id":"00000000-0000-0000-0000-000000000001","reason":""}"#, "/reason"),
        (
            #"{"action_id":"00000000-0000-0000-0000-000000000001","reason":"y","seq":1}"#,
            "/seq"
        ),
    ])
    func `has a document that says which action and why`(
        document: String, pointer: String
    ) throws {
        let json = try #require(JSON(recorded: Bytes(document.utf8)))
        #expect { try HoldRequest(json) } throws: { ($0 as? InvalidActMember)?.pointer == pointer }
        for (length, isGood) in [(500, true), (501, false)] {
            let long: JSON = [
                "action_id": .string(ID<Action>(rawValue: 1).text),
                "reason": .string(String(repeating: "x", count: length)),
            ]
            #expect(((try? HoldRequest(long)) != nil) == isGood)
        }
    }
}
