import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Evidence is found` {
    private static let auditor = ID<Client>(rawValue: 0xA0D)

    private func query(
        limit: Int = 100, after: ID<Countersign.Evidence>? = nil, from: Instant? = nil,
        _ change: (inout EvidenceQuery) throws -> Void = { _ in }
    ) rethrows -> EvidenceQuery {
        var query = EvidenceQuery(
            actionID: nil, customerID: nil, credentialID: nil, kind: nil, from: from, to: nil,
            limit: limit, after: after)
        try change(&query)
        return query
    }

    private func kinds(
        _ erasure: ErasureWorld, _ query: EvidenceQuery
    ) async throws -> [String] {
        try await erasure.store.stored(query).found.map(\.record.kind)
    }

    @Test func `by the bank's own ID of an action`() async throws {
        try await ErasureWorld.with { world in
            try await world.settle()
            let found = try await world.store.stored(
                try query { $0.externalID = try ExternalID("canary-external-7") }
            ).found
            #expect(
                found.map(\.record.kind) == [
                    "action.created", "challenge.issued", "action.approved", "order.executed",
                ])
            #expect(found.allSatisfy { $0.record.action == world.executed })
            #expect(
                try await kinds(world, try query { $0.externalID = try ExternalID("another") })
                    == [])
        }
    }

    @Test func `by what came of it`() async throws {
        try await ErasureWorld.with { world in
            try await world.settle()
            #expect(
                try await kinds(world, query { $0.outcome = "executed" }) == [
                    "order.executed", "order.executed",
                ])
            #expect(try await kinds(world, query { $0.outcome = "exec" }) == [])
        }
    }

    @Test func `by the policy that decided, as version and as digest`() async throws {
        try await ErasureWorld.with { world in
            let version = try await world.world.bank.count(
                "SELECT max(version) FROM countersign.policy")
            let hex = try await world.world.bank.text(
                "SELECT encode(digest, 'hex') FROM countersign.policy ORDER BY version DESC LIMIT 1"
            )
            let digest = hex.flatMap { Hex.decode($0) }.flatMap(Digest.init)
            for query in [
                query { $0.policyVersion = version }, query { $0.policyDigest = digest },
            ] {
                let found = try await kinds(world, query)
                #expect(found.count { $0 == "action.approved" } == 3)
                #expect(found.allSatisfy { $0 == "action.approved" })
            }
            #expect(try await kinds(world, query { $0.policyVersion = 99 }) == [])
        }
    }

    @Test func `by whether its action was held, and by which rule`() async throws {
        try await ErasureWorld.with { world in
            try await world.settle()
            func actions(_ hold: HoldFilter) async throws -> Set<ID<Action>> {
                Set(
                    try await world.store.stored(query { $0.hold = hold }).found
                        .compactMap(\.record.action))
            }
            #expect(try await actions(.with) == [world.assisted])
            #expect(try await actions(.rule("assisted_hold")) == [world.assisted])
            #expect(try await actions(.rule("payee_cooling_off")) == [])
            let without = try await actions(.without)
            #expect(without.contains(world.executed) && !without.contains(world.assisted))
            #expect(without.count == 2)
        }
    }

    @Test func `by a subject whose name is gone`() async throws {
        try await ErasureWorld.with { world in
            try await world.settle()
            let subject = try #require(ID<Subject>(world.subject))
            let before = try await kinds(world, query { $0.subject = subject })
            _ = try await world.erase()
            #expect(try await kinds(world, query { $0.subject = subject }) == before)
            #expect(before.contains("order.executed"))
        }
    }

    @Test func `page by page, each once, whatever is recorded meanwhile`() async throws {
        try await ErasureWorld.with { world in
            let all = try await world.store.stored(query(limit: 1000)).found.map(\.record.id)
            var paged: [ID<Countersign.Evidence>] = []
            var after: ID<Countersign.Evidence>?
            repeat {
                let page = try await world.store.records(
                    query(limit: 7, after: after), reader: Self.auditor)
                paged += page.records.map(\.id)
                // One with an older ID than these may come still.
                #expect(page.records.allSatisfy { $0.at > page.completeUntil })
                after = page.next
            } while after != nil && paged.count < all.count
            #expect(Array(paged.prefix(all.count)) == all)
        }
    }

    @Test func `and all of it is taken away, which is evidence before and after`() async throws {
        try await ErasureWorld.with { world in
            let all = try await world.store.stored(query(limit: 1000)).found.map(\.record.id)
            let export = try await world.store.export(
                query(limit: 7) { _ in }, format: "ndjson", reader: Self.auditor)
            let people = world.world.people
            #expect(try await people.bodies(.evidenceRead).count == 1)
            var taken: [ID<Countersign.Evidence>] = []
            while let page = try await export.next() { taken += page.map(\.id) }
            // What the export itself records is not in it.
            #expect(taken == all)
            #expect(try await export.next() == nil)
            let told = try await people.bodies(.evidenceRead)
            #expect(told.map { $0["export"] } == ["ndjson", "ndjson"])
            #expect(told.map { $0["count"] } == [.null, .integer(Int64(all.count))])
        }
    }

    @Test func `and who was read about is told by a random name only`() async throws {
        try await ErasureWorld.with { world in
            let page = try await world.store.records(
                EvidenceQuery(
                    actionID: nil, customerID: world.world.customer.id, credentialID: nil,
                    kind: nil,
                    from: nil, to: nil, limit: 5, after: nil), reader: Self.auditor)
            #expect(page.records.count == 5)
            let told = try #require(try await world.world.people.bodies(.evidenceRead).first)
            #expect(told["filter"]?["customer"]?.text == world.subject)
            #expect(!String(decoding: told.encoded, as: UTF8.self).contains("c-2002"))
        }
    }
}
