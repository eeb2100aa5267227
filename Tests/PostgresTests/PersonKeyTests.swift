import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// Keys of people, on a real database.
@Suite struct `The keys of people` {
    @Test func `of the first two people of a role count at once, and every later one waits`()
        async throws
    {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            #expect(anna.recorded.status == .active)
            // Anna's second key makes no second person.
            #expect(try await world.register(anna.person).recorded.status == .pending)
            #expect(try await world.person("bert").recorded.status == .active)
            #expect(try await world.person("cara").recorded.status == .pending)
            // Another role has two of its own.
            #expect(try await world.person("olga", .officer).recorded.status == .active)
            #expect(try await world.evidence(.personKeyRegistered) == 5)
            #expect(try await world.evidence(.clientAdded) == 4)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `registered in a race are admitted at once for two people only`() async throws {
        try await PeopleWorld.with { world in
            var commands: [RegisterPersonKeyCommand] = []
            for number in 0..<8 {
                let person = try await world.client("p\(number)", .risk)
                commands.append(try await world.registration(of: person).command)
            }
            let all = commands
            let outcomes = try await inParallel(8) { try await world.keys.register(all[$0]) }
            #expect(outcomes.allSatisfy { $0.refusal == nil })
            let keys = try await world.keys.keys(of: .risk)
            #expect(keys.count(where: { $0.status == .active }) == 2)
            #expect(keys.count(where: { $0.status == .pending }) == 6)
        }
    }

    @Test func `of one registration are made once`() async throws {
        try await PeopleWorld.with { world in
            let person = try await world.client("anna", .risk)
            let (command, _) = try await world.registration(of: person)
            let outcomes = try await inParallel(6) { _ in try await world.keys.register(command) }
            #expect(outcomes.count(where: { $0.refusal == nil }) == 1)
            #expect(outcomes.count(where: { $0.refusal == .consumed }) == 5)
        }
    }

    @Test func `are never two people's`() async throws {
        try await PeopleWorld.with { world in
            let (first, authenticator) = try await world.registration(
                of: try await world.client("anna", .risk))
            #expect(try await world.keys.register(first).refusal == nil)
            let (second, _) = try await world.registration(
                of: try await world.client("bert", .officer), authenticator)
            #expect(try await world.keys.register(second).refusal == .keyExists)
            #expect(try await world.keys.keys(of: .officer).isEmpty)
            #expect(try await world.evidence(.attemptFailed) == 1)
        }
    }

    @Test func `need their user verified, and each person's own registration`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.client("anna", .risk)
            let (unverified, _) = try await world.registration(of: anna, flags: [.userPresent])
            #expect(try await world.keys.register(unverified).refusal == .authenticationFailed)
            #expect(try await world.keys.register(unverified).refusal == .consumed)
            let bert = try await world.client("bert", .risk)
            let (good, _) = try await world.registration(of: anna)
            let stolen = RegisterPersonKeyCommand(
                person: bert, registration: good.registration, offered: good.offered)
            #expect(try await world.keys.register(stolen).refusal == .notFound)
            let backend = try await world.client("core", .backend)
            guard
                case .refused(.notFound) = try await world.keys.beginRegistration(
                    of: backend, label: DisplayText("", .credentialLabel))
            else {
                Issue.record("a backend registers a key")
                return
            }
        }
    }

    @Test func `end by their person or by the operator, and by nobody else`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            let bert = try await world.person("bert")
            #expect(try await world.keys.revoke(anna.recorded.id, of: bert.person) == nil)
            #expect(
                try await world.keys.revoke(anna.recorded.id, of: anna.person)?.status == .revoked)
            #expect(
                try await world.keys.revoke(anna.recorded.id, of: anna.person)?.status == .revoked)
            let reason = try DisplayText("left the bank", .reason)
            #expect(
                try await world.administration.revokePersonKey(bert.recorded.id, reason: reason))
            #expect(
                try await !world.administration.revokePersonKey(bert.recorded.id, reason: reason))
            #expect(try await world.evidence(.personKeyRevoked) == 2)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `name the person's own keys in options, under one handle`() async throws {
        try await PeopleWorld.with { world in
            let anna = try await world.person("anna")
            _ = try await world.person("bert")
            let outcome = try await world.keys.beginRegistration(
                of: anna.person, label: DisplayText("second", .credentialLabel))
            guard case .begun(let json) = outcome, let options = json["webauthn"] else {
                Issue.record("\(outcome)")
                return
            }
            #expect(options.bytes("handle") == anna.recorded.stored.userHandle)
            #expect(options["name"] == "anna")
            let own = Base64.encodeURL(anna.recorded.stored.credentialID)
            #expect(options["exclude"] == [.string(own)])
        }
    }
}
