import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Errors are told by code and constraint name` {
    @Test func `a constraint by its name`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int CONSTRAINT item_small CHECK (n < 10))")
            try await test.sql("CREATE UNIQUE INDEX item_once ON item (n)")
            let database = await test.open(as: nil)
            let insert = Statement.write("INSERT INTO item VALUES ($1)")
            try await database.query(insert, [.int(1)])
            #expect(
                try await database.error(insert, [.int(1)])
                    == .constraintViolated(name: "item_once", sqlState: "23505"))
            #expect(
                try await database.error(insert, [.int(10)])
                    == .constraintViolated(name: "item_small", sqlState: "23514"))
            #expect(try await test.count("item") == 1)
        }
    }

    @Test(arguments: [
        ("40001", PostgresError.serialization(sqlState: "40001")),
        ("40P01", .serialization(sqlState: "40P01")), ("55P03", .lockTimeout),
        ("57014", .statementTimeout), ("25006", .readOnly), ("CS007", .raised(sqlState: "CS007")),
        ("53300", .unavailable), ("53100", .unavailable), ("57P01", .unavailable),
        ("57P03", .unavailable), ("08006", .unavailable), ("40003", .outcomeUnknown),
        ("22012", .other(sqlState: "22012")), ("XX001", .other(sqlState: "XX001")),
    ])
    func `and everything else by its SQLSTATE`(code: String, expected: PostgresError) async throws {
        try await withDatabase { test in
            let database = await test.open(as: nil, size: 1)
            let raise = Statement.write("DO $$ BEGIN RAISE 'no' USING ERRCODE = '\(code)'; END $$")
            let error = try await database.error(raise)
            #expect(error == expected)
        }
    }

    @Test func `a lock that is not had in time, and a statement that takes too long`() async throws
    {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            try await database.query(.read("SET lock_timeout = '50ms'"))
            #expect(try await database.error(.blockedRead) == .lockTimeout)
            try await database.query(.read("SET lock_timeout = 0"))
            try await database.query(.read("SET statement_timeout = '50ms'"))
            #expect(try await database.error(.blockedRead) == .statementTimeout)
            try await blocker.release()
        }
    }

    @Test(arguments: [
        (PostgresError.outcomeUnknown, StoreFailure.outcomeUnknown),
        (.lockTimeout, .unavailable), (.statementTimeout, .unavailable),
        (.serialization(sqlState: "40001"), .unavailable), (.connectionLost, .unavailable),
        (.unavailable, .unavailable), (.unreachable(reason: "no"), .unavailable),
        (.readOnly, .unavailable), (.raised(sqlState: "CS001"), .internalFailure(code: "CS001")),
        (.other(sqlState: "42601"), .internalFailure(code: "42601")),
        (.malformedColumn("id"), .internalFailure(code: "column:id")),
        (
            .constraintViolated(name: "item_once", sqlState: "23505"),
            .internalFailure(code: "23505:item_once")
        ),
    ])
    func `what each means to the domain`(error: PostgresError, expected: StoreFailure) {
        #expect(StoreFailure(error) == expected)
    }

    @Test func `a connection string is never printed`() throws {
        let info = try ConnectionInfo("host=db user=u password='se cr\\'et' dbname=d")
        #expect("\(info)" == "<connection>")
        #expect(String(reflecting: info) == "<connection>")
        var dump = ""
        Swift.dump(DatabaseOptions(connection: info, size: 1), to: &dump)
        #expect(!dump.contains("se cr'et"))
        let again = try ConnectionInfo(info.replacing(["dbname": "e\\' f"]).text)
        #expect(again.text.contains("password='se cr\\'et'"))
        #expect(again.text.contains("dbname='e\\\\\\' f'"))
    }

    @Test(arguments: ["host=x nonsense=1", "postgres://[", "host='x"])
    func `a connection string that libpq cannot read is refused`(text: String) {
        #expect(throws: PostgresError.other(sqlState: "22023")) { try ConnectionInfo(text) }
    }

    @Test func `a session reads times in UTC whatever its role prefers`() async throws {
        try await withDatabase { test in
            try await test.sql(
                """
                ALTER ROLE countersign_auditor IN DATABASE \(test.name)
                    SET TimeZone = 'Asia/Tokyo'
                """)
            try await test.sql(
                """
                ALTER ROLE countersign_auditor IN DATABASE \(test.name)
                    SET DateStyle = 'SQL, DMY'
                """)
            let database = await test.open(as: .auditor, size: 1)
            let rows = try await database.query(
                .read("SELECT '2026-03-29T01:00:00Z'::timestamptz AS at"))
            let at: Instant = try #require(rows.first)["at"]
            #expect(at.text == "2026-03-29T01:00:00Z")
        }
    }
}

extension Database {
    /// The error of one statement, as the connection tells it.
    func error(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) async throws(StoreFailure) -> PostgresError? {
        try await run { connection throws(PostgresError) in
            do throws(PostgresError) {
                _ = try connection.execute(statement, parameters)
                return nil
            } catch {
                return error
            }
        }
    }
}
