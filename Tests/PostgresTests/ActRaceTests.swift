import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// Several connections at once about one act.
@Suite struct `Signatures of an act in a race` {
    /// The proposer has signed, and each of these people has a question.
    private func asked(
        _ world: PeopleWorld, people count: Int
    ) async throws -> (proposer: HeldKey, act: ID<Act>, commands: [SignActCommand]) {
        let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
        var people = [bert]
        for number in 1..<count {
            people.append(try await world.admitted("p\(number)", by: anna, bert))
        }
        let (act, _) = try await world.propose(
            .publishPolicy, try await world.proposal(), by: anna)
        var commands: [SignActCommand] = []
        for person in people {
            let outcome = try await world.acts.challenge(act, for: person.person)
            commands.append(try AskedAct(outcome).command(person))
        }
        return (anna, act, commands)
    }

    @Test func `of two people take effect once`() async throws {
        for _ in 0..<4 {
            try await PeopleWorld.with { world in
                let (_, act, commands) = try await asked(world, people: 3)
                let outcomes = try await inParallel(3) {
                    try await world.acts.sign(commands[$0])
                }
                #expect(outcomes.count(where: { $0.state == .done }) == 1)
                #expect(outcomes.count(where: { $0.refusal == .closed(.done) }) == 2)
                #expect(try await world.policies.policies().count == 2)
                #expect(try await world.evidence(.policyPublished) == 1)
                #expect(try await world.acts.act(act, of: .risk)?.signatures.count == 2)
                #expect(try await world.audit().faults == [])
            }
        }
    }

    @Test func `of one person on eight connections are one`() async throws {
        try await PeopleWorld.with { world in
            let (_, act, commands) = try await asked(world, people: 1)
            let outcomes = try await inParallel(8) { _ in try await world.acts.sign(commands[0]) }
            // The very same answer is answered the same.
            #expect(outcomes.allSatisfy { $0.state == .done })
            #expect(try await world.evidence(.policyApproved) == 1)
            #expect(try await world.acts.act(act, of: .risk)?.signatures.count == 2)
            #expect(try await world.policies.policies().count == 2)
        }
    }

    @Test func `of the proposer on eight connections are never two people's`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            _ = try await world.person("bert")
            let first = try AskedAct(
                try await world.acts.propose(
                    ProposeActCommand(
                        person: anna.person, kind: .publishPolicy,
                        document: try await world.proposal())))
            let outcomes = try await inParallel(8) { number in
                if number % 2 == 0 { return try await world.acts.sign(first.command(anna)) }
                return try await world.sign(first.act, by: anna)
            }
            #expect(outcomes.contains { $0.refusal != nil || $0.state == .open })
            #expect(try await world.acts.act(first.act, of: .risk)?.state == .open)
            #expect(try await world.evidence(.policyProposed) <= 1)
            #expect(try await world.policies.policies().count == 1)
        }
    }

    @Test func `and its withdrawal end it one way`() async throws {
        for _ in 0..<8 {
            try await PeopleWorld.with { world in
                let (anna, act, commands) = try await asked(world, people: 1)
                let reason = try DisplayText("not agreed", .reason)
                let outcomes = try await inParallel(2) { number in
                    number == 0
                        ? try await world.acts.sign(commands[0])
                        : try await world.acts.withdraw(act, by: anna.person, reason: reason)
                }
                let state = try await world.acts.act(act, of: .risk)?.state
                let published = try await world.policies.policies().count == 2
                #expect(published == (state == .done))
                #expect((outcomes[0].state == .done) == published)
                #expect((outcomes[1].state == .withdrawn) != published)
                #expect(try await world.evidence(.actWithdrawn) == (published ? 0 : 1))
            }
        }
    }

    @Test func `and the end of the signer's key leave no policy of one person`() async throws {
        for _ in 0..<8 {
            try await PeopleWorld.with { world in
                let (anna, act, commands) = try await asked(world, people: 1)
                _ = try await inParallel(2) { number in
                    if number == 0 {
                        _ = try await world.acts.sign(commands[0])
                    } else {
                        let key = anna.recorded.id
                        _ = try await world.keys.revoke(key, of: anna.person)
                    }
                }
                let state = try await world.acts.act(act, of: .risk)?.state
                #expect(
                    try await world.policies.policies().count == (state == .done ? 2 : 1))
                // Where the key ended first, the second signature alone brought nothing about.
                #expect(try await world.audit().faults == [])
            }
        }
    }
}
