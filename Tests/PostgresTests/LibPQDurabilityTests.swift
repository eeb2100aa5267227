import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Durability is asked for before anything is answered` {
    private static let strong = Durability(
        synchronousCommit: "on", fsync: true, fullPageWrites: true, hasStandbys: true)

    @Test(arguments: ["off", "local", "remote_write", "something new"])
    func `production refuses a commit that does not wait`(value: String) throws {
        let weak = Durability(
            synchronousCommit: value, fsync: true, fullPageWrites: true, hasStandbys: true)
        #expect(throws: DurabilityFailure.weak(setting: "synchronous_commit", value: value)) {
            try weak.check(.production)
        }
        try weak.check(.development)
    }

    @Test func `production takes on and remote_apply`() throws {
        try Self.strong.check(.production)
        try Durability(
            synchronousCommit: "remote_apply", fsync: true, fullPageWrites: true,
            hasStandbys: true
        ).check(.production)
    }

    @Test func `only development does without a disk`() throws {
        for (fsync, pages, setting) in [
            (false, true, "fsync"), (true, false, "full_page_writes"),
        ] {
            let weak = Durability(
                synchronousCommit: "on", fsync: fsync, fullPageWrites: pages, hasStandbys: true)
            #expect(throws: DurabilityFailure.weak(setting: setting, value: "off")) {
                try weak.check(.production)
            }
            try weak.check(.development)
        }
    }

    @Test func `the settings are those of the service's own session`() async throws {
        try await withDatabase { test in
            try await test.sql(
                """
                ALTER ROLE countersign_service IN DATABASE \(test.name)
                    SET synchronous_commit = remote_write
                """)
            let durability = try await test.open().verifyDurability(.development)
            #expect(durability.synchronousCommit == "remote_write")
            #expect(!durability.hasStandbys)
        }
    }

    @Test func `a database that is not there is reported`() async throws {
        let nowhere = try ConnectionInfo("host=/nonexistent port=1")
        let database = Database(DatabaseOptions(connection: nowhere, size: 1))
        await #expect(throws: DurabilityFailure.notRead(.unavailable)) {
            try await database.verifyDurability(.development)
        }
        await database.close()
    }
}
