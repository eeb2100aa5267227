import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Databases of tests` {
    @Test func `are their own, many at once`() async throws {
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await withDatabase { test in
                        try await test.sql("CREATE TABLE mine (n int)")
                        return test.name
                    }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(names.count == 8)
    }

    @Test func `are dropped, even after a test that failed with a pool open`() async throws {
        struct Failed: Error {}
        nonisolated(unsafe) var name = ""
        await #expect(throws: Failed.self) {
            try await withDatabase { test in
                unsafe name = test.name
                try await test.open().query(.ping)
                throw Failed()
            }
        }
        let dropped = unsafe name
        try await withDatabase { test in
            let rows = try await test.sql(
                "SELECT FROM pg_database WHERE datname = '\(dropped)'")
            #expect(rows.isEmpty)
        }
    }

    @Test(arguments: [TestDatabase.Role.service, .op, .auditor])
    func `let every role of the service in`(role: TestDatabase.Role) async throws {
        try await withDatabase { test in
            let database = await test.open(as: role)
            let rows = try await database.query(.read("SELECT current_user AS name"))
            #expect(try #require(rows.first)["name"] == role.rawValue)
        }
    }
}
