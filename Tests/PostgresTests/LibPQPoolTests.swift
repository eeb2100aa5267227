import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `A pool of connections` {
    @Test func `does a thousand jobs over four connections, each exactly once`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let database = await test.open(as: nil, size: 4)
            let insert = Statement.write("INSERT INTO item VALUES ($1) RETURNING n")
            let answers = await withTaskGroup(of: Int?.self) { group in
                for n in 0..<1000 {
                    group.addTask {
                        do {
                            let rows = try await database.query(insert, [.int(n)])
                            return try rows.first?["n"]
                        } catch {
                            Issue.record("job \(n): \(error)")
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.compactMap(\.self).sorted() == Array(0..<1000))
            #expect(try await test.count("item") == 1000)
            let distinct = try await test.sql("SELECT count(DISTINCT n) AS n FROM item")
            #expect(try #require(distinct.first)["n"] == 1000)
            let statistics = database.statistics
            #expect((1...4).contains(statistics.connected))
            #expect(statistics.waiting == 0)
        }
    }

    @Test func `opens no more connections than it needs`() async throws {
        try await withDatabase { test in
            let database = await test.open(size: 4)
            #expect(database.statistics.connected == 0)
            for _ in 0..<20 { try await database.query(.ping) }
            // Two: a task may come back before the worker that answered it is idle again.
            #expect((1...2).contains(database.statistics.connected))
            #expect(database.statistics.size == 4)
            #expect(database.statistics.lastConnectFailure == nil)
        }
    }

    @Test func `uses its connections side by side`() async throws {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 3)
            async let first = database.query(.blockedRead)
            async let second = database.query(.blockedRead)
            async let third = database.query(.blockedRead)
            try await blocker.waiters(3)
            #expect(database.statistics.busy == 3)
            #expect(database.statistics.connected == 3)
            try await blocker.release()
            _ = try await (first, second, third)
        }
    }

    @Test func `refuses at once what exceeds its queue, and does the rest`() async throws {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1) { $0.waitingMax = 2 }
            async let busy = database.query(.blockedRead)
            try await blocker.waiters(1)
            async let first = database.query(.ping)
            async let second = database.query(.ping)
            try await eventually("two jobs wait") { database.statistics.waiting == 2 }
            let third = await failure { () throws(StoreFailure) in
                try await database.query(.ping)
            }
            #expect(third == .unavailable)
            try await blocker.release()
            _ = try await (busy, first, second)
        }
    }

    @Test func `lets no job wait longer than it may, even while every connection is busy`()
        async throws
    {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1) {
                $0.waitingDeadline = .seconds(2)
            }
            async let busy = database.query(.blockedRead)
            try await blocker.waiters(1)
            let late = await failure { () throws(StoreFailure) in
                try await database.query(.ping)
            }
            #expect(late == .unavailable)
            #expect(database.statistics.busy == 1)
            try await blocker.release()
            _ = try await busy
        }
    }

    @Test func `finishes what is queued before it closes, and takes no more`() async throws {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            async let busy = database.query(.blockedRead)
            try await blocker.waiters(1)
            async let queued = database.query(.ping)
            try await eventually("a job waits") { database.statistics.waiting == 1 }
            async let closed: Void = database.close()
            // Time for closing to begin; the test holds without it too, but shows less.
            try await Task.sleep(for: .milliseconds(50))
            try await blocker.release()
            #expect(try await busy.count == 1)
            #expect(try await queued.count == 1)
            await closed
            let late = await failure { () throws(StoreFailure) in
                try await database.query(.ping)
            }
            #expect(late == .unavailable)
            #expect(database.statistics.connected == 0)
            // Closing again is fine.
            await database.close()
        }
    }

    @Test func `finishes for a cancelled task too`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1)
            let task = Task { try await database.query(.blockedWrite) }
            try await blocker.waiters(1)
            task.cancel()
            try await blocker.release()
            #expect(try await task.value.isEmpty)
            #expect(try await test.count("item") == 1)
        }
    }

    @Test func `says why it cannot connect, and refuses without waiting`() async throws {
        let nowhere = try ConnectionInfo("host=/nonexistent port=1 user=u password=secret")
        var options = DatabaseOptions(connection: nowhere, size: 2)
        options.reconnectPause = .seconds(3600)
        options.reconnectPauseMax = .seconds(3600)
        options.waitingDeadline = .seconds(3600)
        let database = Database(options)
        // The second would wait for an hour if it were queued.
        for _ in 0..<2 {
            let result = await failure { () throws(StoreFailure) in
                try await database.query(.ping)
            }
            #expect(result == .unavailable)
        }
        let reason = try #require(database.statistics.lastConnectFailure)
        #expect(reason.contains("/nonexistent"))
        #expect(!reason.contains("secret"))
        await database.close()
    }
}

