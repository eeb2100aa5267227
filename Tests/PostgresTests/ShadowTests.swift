import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `A shadow` {
    @Test func `finds on decisions as they come what a dry run finds afterwards`() async throws {
        try await ShadowWorld.with { world in
            try await world.pay("40.00")
            let draft = try await world.draft()
            let shadow = try await world.shadow(draft)
            try await world.pay("10.00", "20.00", "60000.00")
            try await world.evaluate()
            let found = try await world.report(shadow)
            #expect(found["decided"] == .integer(3) && found["changed"] == .integer(1))
            #expect(found["complete"] == .bool(false))
            let simulate = SimulatePolicy(
                history: PostgresPolicyHistory(database: world.bank.database), sha256: .openSSL)
            let period = shadow.startedAt..<(shadow.startedAt + Seconds(3600))
            let dry = try await simulate(
                try PolicyRules(document: draft), over: period, changesMax: 1000)
            for name in ["decided", "changed", "outcomes", "rules", "amount_bands", "changes"] {
                #expect(found[name] == dry[name], "\(name)")
            }
            // A second look finds nothing new.
            try await world.evaluate()
            #expect(try await world.report(shadow)["decided"] == .integer(3))
            #expect(world.reported.withLock { $0.count } == 3)
        }
    }

    @Test func `has no effect on any decision`() async throws {
        let amounts = ["10.00", "20.00", "49000.00", "60000.00", "49000.00", "2000.00", "15.00"]
        func play(_ begins: Bool) async throws -> [String] {
            try await ShadowWorld.with { world in
                if begins {
                    for limit in ["0.00", "15.00"] {
                        let draft = try await world.draft(
                            "currencies.EUR.single_max", .string(limit))
                        _ = try await world.shadow(draft)
                    }
                }
                var told: [String] = []
                for amount in amounts {
                    let outcome = try await world.pay(amount)[0]
                    told.append(outcome.refusal.map { "\($0)" } ?? "approved")
                    try await world.evaluate()
                }
                #expect(world.reported.withLock { $0.isEmpty } == !begins)
                return told + [String(try await world.bank.usedAmounts())]
            }
        }
        let without = try await play(false)
        #expect(without.filter { $0 == "approved" }.count == 5)
        #expect(try await play(true) == without)
    }

    /// What a transaction wrote first and committed last is found, however far the others are by
    /// then.
    @Test func `skips no decision that is committed late`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            var later = shadow.startedAt
            try await world.holdingOpen(world.copyDecision("clock_timestamp(), inputs")) {
                try await world.hurry()
                later = try await world.time()
                for _ in 0..<5 {
                    try await Task.sleep(for: .milliseconds(5))
                    try await world.evaluate()
                }
                #expect(try await world.report(shadow)["decided"] == .integer(1))
                #expect(try await world.doneUntil(shadow) < later)
            }
            try await world.evaluate()
            #expect(try await world.report(shadow)["decided"] == .integer(2))
            try await world.evaluate { try await world.doneUntil(shadow) > later }
            #expect(try await world.report(shadow)["decided"] == .integer(2))
        }
    }

    @Test func `decides each decision once, whoever decides at the same time`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            let count = 24
            let all = "SELECT count(*) FROM countersign.policy_decision"
            async let paid = inParallel(count) { index in
                try await world.bank.approve(
                    Fixtures.transfer(index.isMultiple(of: 2) ? "10.00" : "20.00"), world.customer)
            }
            // Until the last one is there, and then once more.
            _ = try await inParallel(4) { _ in
                var hasAll = false
                repeat {
                    hasAll = try await world.bank.count(all) == count
                    try await world.evaluate()
                } while !hasAll
            }
            let decided = try await paid.count(where: \.isDecided)
            #expect(decided == count)
            #expect(
                try await world.bank.count("SELECT count(*) FROM countersign.shadow_verdict")
                    == count)
            #expect(world.reported.withLock { $0.count } == count)
            #expect(Set(world.reported.withLock { $0.map(\.evidence) }).count == count)
            #expect(try await world.report(shadow)["changed"] == .integer(Int64(count / 2)))
            #expect(try await world.bank.count(ShadowWorld.miscounted) == 0)
        }
    }

    @Test func `goes on when a record is damaged, and says so`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            let unreadable = try await world.shadow(try await world.draft())
            try await world.bank.test.runScript(
                """
                ALTER TABLE countersign.policy_shadow DISABLE TRIGGER guard;
                UPDATE countersign.policy_shadow SET document = 'x' WHERE id = '\(unreadable.id)';
                ALTER TABLE countersign.policy_shadow ENABLE ALWAYS TRIGGER guard
                """)
            try await world.pay("20.00")
            for inputs in ["''::bytea", "'\\x00ff'::bytea", "'{}'::bytea", "'\\x5b5d'::bytea"] {
                try await world.bank.test.sql(
                    world.copyDecision("clock_timestamp(), \(inputs)"))
            }
            try await world.pay("30.00")
            try await world.evaluate()
            let found = try await world.report(shadow)
            #expect(found["decided"] == .integer(2) && found["undecidable"] == .integer(4))
            let other = try await world.report(unreadable)
            #expect(other["decided"] == .integer(0) && other["undecidable"] == .integer(6))
        }
    }

    @Test func `is complete when it has ended and everything of before is decided`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            let ended = try #require(try await world.shadows.end(shadow.id, by: world.anna))
            #expect(ended.shadow.isActive(at: ended.at) == false)
            #expect(ended.shadow.end?.by.name == "anna")
            // Decided after its end: not its own.
            try await world.pay("30.00")
            try await world.hurry()
            let queue = PostgresShadowQueue(database: world.bank.database)
            try await world.evaluate { try await queue.incomplete().isEmpty }
            let found = try await world.report(shadow)
            #expect(found["complete"] == .bool(true) && found["decided"] == .integer(1))
        }
    }

    @Test func `is begun and ended by a person of the risk team, as evidence tells`() async throws {
        try await ShadowWorld.with { world in
            let shadow = try await world.shadow()
            _ = try await world.shadows.end(shadow.id, by: world.anna)
            // Once is enough.
            let again = try #require(try await world.shadows.end(shadow.id, by: world.anna))
            #expect(again.shadow.end != nil)
            #expect(try await world.shadows.end(ID(rawValue: 1), by: world.anna) == nil)
            for kind in [EvidenceKind.shadowStarted, .shadowEnded] {
                #expect(
                    try await world.bank.count(
                        "SELECT count(*) FROM countersign.evidence WHERE kind = '\(kind.rawValue)'"
                    ) == 1)
            }
            #expect(try await world.bank.evidenceFaults() == [])
            let stranger = try await world.begin(by: world.bank.client)
            guard case .notFound = stranger else {
                Issue.record("\(stranger)")
                return
            }
        }
    }

    @Test func `lasts 30 days at most, and there are three at once at most`() async throws {
        try await ShadowWorld.with { world in
            for seconds in [-1, 0, 30 * 86_400 + 5] as [Int64] {
                guard case .untilOutOfRange = try await world.begin(for: seconds) else {
                    Issue.record("\(seconds)")
                    return
                }
            }
            let outcomes = try await inParallel(8) { _ in try await world.begin() }
            let started = outcomes.compactMap { outcome -> PolicyShadow? in
                if case .started(let shadow, _) = outcome { shadow } else { nil }
            }
            #expect(started.count == 3)
            #expect(
                outcomes.count { if case .tooManyActive = $0 { true } else { false } } == 5)
            _ = try await world.shadows.end(started[0].id, by: world.anna)
            _ = try await world.shadow()
        }
    }

    @Test func `is listed with the others, the newest first and page by page`() async throws {
        try await ShadowWorld.with { world in
            var begun: [ID<Shadow>] = []
            for _ in 0..<3 { begun.append(try await world.shadow().id) }
            let newest = begun.sorted(by: { $0.rawValue > $1.rawValue })
            let first = try await world.shadows.shadows(ShadowQuery(limit: 2)).shadows
            #expect(first.map(\.id) == Array(newest.prefix(2)))
            let rest = try await world.shadows.shadows(ShadowQuery(limit: 2, before: newest[1]))
            #expect(rest.shadows.map(\.id) == [newest[2]])
            let none = try await world.shadows.shadows(ShadowQuery(limit: 2, before: newest[2]))
            #expect(none.shadows.isEmpty)
        }
    }

    /// The use case holds the same bound: `ShadowsTests`.
    @Test func `lasts 30 days to the millisecond in the database too`() async throws {
        try await ShadowWorld.with { world in
            let (person, at) = try #require(try await world.store.asker(world.anna))
            func start(_ excess: Int64) async throws -> ShadowCreation {
                let end = at + PolicyShadow.lengthMax
                return try await world.store.start(
                    PolicyShadow(
                        id: ID(at: at, random: EntropySource.openSSL(10)), label: "month",
                        digest: sha256([]), startedBy: person, startedAt: at,
                        until: Instant(milliseconds: end.milliseconds + excess), doneUntil: at),
                    [])
            }
            let whole = try await start(0)
            #expect(whole == .started)
            await #expect(
                throws: StoreFailure.internalFailure(code: "23514:policy_shadow_length")
            ) { try await start(1) }
        }
    }

    @Test(arguments: [
        ("UPDATE countersign.policy_shadow SET document = ''", "CS003"),
        ("UPDATE countersign.policy_shadow SET until = until + interval '1 day'", "CS003"),
        ("UPDATE countersign.policy_shadow SET done_until = done_until - interval '1 s'", "CS004"),
        (
            "UPDATE countersign.policy_shadow SET ended_at = clock_timestamp(), ended_by = started_by, end_evidence_id = evidence_id",
            "CS005"
        ),
        ("DELETE FROM countersign.policy_shadow", "CS001"),
        ("TRUNCATE countersign.policy_shadow CASCADE", "CS001"),
        ("UPDATE countersign.shadow_verdict SET after_rule = 'x'", "CS001"),
        ("DELETE FROM countersign.shadow_verdict", "CS001"),
        ("UPDATE countersign.policy_shadow SET forgotten_at = clock_timestamp()", "CS001"),
        ("UPDATE countersign.shadow_count SET times = times - 1", "CS001"),
        ("UPDATE countersign.shadow_count SET after_rule = 'x', times = times + 1", "CS001"),
        ("DELETE FROM countersign.shadow_count", "CS001"),
        ("TRUNCATE countersign.shadow_count", "CS001"),
    ])
    func `is changed by nobody`(statement: String, code: String) async throws {
        try await ShadowWorld.with { world in
            _ = try await world.shadow(try await world.draft())
            try await world.pay("20.00")
            try await world.evaluate()
            await #expect(throws: StoreFailure.internalFailure(code: code)) {
                try await world.bank.test.sql(statement)
            }
        }
    }

    /// SQLSTATE 42501: insufficient privilege.
    @Test(arguments: [
        "INSERT INTO countersign.shadow_verdict (shadow_id) VALUES (NULL)",
        "INSERT INTO countersign.shadow_count (shadow_id) VALUES (NULL)",
        "UPDATE countersign.policy_shadow SET done_until = until",
        "DELETE FROM countersign.policy_decision", "UPDATE countersign.event_push SET position = 9",
        "SELECT countersign.guard_policy_shadow()",
    ])
    func `is written by the functions alone`(sql: String) async throws {
        try await withDatabase { test in
            let database = await test.open(size: 1)
            await #expect(throws: StoreFailure.internalFailure(code: "42501")) {
                try await database.query(Statement("denied", .write, Bytes(sql.utf8)))
            }
        }
    }

    @Test(arguments: [TestDatabase.Role.auditor, .op])
    func `is not for the roles of operator and auditor`(role: TestDatabase.Role) async throws {
        try await withDatabase { test in
            let database = await test.open(as: role, size: 1)
            for call in [
                "start_shadow(NULL, '{}', '[]')", "end_shadow(NULL, NULL, NULL, '[]')",
                "record_shadow_verdicts(NULL, '[]')", "advance_shadow(NULL)",
                "forget_policy_decisions(30, 1)", "claim_event_push(1, interval '1 s')",
                "settle_event_push(NULL)", "retry_event_push(NULL, interval '1 s')",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(call)") {
                    try await database.query(
                        Statement("denied", .write, Bytes("SELECT countersign.\(call)".utf8)))
                }
            }
        }
    }
}
