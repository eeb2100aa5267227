import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `A transaction happens as a whole or not at all` {
    private static let table = "CREATE TABLE item (n int)"
    private static let insert = Statement.write("INSERT INTO item VALUES ($1)")

    @Test func `it is committed when its body returns`() async throws {
        try await withDatabase { test in
            try await test.sql(Self.table)
            let database = await test.open(as: nil)
            let result = try await database.run { connection throws(PostgresError) in
                try connection.transaction { connection throws(PostgresError) in
                    _ = try connection.execute(Self.insert, [.int(1)])
                    _ = try connection.execute(Self.insert, [.int(2)])
                    return "done"
                }
            }
            #expect(result == "done")
            #expect(try await test.count("item") == 2)
        }
    }

    @Test func `it is rolled back when its body throws, and the connection serves on`() async throws
    {
        try await withDatabase { test in
            try await test.sql(Self.table)
            let database = await test.open(as: nil, size: 1)
            let failure = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    try connection.transaction { connection throws(PostgresError) in
                        _ = try connection.execute(Self.insert, [.int(1)])
                        throw .raised(sqlState: "CS000")
                    }
                }
            }
            #expect(failure == .internalFailure(code: "CS000"))
            try await database.query(Self.insert, [.int(2)])
            #expect(try await test.count("item") == 1)
        }
    }

    @Test func `it cannot be committed after an error that its body swallowed`() async throws {
        try await withDatabase { test in
            try await test.sql(Self.table)
            let database = await test.open(as: nil, size: 1)
            let failure = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    try connection.transaction { connection throws(PostgresError) in
                        _ = try connection.execute(Self.insert, [.int(1)])
                        _ = thrown { () throws(PostgresError) in
                            try connection.run(script: "SELECT 1/0")
                        }
                    }
                }
            }
            #expect(failure == .internalFailure(code: "25P02"))
            #expect(try await test.count("item") == 0)
            try await database.query(Self.insert, [.int(2)])
        }
    }

    @Test func `a statement that ends it on its own is found out`() async throws {
        try await withDatabase { test in
            try await test.sql(Self.table)
            let database = await test.open(as: nil, size: 1)
            let failure = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    try connection.transaction { connection throws(PostgresError) in
                        _ = try connection.execute(Self.insert, [.int(1)])
                        try connection.run(script: "ROLLBACK")
                    }
                }
            }
            #expect(failure == .unavailable)
            #expect(try await test.count("item") == 0)
        }
    }

    /// The first result of such a write says that the row was inserted; the error comes with the commit.
    @Test func `a constraint that is checked at the commit is an error`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE parent (id int PRIMARY KEY)")
            try await test.sql(
                """
                CREATE TABLE child (id int CONSTRAINT child_parent REFERENCES parent
                    DEFERRABLE INITIALLY DEFERRED)
                """)
            let expected = PostgresError.constraintViolated(
                name: "child_parent", sqlState: "23503")
            let database = await test.open(as: nil, size: 1)
            let insert = Statement.write("INSERT INTO child VALUES (1) RETURNING id")
            #expect(try await database.error(insert) == expected)
            let inTransaction = try await database.run { connection throws(PostgresError) in
                thrown { () throws(PostgresError) in
                    try connection.transaction { connection throws(PostgresError) in
                        guard try connection.execute(insert).count == 1 else {
                            throw .malformedColumn("id")
                        }
                    }
                }
            }
            #expect(inTransaction == expected)
            #expect(try await test.count("child") == 0)
        }
    }

    @Test func `a script is one transaction`() async throws {
        try await withDatabase { test in
            try await test.sql(Self.table)
            let database = await test.open(as: nil, size: 1)
            let result = try await database.run { connection throws(PostgresError) in
                thrown { () throws(PostgresError) in
                    try connection.run(
                        script: "INSERT INTO item VALUES (1); SELECT 1/0; SELECT 2")
                }
            }
            #expect(result == .other(sqlState: "22012"))
            #expect(try await test.count("item") == 0)
            try await database.run { connection throws(PostgresError) in
                try connection.run(script: "INSERT INTO item VALUES (1); SELECT 1, 2; SELECT ''")
            }
            #expect(try await test.count("item") == 1)
        }
    }

    @Test func `copying is not understood, and does not hang`() async throws {
        try await withDatabase { test in
            let database = await test.open(as: nil, size: 1)
            for script in ["COPY pg_class TO STDOUT", "COPY pg_class FROM STDIN"] {
                let result = try await database.run { connection throws(PostgresError) in
                    thrown { () throws(PostgresError) in try connection.run(script: script) }
                }
                #expect(result == .outcomeUnknown)
            }
            try await database.query(.ping)
        }
    }
}