@Suite struct `A statement that is not answered in time` {
    @Test func `is unavailable when it reads; its connection is watched until the answer comes`()
        async throws
    {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1) {
                $0.statementDeadline = .seconds(1)
            }
            #expect(try await database.error(.blockedRead) == .unavailable)
            try await eventually("the connection is set aside") {
                database.statistics.quarantined == 1
            }
            // Not cancelled: its server process goes on.
            try await blocker.waiters(1)
            try await database.query(.ping)
            try await blocker.release()
            try await eventually("the late answer came") { database.statistics.quarantined == 0 }
        }
    }

    @Test func `is unknown when it writes, and may have taken place`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1) {
                $0.statementDeadline = .seconds(1)
            }
            #expect(try await database.error(.blockedWrite) == .outcomeUnknown)
            try await blocker.release()
            try await eventually("the write takes place after all") {
                try await test.count("item") == 1
            }
        }
    }

    @Test func `changed nothing when its transaction was still open`() async throws {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 1) {
                $0.statementDeadline = .seconds(1)
            }
            let result = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    try connection.transaction { connection throws(PostgresError) in
                        _ = try connection.execute(.blockedWrite)
                    }
                }
            }
            #expect(result == .unavailable)
            try await blocker.release()
            try await eventually("the late answer came") { database.statistics.quarantined == 0 }
            #expect(try await test.count("item") == 0)
        }
    }

    @Test func `stops further writes, not reads, while as many hang as there are connections`()
        async throws
    {
        try await withDatabase { test in
            try await test.sql("CREATE TABLE item (n int)")
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 2) {
                $0.statementDeadline = .seconds(1)
            }
            for _ in 0..<2 {
                #expect(try await database.error(.blockedWrite) == .outcomeUnknown)
            }
            let insert = Statement.write("INSERT INTO item VALUES (2)")
            try await eventually("both are set aside") { database.statistics.quarantined == 2 }
            #expect(try await database.error(insert) == .unavailable)
            let inTransaction = await failure { () throws(StoreFailure) in
                try await database.run { connection throws(PostgresError) in
                    try connection.transaction { _ throws(PostgresError) in }
                }
            }
            #expect(inTransaction == .unavailable)
            for _ in 0..<10 { try await database.query(.ping) }
            // Nothing was sent of what was refused: the server bears two sessions and one that reads.
            try await blocker.waiters(2)
            try await blocker.release()
            try await eventually("the late answers came") { database.statistics.quarantined == 0 }
            #expect(try await database.error(insert) == nil)
            #expect(try await test.count("item") == 3)
        }
    }

    @Test func `holds no more of the server's sessions than twice the pool's size`() async throws {
        try await withDatabase { test in
            let blocker = try await Blocker(test)
            let database = await test.open(as: nil, size: 2) {
                $0.statementDeadline = .milliseconds(500)
                $0.waitingDeadline = .milliseconds(500)
            }
            let read = { @Sendable () async -> StoreFailure? in
                await failure { () throws(StoreFailure) in
                    try await database.query(.blockedRead)
                }
            }
            try await eventually("four are set aside") {
                #expect(await read() == .unavailable)
                return database.statistics.quarantined == 4
            }
            for _ in 0..<3 { #expect(await read() == .unavailable) }
            #expect(try await blocker.waiters(4).count == 4)
            #expect(database.statistics.quarantined == 4)
            try await blocker.release()
            try await eventually("the late answers came") { database.statistics.quarantined == 0 }
            try await database.query(.ping)
        }
    }
}
