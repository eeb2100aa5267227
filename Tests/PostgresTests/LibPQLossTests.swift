import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `A connection that is lost` {
    @Test(arguments: [Statement.Kind.read, .write])
    func `while it is idle is replaced without anybody noticing`(kind: Statement.Kind) async throws
    {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let database = await test.open(as: nil, size: 1)
            let insert = Statement(
                "insert", kind, Bytes("INSERT INTO item VALUES (1) RETURNING n".utf8))
            try await database.query(insert)
            let first = try await database.backend()
            try await test.sql("SELECT pg_terminate_backend(\(first))")
            try await test.sessionIsGone(first)
            // Prepared again in the new session, too.
            #expect(try await database.query(insert).count == 1)
            #expect(try await database.backend() != first)
            #expect(try await test.count("item") == 2)
        }
    }

    @Test func `in the middle of a read is replaced, and the read made again`() async throws {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            async let rows = database.query(.blockedRead)
            let pid = try await blocker.waiters(1)[0]
            try await test.sql("SELECT pg_terminate_backend(\(pid))")
            try await eventually("another session makes the read") {
                try await blocker.waiters(1) != [pid]
            }
            try await blocker.release()
            #expect(try await rows.count == 1)
        }
    }

    @Test func `twice in the middle of a read is given up`() async throws {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            async let result = failure { () throws(StoreFailure) in
                try await database.query(.blockedRead)
            }
            let pid = try await blocker.waiters(1)[0]
            try await test.sql("SELECT pg_terminate_backend(\(pid))")
            try await eventually("another session makes the read") {
                try await blocker.waiters(1) != [pid]
            }
            let second = try await blocker.waiters(1)[0]
            try await test.sql("SELECT pg_terminate_backend(\(second))")
            #expect(await result == .unavailable)
            try await blocker.release()
        }
    }

    @Test func `in the middle of a write leaves its outcome unknown, and is not made again`()
        async throws
    {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            async let result = failure { () throws(StoreFailure) in
                try await database.query(.blockedWrite)
            }
            let pid = try await blocker.waiters(1)[0]
            try await test.sql("SELECT pg_terminate_backend(\(pid))")
            #expect(await result == .outcomeUnknown)
            try await blocker.release()
            try await database.query(.ping)
            #expect(try await test.count("item") == 0)
        }
    }

    @Test func `before the commit of a transaction: nothing was changed, so it is made again`()
        async throws
    {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (pid int)")
            let database = await test.open(as: nil, size: 1)
            let first = try await database.backend()
            try await database.run { connection throws(PostgresError) in
                try connection.transaction { connection throws(PostgresError) in
                    _ = try connection.execute(.write("INSERT INTO item SELECT pg_backend_pid()"))
                    // Only the first session ends itself.
                    _ = try connection.execute(
                        .read("SELECT pg_terminate_backend($1) WHERE pg_backend_pid() = $1"),
                        [.int(first)])
                }
            }
            #expect(try await test.count("item") == 1)
        }
    }

    @Test func `after one commit of a body: the body is not run again`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let database = await test.open(as: nil, size: 1)
            let result = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    _ = try connection.execute(.write("INSERT INTO item VALUES (1)"))
                    _ = try connection.execute(
                        .read("SELECT pg_terminate_backend(pg_backend_pid())"))
                }
            }
            #expect(result == .unavailable)
            #expect(try await test.count("item") == 1)
        }
    }

    /// Here the server ends the session while it commits: the first result has already said success.
    @Test func `at the commit of a transaction leaves its outcome unknown`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            try await test.sql(
                """
                CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$
                """)
            try await test.sql(
                """
                CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION leave()
                """)
            let database = await test.open(as: nil, size: 1)
            let insert = Statement.write("INSERT INTO item VALUES (1) RETURNING n")
            let alone = await failure { () throws(StoreFailure) in
                try await database.query(insert)
            }
            #expect(alone == .outcomeUnknown)
            let inTransaction = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    try connection.transaction { connection throws(PostgresError) in
                        _ = try connection.execute(insert)
                    }
                }
            }
            #expect(inTransaction == .outcomeUnknown)
        }
    }

    @Test func `a write that an operator cancels is refused, and nothing was changed`() async throws
    {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            async let result = database.error(.blockedWrite)
            let pid = try await blocker.waiters(1)[0]
            try await test.sql("SELECT pg_cancel_backend(\(pid))")
            #expect(try await result == .statementTimeout)
            try await blocker.release()
            #expect(try await test.count("item") == 0)
        }
    }

    @Test func `a warning of a commit that was not waited for leaves its outcome unknown`()
        async throws
    {
        try await withDatabase { test in
            let database = await test.open(as: nil, size: 1)
            for code in ["01000", "57P01"] {
                let warn = Statement.write(
                    "DO $$ BEGIN RAISE WARNING 'w' USING ERRCODE = '\(code)'; END $$")
                let error = try await database.error(warn)
                #expect(error == .outcomeUnknown)
            }
            for other in [
                "NOTICE 'n' USING ERRCODE = '01000'", "WARNING 'w' USING ERRCODE = '01P01'",
            ] {
                let harmless = Statement.write("DO $$ BEGIN RAISE \(other); END $$")
                let error = try await database.error(harmless)
                #expect(error == nil)
            }
        }
    }

    @Test func `a session whose plan became invalid is replaced`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let database = await test.open(as: nil, size: 1)
            let all = Statement.read("SELECT * FROM item")
            try await database.query(all)
            try await test.sql("ALTER TABLE item ADD m int")
            try await test.sql("INSERT INTO item VALUES (1, 2)")
            #expect(try await database.query(all).count == 1)
            let insert = Statement.write("INSERT INTO item VALUES (3, 4) RETURNING *")
            try await database.query(insert)
            try await test.sql("ALTER TABLE item ADD o int")
            try await database.query(insert)
            #expect(try await test.count("item") == 3)
        }
    }

    @Test func `a server that takes no writes any more is left for its successor`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let database = await test.open(as: nil, size: 1)
            try await database.query(.read("SET default_transaction_read_only = on"))
            try await database.query(.write("INSERT INTO item VALUES (1)"))
            #expect(try await test.count("item") == 1)
        }
    }
}

extension Database {
    /// The server's process of the pool's only connection.
    func backend() async throws -> Int {
        let rows = try await query(.read("SELECT pg_backend_pid() AS pid"))
        return try #require(rows.first)["pid"]
    }
}

extension TestDatabase {
    /// Waits until the server has ended a session.
    func sessionIsGone(_ pid: Int) async throws {
        try await eventually("session \(pid) is gone") {
            try await sql("SELECT FROM pg_stat_activity WHERE pid = \(pid)").isEmpty
        }
    }
}
