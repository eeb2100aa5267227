import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `While the standby is gone` {
    private static let insert = Statement.write("INSERT INTO item VALUES ($1)")

    @Test func `no write is answered with success, reads go on, and all is well when it is back`()
        async throws
    {
        try await PrivateServer.with { server in
            // The administrator does not wait for standbys.
            let admin = Database(DatabaseOptions(connection: server.connection, size: 1))
            try await admin.query(.read("SET synchronous_commit = local"))
            try await admin.query(.write("CREATE TABLE item (n int)"))
            var options = DatabaseOptions(connection: server.connection, size: 2)
            options.statementDeadline = .seconds(1)
            let database = Database(options)
            try await database.query(Self.insert, [.int(0)])
            try await setStandbys("missing", of: server, admin, seenBy: database)

            let late = try await database.error(Self.insert, [.int(1)])
            #expect(late == .outcomeUnknown)
            let inTransaction = try await database.commitError(2)
            #expect(inTransaction == .outcomeUnknown)
            try await eventually("both are set aside") { database.statistics.quarantined == 2 }
            #expect(try await database.error(Self.insert, [.int(3)]) == .unavailable)
            for _ in 0..<10 { try await database.query(.ping) }
            #expect(try await admin.waitingForStandby().count == 2)

            try await setStandbys("", of: server, admin, seenBy: database)
            try await eventually("the late answers came") { database.statistics.quarantined == 0 }
            try await database.query(Self.insert, [.int(4)])
            let rows = try await database.query(.read("SELECT n FROM item ORDER BY n"))
            #expect(try rows.map { try $0["n"] as Int } == [0, 1, 2, 4])
            await database.close()
            await admin.close()
        }
    }

    @Test(arguments: ["pg_cancel_backend", "pg_terminate_backend"])
    func `a commit that somebody stops waiting for is unknown, although it looks like success`(
        function: String
    ) async throws {
        try await PrivateServer.with { server in
            let admin = Database(DatabaseOptions(connection: server.connection, size: 1))
            try await admin.query(.read("SET synchronous_commit = local"))
            try await admin.query(.write("CREATE TABLE item (n int)"))
            var options = DatabaseOptions(connection: server.connection, size: 1)
            options.statementDeadline = .seconds(600)
            let database = Database(options)
            try await setStandbys("missing", of: server, admin, seenBy: database)

            async let alone = database.error(Self.insert, [.int(1)])
            try await admin.stopWaiting(function)
            #expect(try await alone == .outcomeUnknown)
            async let inTransaction = database.commitError(2)
            try await admin.stopWaiting(function)
            #expect(try await inTransaction == .outcomeUnknown)
            // What makes it treacherous: the rows are there, but no standby has them.
            let rows = try await admin.query(.read("SELECT count(*) AS n FROM item"))
            #expect(try #require(rows.first)["n"] == 2)
            try await database.query(.ping)

            try await setStandbys("", of: server, admin, seenBy: database)
            await database.close()
            await admin.close()
        }
    }

    /// Changes the setting and waits until sessions of `database` see it.
    private func setStandbys(
        _ names: String, of server: PrivateServer, _ admin: Database, seenBy database: Database
    ) async throws {
        try await admin.query(.write("ALTER SYSTEM SET synchronous_standby_names = '\(names)'"))
        try await admin.query(.read("SELECT pg_reload_conf()"))
        let setting = Statement.read("SELECT current_setting('synchronous_standby_names') AS names")
        try await eventually("sessions have read the setting") {
            let rows = try await database.query(setting)
            return try #require(rows.first)["names"] == names
        }
        if !names.isEmpty { try await commitsWait(server, admin) }
    }

    /// Commits wait only once the checkpointer has read the setting too: tries until one does.
    private func commitsWait(_ server: PrivateServer, _ admin: Database) async throws {
        var options = DatabaseOptions(connection: server.connection, size: 1)
        options.statementDeadline = .milliseconds(300)
        let probe = Database(options)
        try await eventually("commits wait for the standby") {
            try await probe.error(.write("SELECT pg_logical_emit_message(true, 'probe', '')"))
                == .outcomeUnknown
        }
        await probe.close()
        for pid in try await admin.waitingForStandby() {
            try await admin.query(.read("SELECT pg_terminate_backend(\(pid))"))
        }
        try await eventually("nothing waits any more") {
            try await admin.waitingForStandby().isEmpty
        }
    }
}

@Suite struct `A server that is not there` {
    @Test func `is connected to when it comes, and again after it was killed`() async throws {
        try await PrivateServer.with { server in
            try await server.kill()
            var options = DatabaseOptions(connection: server.connection, size: 2)
            options.reconnectPause = .milliseconds(20)
            options.reconnectPauseMax = .milliseconds(50)
            let database = Database(options)
            for _ in 0..<3 {
                let down = await failure { () throws(StoreFailure) in
                    try await database.query(.ping)
                }
                #expect(down == .unavailable)
            }
            #expect(database.statistics.connected == 0)
            #expect(database.statistics.lastConnectFailure != nil)

            try await server.start()
            try await eventually("it is connected to") {
                await failure { () throws(StoreFailure) in try await database.query(.ping) } == nil
            }
            #expect(database.statistics.lastConnectFailure == nil)

            try await server.kill()
            let down = await failure { () throws(StoreFailure) in
                try await database.query(.write("CREATE TABLE item ()"))
            }
            #expect(down == .unavailable)
            try await server.start()
            try await eventually("it is connected to again") {
                await failure { () throws(StoreFailure) in try await database.query(.ping) } == nil
            }
            await database.close()
        }
    }
}

extension Database {
    /// What comes of inserting in a transaction of its own.
    fileprivate func commitError(_ n: Int) async throws(StoreFailure) -> PostgresError? {
        try await run { connection throws(PostgresError) in
            thrown { () throws(PostgresError) in
                try connection.transaction { connection throws(PostgresError) in
                    _ = try connection.execute(
                        .write("INSERT INTO item VALUES ($1)"), [.int(n)])
                }
            }
        }
    }

    /// The processes that wait for a standby.
    fileprivate func waitingForStandby() async throws -> [Int] {
        try await query(.read("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
            .map { try $0["pid"] }
    }

    /// Waits for a commit that waits, and stops it with a function of the server.
    fileprivate func stopWaiting(_ function: String) async throws {
        try await eventually("a commit waits for the standby") {
            try await waitingForStandby().count == 1
        }
        let pid = try await waitingForStandby()[0]
        try await query(.read("SELECT \(function)(\(pid))"))
        try await eventually("it waits no more") { try await waitingForStandby() != [pid] }
    }
}
