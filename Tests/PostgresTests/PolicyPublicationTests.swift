import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// Publishing policies, on a real database.
@Suite struct `Publishing a policy` {
    private func founders(_ world: PeopleWorld) async throws -> (HeldKey, HeldKey) {
        (try await world.person("anna"), try await world.person("bert"))
    }

    private func now(_ world: PeopleWorld) async throws -> Instant {
        let rows = try await world.test.sql("SELECT clock_timestamp() AS now")
        guard let row = rows.first else { throw Unexpected("no time") }
        return try row["now"]
    }

    @Test func `records the document, its base and what is different`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = try await founders(world)
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            #expect(try await world.sign(act, by: bert).state == .done)
            let newest = try #require(try await world.policies.policies().first)
            #expect(newest.version == 2 && !newest.isActive)
            #expect(newest.activeFrom > newest.publishedAt)
            let told = try #require(try await world.bodies(.policyPublished).last)
            #expect(told["base_version"] == .integer(1) && told["version"] == .integer(2))
            #expect(told.bytes("document") == newest.document)
            #expect(
                told["difference"] == [
                    [
                        "from": .integer(86_400), "pointer": "/payee/cooling_off_s",
                        "to": .integer(90_000),
                    ]
                ])
            #expect(told["active_from"] == .string(newest.activeFrom.text))
            for kind in [EvidenceKind.policyProposed, .policyApproved] {
                let signed = try #require(try await world.bodies(kind).first)
                let document = try #require(signed.bytes("document"))
                #expect(signed["document_digest"] == .string(sha256(document).hex))
            }
            let leaves = try await world.count(
                """
                SELECT count(*) FROM countersign.evidence WHERE kind = 'policy.published'
                   AND convert_from(leaf, 'UTF8')::jsonb ->> 'policy' = '\(newest.digest.hex)'
                """)
            #expect(leaves == 1)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `takes effect at the stated time, and never for a time that is over`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = try await founders(world)
            let at = try await now(world)
            let stated = (at + Seconds(3600)).wholeSeconds
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(activeFrom: stated), by: anna)
            #expect(try await world.sign(act, by: bert).state == .done)
            #expect(try await world.policies.policies().first?.activeFrom == stated)
            let late = ProposeActCommand(
                person: anna.person, kind: .publishPolicy,
                document: try await world.proposal(activeFrom: at - Seconds(61)))
            #expect(try await world.acts.propose(late).refusal == .tooLate)
        }
        try await PeopleWorld.with { world in
            let (anna, bert) = try await founders(world)
            let stated = try await now(world) - Seconds(30)
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(activeFrom: stated), by: anna)
            #expect(try await world.sign(act, by: bert).state == .done)
            let newest = try #require(try await world.policies.policies().first)
            #expect(newest.activeFrom > newest.publishedAt)
        }
    }

    @Test func `does not end a version that waits, but may take its place`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = try await founders(world)
            let later = (try await now(world) + Seconds(7200)).wholeSeconds
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(activeFrom: later), by: anna)
            #expect(try await world.sign(act, by: bert).state == .done)
            let earlier = ProposeActCommand(
                person: anna.person, kind: .publishPolicy,
                document: try await world.proposal(activeFrom: later - Seconds(1)))
            #expect(
                try await world.acts.propose(earlier).refusal == .tooEarly(notBefore: later))
            let (same, _) = try await world.propose(
                .publishPolicy, try await world.proposal(activeFrom: later), by: anna)
            #expect(try await world.sign(same, by: bert).state == .done)
            #expect(try await world.policies.policies().map(\.version) == [3, 2, 1])
        }
    }

    @Test func `is against the version that its signers compared`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = try await founders(world)
            let document = try await world.proposal()
            let (first, _) = try await world.propose(.publishPolicy, document, by: anna)
            let (second, _) = try await world.propose(.publishPolicy, document, by: bert)
            let asked = try AskedAct(try await world.acts.challenge(second, for: anna.person))
            #expect(try await world.sign(first, by: bert).state == .done)
            #expect(
                try await world.acts.sign(asked.command(anna)).refusal
                    == .policyChanged(newest: 2))
            #expect(
                try await world.acts.challenge(second, for: anna.person).refusal
                    == .policyChanged(newest: 2))
            #expect(try await world.policies.policies().count == 2)
        }
    }

    @Test func `by two acts at once publishes one`() async throws {
        for _ in 0..<4 {
            try await PeopleWorld.with { world in
                let (anna, bert) = try await founders(world)
                let document = try await world.proposal()
                var commands: [SignActCommand] = []
                for _ in 0..<4 {
                    let (act, _) = try await world.propose(.publishPolicy, document, by: anna)
                    let outcome = try await world.acts.challenge(act, for: bert.person)
                    commands.append(try AskedAct(outcome).command(bert))
                }
                let all = commands
                let outcomes = try await inParallel(4) { try await world.acts.sign(all[$0]) }
                #expect(outcomes.count(where: { $0.state == .done }) == 1)
                #expect(
                    outcomes.count(where: { $0.refusal == .policyChanged(newest: 2) }) == 3)
                #expect(try await world.policies.policies().map(\.version) == [2, 1])
            }
        }
    }

    @Test(
        arguments: [
            ("challenge_lifetime_s", JSON.integer(601), "/policy/challenge_lifetime_s"),
            ("attempts.lock_s", .integer(1), "/policy/attempts/lock_s"),
            ("time_zone", "Mars/Olympus", "/policy/time_zone"),
            ("time_zone", .integer(1), "/policy/time_zone"),
            ("version", "countersign/policy/0", "/policy/version"),
            ("currencies.EUR.single_max", nil, "/policy/currencies/EUR/single_max"),
            ("note", .fraction, "/policy/note"),
            ("home_currency", "JPX", "/policy/home_currency"),
        ] as [(String, JSON?, String)])
    func `refuses a document that is not valid, and points at the member`(
        path: String, value: JSON?, pointer: String
    ) async throws {
        try await PeopleWorld.with { world in
            let (anna, _) = try await founders(world)
            let policy = try #require(try await world.policies.activePolicy()).content
            let outcome = try await world.acts.propose(
                ProposeActCommand(
                    person: anna.person, kind: .publishPolicy,
                    document: ["policy": policy.setting(path, to: value)]))
            guard case .invalid(let member)? = outcome.refusal else {
                Issue.record("\(outcome)")
                return
            }
            #expect(member.pointer == pointer)
        }
    }

    @Test func `by one person is refused unless it only tightens`() async throws {
        try await PeopleWorld.with { world in
            let (anna, _) = try await founders(world)
            let command = ProposeActCommand(
                person: anna.person, kind: .tightenPolicy, document: try await world.proposal())
            let loose = world.acts { _, _ in false }
            #expect(try await loose.propose(command).refusal == .notStricter)
            // Whoever tries is on record, with what was to be published.
            let told = try #require(try await world.bodies(.actRefused).last)
            #expect(told["refusal"] == "policy_not_stricter" && told["person"] == "anna")
            #expect(told["kind"] == "policy.tighten" && told["signed"] == .bool(false))
            #expect(told["content"] == command.document)
            // Where the new rules are as strict, the one signature publishes.
            let strict = world.acts { new, old in new.payeeCoolingOff >= old.payeeCoolingOff }
            let asked = try AskedAct(try await strict.propose(command))
            // Whoever signs is asked again.
            #expect(
                try await loose.sign(asked.command(anna)).refusal == .notStricter)
            #expect(try await world.evidence(.actRefused) == 1)
            #expect(try await strict.sign(asked.command(anna)).state == .done)
            #expect(try await world.policies.policies().count == 2)
            #expect(try await world.evidence(.policyProposed) == 1)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `that tightens overtakes what waits, and is as strict as that too`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = try await founders(world)
            let strict = world.acts { new, old in new.payeeCoolingOff >= old.payeeCoolingOff }
            let later = (try await now(world) + Seconds(7200)).wholeSeconds
            let (act, _) = try await world.propose(
                .publishPolicy,
                try await world.proposal(
                    "payee.cooling_off_s", .integer(100_000), activeFrom: later), by: anna)
            #expect(try await world.sign(act, by: bert).state == .done)
            func command(_ seconds: Int64) async throws -> ProposeActCommand {
                ProposeActCommand(
                    person: anna.person, kind: .tightenPolicy,
                    document: try await world.proposal(
                        "payee.cooling_off_s", .integer(seconds)))
            }
            #expect(try await strict.propose(command(99_999)).refusal == .notStricter)
            let asked = try AskedAct(try await strict.propose(command(100_001)))
            #expect(try await strict.sign(asked.command(anna)).state == .done)
            let told = try #require(try await world.bodies(.policyPublished).last)
            #expect(told["overtaken"] == [.integer(2)])
            #expect(try await world.policies.policies().map(\.version) == [3, 2, 1])
            // What was overtaken keeps nobody waiting once the newer one is in force.
            for _ in 0..<100 {
                if try await world.policies.activePolicy()?.version == 3 { break }
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await world.policies.activePolicy()?.version == 3)
            let (next, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            #expect(try await world.sign(next, by: bert).state == .done)
        }
    }
}
