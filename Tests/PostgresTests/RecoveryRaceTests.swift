import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Recoveries and others at once` {
    /// Customers with a phone and the established payee.
    private func customers(
        _ count: Int, in world: EnrolmentWorld
    ) async throws -> [(customer: CustomerID, phone: Phone)] {
        var made: [(customer: CustomerID, phone: Phone)] = []
        for number in 0..<count {
            let customer = try CustomerID("c-\(number)")
            made.append((customer, try await world.enrolled(customer)))
            try await world.importPayee(customer)
        }
        try await world.announceAll()
        return made
    }

    private func isOver(_ world: EnrolmentWorld) async throws {
        #expect(
            try await world.count(
                "SELECT count(*) FROM countersign.credential WHERE status <> 'revoked'") == 0)
        #expect(
            try await world.count(
                "SELECT count(*) FROM countersign.challenge WHERE state = 'live'") == 0)
        #expect(
            try await world.count(
                "SELECT count(*) FROM countersign.enrolment WHERE spent_at IS NULL") == 0)
        #expect(
            try await world.count(
                """
                SELECT count(*) FROM countersign.evidence r
                  JOIN countersign.evidence e ON e.subject_id = r.subject_id
                       AND e.recorded_at > r.recorded_at
                       AND e.kind IN ('action.approved', 'action.released', 'credential.enrolled')
                 WHERE r.kind = 'recovery'
                """) == 0)
        #expect(try await world.evidenceHolds())
    }

    @Test func `against approvals, nothing that was approved is left to be sent`() async throws {
        try await EnrolmentWorld.with { world in
            let made = try await customers(6, in: world)
            var questions: [(CustomerID, Phone, [Question])] = []
            for (customer, phone) in made {
                var asked: [Question] = []
                for _ in 0..<4 {
                    asked.append(try await world.create(customer, try world.transfer("1.00")))
                }
                questions.append((customer, phone, asked))
            }
            let lost = try await atOnce(questions) { customer, phone, asked in
                async let recovered = world.recovered(customer)
                let approved = try await atOnce(asked) { try await world.approve($0, phone) }
                #expect(try await recovered.revoked == [phone.credential])
                return approved.count { $0.action == nil }
            }
            print("recovery against approvals: \(lost.reduce(0, +)) of 24 came too late")
            for question in questions.flatMap(\.2) {
                let action = try await world.action(question)
                #expect(
                    action.execution == (action.authorization == .approved ? .cancelled : .none))
            }
            #expect(try await world.claim().isEmpty)
            try await isOver(world)
        }
    }

    @Test func `against enrolments, no key is active afterwards`() async throws {
        try await EnrolmentWorld.with { world in
            let made = try await customers(8, in: world)
            let outcomes = try await atOnce(made) { customer, _ in
                let key = try P256PrivateKey.generate()
                let offer = try await world.begin(for: customer)
                let token = try await world.token(offer.id, customer, key: key.publicKey.spki)
                async let recovered = world.recovered(customer)
                let outcome = try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    .scaToken(token))
                _ = try await recovered
                return outcome
            }
            #expect(
                outcomes.allSatisfy { $0.credential != nil || $0.refusal == .consumed })
            let late = outcomes.count { $0.credential == nil }
            print("recovery against enrolments: \(late) of 8 came too late")
            try await isOver(world)
        }
    }

    @Test func `against releases and deliveries, a held approval is cancelled or was tried`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let made = try await customers(10, in: world)
            var held: [Question] = []
            for (customer, phone) in made {
                let question = try await world.create(customer, try world.newPayee())
                #expect(try await world.approve(question, phone).action?.execution == .held)
                held.append(question)
            }
            try await world.test.endHolds()
            let housekeeping = Housekeeping(database: world.database, sealer: world.sealer)
            async let sweeps = atOnce(Array(0..<4)) { _ in
                try await housekeeping.settleDueActions()
            }
            async let claimed = atOnce(Array(0..<10)) { _ in try await world.claim(limit: 1) }
            _ = try await atOnce(made) { try await world.recovered($0.customer) }
            _ = try await sweeps
            let tried = Set(try await claimed.flatMap(\.self))
            print("recovery against releases: \(tried.count) of 10 were tried before")
            for question in held {
                let action = try await world.action(question)
                #expect(
                    action.execution == (tried.contains(question.action) ? .inProgress : .cancelled)
                )
            }
            try await isOver(world)
        }
    }
}
