import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// When a key needs nobody to admit it, on a real database.
@Suite struct `The founding of a role` {
    private func reopen(
        _ world: PeopleWorld, _ role: PersonRole = .risk
    ) async throws -> Administration.Reopening {
        try await world.administration.reopenFounding(
            of: role, reason: DisplayText("both keys are lost", .reason))
    }

    /// The API key of a person is enough to end that person's passkey, and to ask for another one.
    @Test func `lets one of two people not become both with the API key of the other`() async throws
    {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            #expect(
                try await world.keys.revoke(anna.recorded.id, of: anna.person)?.status == .revoked)
            let forged = try await world.register(anna.person)
            #expect(forged.recorded.status == .pending)
            // Nor does a client help that the operator adds now.
            #expect(try await world.person("cara").recorded.status == .pending)
            let (act, proposed) = try await world.propose(
                .admitKey, ["key_id": .string(forged.recorded.id.text)], by: bert)
            #expect(proposed.state == .open)
            #expect(try await world.sign(act, by: forged).refusal == .noKey)
            #expect(try await world.keys.keys(of: .risk).count(where: \.maySign) == 1)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `is over for clients that were removed, too`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            _ = try await world.person("bert")
            try await world.test.sql(
                """
                UPDATE countersign.client SET removed_at = clock_timestamp()
                 WHERE id = '\(anna.person.text)'
                """)
            #expect(try await world.person("cara").recorded.status == .pending)
        }
    }

    @Test func `counts nobody whose key never counted, and nobody twice`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            let second = try await world.register(anna.person)
            #expect(second.recorded.status == .pending)
            _ = try await world.keys.revoke(second.recorded.id, of: anna.person)
            _ = try await world.keys.revoke(anna.recorded.id, of: anna.person)
            #expect(try await world.register(anna.person).recorded.status == .pending)
            #expect(try await world.person("bert").recorded.status == .active)
            #expect(try await world.person("cara").recorded.status == .pending)
        }
    }

    @Test func `is not reopened by a revocation that races a registration`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            let (cara, _) = try await world.registration(of: try await world.client("cara", .risk))
            _ = try await inParallel(3) { number in
                switch number {
                case 0: _ = try await world.keys.revoke(anna.recorded.id, of: anna.person)
                case 1: _ = try await world.keys.revoke(bert.recorded.id, of: bert.person)
                default: #expect(try await world.keys.register(cara).refusal == nil)
                }
            }
            #expect(try await world.keys.keys(of: .risk).count(where: \.maySign) == 0)
        }
    }

    @Test func `is opened again by the operator, and only where nobody can admit`() async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            _ = try await world.person("olga", .officer)
            #expect(try await reopen(world) == .enoughPeople)
            _ = try await world.keys.revoke(anna.recorded.id, of: anna.person)
            guard case .reopened(let until) = try await reopen(world) else {
                Issue.record("the founding stays closed")
                return
            }
            // The other role is none of it: its founding goes on.
            #expect(try await world.person("otto", .officer).recorded.status == .active)
            #expect(try await world.person("omar", .officer).recorded.status == .pending)
            // Bert has a key, and whoever is second is the last.
            #expect(try await world.register(bert.person).recorded.status == .pending)
            let new = try await world.register(anna.person)
            #expect(new.recorded.status == .active)
            #expect(try await world.person("cara").recorded.status == .pending)
            // The same attack again, while the day is not over.
            for key in [new, bert] {
                _ = try await world.keys.revoke(key.recorded.id, of: key.person)
                #expect(try await world.register(key.person).recorded.status == .pending)
            }
            let bodies = try await world.bodies(.personFoundingReopened)
            #expect(bodies.map { $0["people"] } == [.array([.string(bert.person.text)])])
            #expect(bodies.first?["reason"] == "both keys are lost")
            #expect(bodies.first?["closes_at"]?.text == until.text)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `is open again for one day`() async throws {
        try await PeopleWorld.with { world in
            for key in [try await world.person("anna"), try await world.person("bert")] {
                _ = try await world.keys.revoke(key.recorded.id, of: key.person)
            }
            guard case .reopened = try await reopen(world) else {
                Issue.record("the founding stays closed")
                return
            }
            try await world.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.founding_reopening DISABLE TRIGGER no_change;
                        UPDATE countersign.founding_reopening
                           SET reopened_at = reopened_at - interval '24 hours',
                               closes_at = closes_at - interval '24 hours';
                        """)
            }
            #expect(try await world.person("cara").recorded.status == .pending)
            guard case .reopened = try await reopen(world) else {
                Issue.record("the founding stays closed")
                return
            }
            #expect(try await world.person("dora").recorded.status == .active)
        }
    }

    @Test func `is open again for two people, however many come at once`() async throws {
        try await PeopleWorld.with { world in
            for key in [try await world.person("anna"), try await world.person("bert")] {
                _ = try await world.keys.revoke(key.recorded.id, of: key.person)
            }
            _ = try await reopen(world)
            var commands: [RegisterPersonKeyCommand] = []
            for number in 0..<6 {
                let person = try await world.client("p\(number)", .risk)
                commands.append(try await world.registration(of: person).command)
            }
            let all = commands
            let outcomes = try await inParallel(8) { number in
                if number < 6 { return try await world.keys.register(all[number]).refusal == nil }
                return try await reopen(world) == .enoughPeople
            }
            #expect(outcomes.prefix(6).allSatisfy { $0 })
            #expect(try await world.keys.keys(of: .risk).count(where: \.maySign) == 2)
            #expect(try await reopen(world) == .enoughPeople)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `is opened again by nobody but the operator, and not without evidence`() async throws
    {
        try await PeopleWorld.with { world in
            let call = "SELECT countersign.reopen_founding('risk', '{}', clock_timestamp(), '[]')"
            for (role, code) in [
                (TestDatabase.Role.service, "42501"), (.auditor, "42501"), (.op, "CS005"),
            ] {
                let database = await world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: code), "\(role)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(script: call)
                    }
                }
            }
            await #expect(throws: StoreFailure.internalFailure(code: "CS001")) {
                _ = try await reopen(world)
                try await world.test.sql("DELETE FROM countersign.founding_reopening")
            }
        }
    }

    /// What the database keeps, it keeps for every writer.
    @Test func `knows when a key began to count, whatever is written`() async throws {
        try await PeopleWorld.with { world in
            _ = try await world.person("anna")
            try await world.test.sql("UPDATE countersign.person_key SET admitted_at = NULL")
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.person_key WHERE admitted_at IS NOT NULL")
                    == 1)
        }
    }
}
