import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// What is told of whoever reads evidence.
@Suite struct `A look at evidence` {
    private static let auditor = ID<Client>(rawValue: 0xA0D)

    private func query(_ change: (inout EvidenceQuery) throws -> Void = { _ in }) rethrows
        -> EvidenceQuery
    {
        var query = EvidenceQuery(
            actionID: nil, customerID: nil, credentialID: nil, kind: nil, from: nil, to: nil,
            limit: 100, after: nil)
        try change(&query)
        return query
    }

    @Test func `names an external ID by its actions, since it outlives the customer`() async throws
    {
        try await ErasureWorld.with { world in
            _ = try await world.store.records(
                try query { $0.externalID = try ExternalID("canary-external-7") },
                reader: Self.auditor)
            let told = try #require(try await world.world.people.bodies(.evidenceRead).last)
            #expect(told["filter"]?["external_id_of"] == [.string(world.executed.text)])
            let text = String(decoding: told.encoded, as: UTF8.self)
            #expect(!text.contains("canary-external-7"))
        }
    }

    @Test func `is the service's own, and nobody else's body`() async throws {
        try await ErasureWorld.with { world in
            let test = world.world.bank.test
            let json = try await TestReadings(of: LogWorld.origin).json(1, in: test)
            let auditor = await test.open(as: .auditor, size: 1)
            let tied = json.replacing(
                "\"body_subject_id\":null", with: "\"body_subject_id\":\"\(world.subject)\"")
            try #require(tied != json)
            func record(_ json: String) async throws(StoreFailure) {
                try await auditor.run { connection throws(PostgresError) in
                    try connection.run(script: "SELECT countersign.record_event('\(json)')")
                }
            }
            await #expect(throws: StoreFailure.internalFailure(code: "CS007")) {
                try await record(tied)
            }
            try await record(json)
        }
    }

    @Test func `that takes all away says until when nothing is missing`() async throws {
        try await ErasureWorld.with { world in
            let now = try #require(
                try await world.world.bank.test.sql("SELECT clock_timestamp() AS now").first)
            let before: Instant = try now["now"]
            let all = try await world.store.export(
                query(), format: "ndjson", reader: Self.auditor)
            // An ID may be five minutes old when its record is written, by a statement of ten.
            #expect(all.completeUntil < Instant(milliseconds: before.milliseconds - 900_000))
            #expect(all.completeUntil > Instant(milliseconds: before.milliseconds - 960_000))
            let old = Instant(milliseconds: before.milliseconds - 86_400_000)
            let part = try await world.store.export(
                query { $0.to = old }, format: "ndjson", reader: Self.auditor)
            #expect(part.completeUntil == old)
        }
    }
}
