import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// Importing payees that two people have signed, on a real database that is not for development.
@Suite struct `An import of payees` {
    private struct Importing {
        let world: PeopleWorld
        let anna: HeldKey
        let bert: HeldKey
    }

    /// A world in production, with two people of the risk team.
    private func inProduction(_ body: (Importing) async throws -> Void) async throws {
        try await PeopleWorld.with { world in
            let importing = Importing(
                world: world, anna: try await world.person("anna"),
                bert: try await world.person("bert"))
            let holds = try await Migrator.state(isDevelopment: false, of: world.test.superuser)
            #expect(!holds)
            try await world.migrating().recordInstallation()
            try await body(importing)
        }
    }

    private static func row(
        _ number: Int, customer: String? = nil, name: String = "Zoë \"Z\\\" 山田", alias: String = "",
        account: String? = nil, salt: UInt8 = 1
    ) throws -> PayeeRow {
        PayeeRow(
            customer: try CustomerID(customer ?? "c-\(number)"),
            identity: PayeeIdentity(
                name: try DisplayText(name, .payeeName),
                account: try Account(scheme: "bban", value: account ?? "account-\(number)")),
            alias: try DisplayText(alias, .payeeAlias),
            salt: Base64.encodeURL(Bytes(repeating: salt, count: PayeeRow.saltSize)))
    }

    private static func document(_ rows: [PayeeRow]) -> JSON {
        [
            "reason": "moved from the old system",
            "rows": .array(rows.map { .string(sha256($0.bytes).hex) }),
        ]
    }

    /// An act that both have signed.
    private func signed(_ rows: [PayeeRow], _ importing: Importing) async throws -> ID<Act> {
        let (act, outcome) = try await importing.world.propose(
            .importPayees, Self.document(rows), by: importing.anna)
        #expect(outcome.state == .open)
        #expect(try await importing.world.sign(act, by: importing.bert).state == .done)
        return act
    }

    private func payees(_ world: PeopleWorld) async throws -> Int {
        try await world.count("SELECT count(*) FROM countersign.payee WHERE status = 'active'")
    }

    @Test func `writes what two people signed, each row once, and evidence names the act`()
        async throws
    {
        try await inProduction { importing in
            let world = importing.world
            let rows = [
                try Self.row(1, alias: "Strom /\u{7E}"), try Self.row(2),
                try Self.row(3, customer: "c-1"),
            ]
            let act = try await signed(rows, importing)
            for row in rows {
                #expect(try await world.administration.importPayee(row, under: act) == .imported)
            }
            for row in rows {
                #expect(try await world.administration.importPayee(row, under: act) == .exists)
            }
            #expect(try await payees(world) == 3)
            #expect(try await world.evidence(.actProposed) == 1)
            #expect(try await world.evidence(.actApproved) == 1)
            let bodies = try await world.bodies(.payeeImported)
            #expect(bodies.map { $0["act_id"]?.text } == [act.text, act.text, act.text])
            #expect(
                bodies.map { $0["row_digest"]?.text } == rows.map { sha256($0.bytes).hex })
            // Whoever may read the record needs no file to make the digest again.
            #expect(bodies.map { PayeeRow(recorded: $0) } == rows)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test(arguments: ["customer", "name", "account", "alias", "salt", "other"])
    func `writes no row that was not signed`(changed: String) async throws {
        try await inProduction { importing in
            let act = try await signed([try Self.row(1), try Self.row(2)], importing)
            let row =
                switch changed {
                case "customer": try Self.row(1, customer: "c-2")
                case "name": try Self.row(1, name: "Zoë")
                case "account": try Self.row(1, account: "account-3")
                case "alias": try Self.row(1, alias: "x")
                case "salt": try Self.row(1, salt: 2)
                default: try Self.row(4)
                }
            let outcome = try await importing.world.administration.importPayee(row, under: act)
            #expect(outcome == .notSigned)
            #expect(try await payees(importing.world) == 0)
            #expect(try await importing.world.evidence(.payeeImported) == 0)
        }
    }

    @Test func `needs both signatures, of an act about payees that nobody stopped`() async throws {
        try await inProduction { importing in
            let (world, row) = (importing.world, try Self.row(1))
            let (act, _) = try await world.propose(
                .importPayees, Self.document([row]), by: importing.anna)
            #expect(try await world.administration.importPayee(row, under: act) == .notSigned)
            let (policy, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: importing.anna)
            #expect(try await world.sign(policy, by: importing.bert).state == .done)
            #expect(try await world.administration.importPayee(row, under: policy) == .notSigned)
            #expect(try await world.administration.importAct(policy) == nil)
            let withdrawn = try await world.acts.withdraw(
                act, by: importing.bert.person, reason: DisplayText("no", .reason))
            #expect(withdrawn.state == .withdrawn)
            #expect(try await world.administration.importPayee(row, under: act) == .notSigned)
            #expect(try await payees(world) == 0)
        }
    }

    @Test func `ends seven days after it was signed, or with the key of one who signed`()
        async throws
    {
        try await inProduction { importing in
            let (world, row) = (importing.world, try Self.row(1))
            let old = try await signed([row], importing)
            try await world.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.act DISABLE TRIGGER guard;
                        UPDATE countersign.act SET closed_at = closed_at - interval '7 days';
                        """)
            }
            #expect(try await world.administration.importPayee(row, under: old) == .notSigned)
            let act = try await signed([row], importing)
            _ = try await world.keys.revoke(importing.anna.recorded.id, of: importing.anna.person)
            #expect(try await world.administration.importPayee(row, under: act) == .notSigned)
            #expect(try await payees(world) == 0)
        }
    }

    @Test func `that runs twice at once writes each row once`() async throws {
        try await inProduction { importing in
            let world = importing.world
            let rows = try (0..<20).map { try Self.row($0, customer: "c-\($0 % 3)") }
            let act = try await signed(rows, importing)
            let administration = Administration(
                database: await world.test.open(as: .op, size: 8), sealer: world.sealer,
                keyEncryption: world.keyEncryption, entropy: .openSSL)
            let counts = try await inParallel(4) { number in
                var imported = 0
                for row in number < 2 ? rows : rows.reversed() {
                    let outcome = try await administration.importPayee(row, under: act)
                    #expect(outcome != .notSigned)
                    if outcome == .imported { imported += 1 }
                }
                return imported
            }
            #expect(counts.reduce(0, +) == 20)
            #expect(try await payees(world) == 20)
            #expect(try await world.evidence(.payeeImported) == 20)
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `brings no payee back that its customer has removed since`() async throws {
        try await inProduction { importing in
            let (world, row) = (importing.world, try Self.row(1))
            let act = try await signed([row], importing)
            #expect(try await world.administration.importPayee(row, under: act) == .imported)
            try await world.test.sql("UPDATE countersign.payee SET status = 'removed'")
            #expect(try await world.administration.importPayee(row, under: act) == .exists)
            #expect(try await payees(world) == 0)
            // Two people may say so anew.
            let again = try await signed([row], importing)
            #expect(try await world.administration.importPayee(row, under: again) == .imported)
        }
    }

    @Test
    func `leaves removed what was removed after the act was proposed, and not what was before`()
        async throws
    {
        try await inProduction { importing in
            let world = importing.world
            let rows = [try Self.row(1), try Self.row(2)]
            let first = try await signed(rows, importing)
            for row in rows {
                #expect(try await world.administration.importPayee(row, under: first) == .imported)
            }
            func remove(_ account: String) async throws {
                try await world.test.sql(
                    """
                    UPDATE countersign.payee SET status = 'removed'
                     WHERE account LIKE '%\(account)' AND status = 'active'
                    """)
            }
            try await remove("account-1")
            let again = [try Self.row(1, salt: 2), try Self.row(2, salt: 2)]
            let second = try await signed(again, importing)
            try await remove("account-2")
            #expect(
                try await world.administration.importPayee(again[0], under: second) == .imported)
            #expect(try await world.administration.importPayee(again[1], under: second) == .exists)
            #expect(try await payees(world) == 1)
        }
    }

    @Test func `is of the time at which it is done, whatever the operator says`() async throws {
        try await PeopleWorld.with { world in
            for age in ["-1 hour", "1 minute"] {
                let database = await world.test.open(as: .op, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "CS002"), "\(age)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(
                            script: """
                                SELECT countersign.import_payee(gen_random_uuid(),
                                    gen_random_uuid(), 'bban:other', 'Zoë', '',
                                    clock_timestamp() + interval '\(age)', '[]', NULL, NULL)
                                """)
                    }
                }
            }
        }
    }

    @Test func `without an act is for development, which ends once`() async throws {
        try await PeopleWorld.with { world in
            let row = try Self.row(1)
            #expect(
                try await world.administration.importPayee(
                    row.identity, alias: row.alias, of: row.customer) == .imported)
            let info = world.test.superuser
            #expect(try await Migrator.state(isDevelopment: true, of: info))
            #expect(try await !Migrator.state(isDevelopment: false, of: info))
            #expect(try await !Migrator.state(isDevelopment: true, of: info))
            let other = try Self.row(2)
            #expect(
                try await world.administration.importPayee(
                    other.identity, alias: other.alias, of: other.customer) == .notSigned)
            for change in [
                "UPDATE countersign.installation SET is_development = true",
                "DELETE FROM countersign.installation", "TRUNCATE countersign.installation",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS001"), "\(change)") {
                    try await world.test.sql(change)
                }
            }
            for role in [TestDatabase.Role.service, .op, .auditor] {
                let database = await world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(role)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(script: "SELECT countersign.state_installation(true)")
                    }
                }
            }
            #expect(try await payees(world) == 1)
        }
    }

    @Test func `is the operator's, and its signatures the service's`() async throws {
        try await inProduction { importing in
            for (role, call) in [
                (
                    TestDatabase.Role.service,
                    "SELECT countersign.import_payee(gen_random_uuid(), gen_random_uuid(), 'bban:1', "
                        + "'x', '', now(), '[]', NULL, NULL)"
                ),
                (.op, "SELECT countersign.allow_import('{}', '{}', '[]')"),
                (
                    .op,
                    "INSERT INTO countersign.payee_import SELECT * FROM countersign.payee_import"
                ),
                (.op, "SELECT countersign.is_import_signed(gen_random_uuid(), '')"),
            ] {
                let database = await importing.world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(call)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(script: call)
                    }
                }
            }
        }
    }

    @Test func `is signed last by one person, however many sign at once`() async throws {
        try await inProduction { importing in
            let world = importing.world
            let cara = try await world.admitted("cara", by: importing.anna, importing.bert)
            let dora = try await world.admitted("dora", by: importing.anna, importing.bert)
            let (act, _) = try await world.propose(
                .importPayees, Self.document([try Self.row(1)]), by: importing.anna)
            let people = [importing.bert, cara, dora]
            let outcomes = try await inParallel(3) { try await world.sign(act, by: people[$0]) }
            #expect(outcomes.count(where: { $0.state == .done }) == 1)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.act_signature WHERE act_id = '\(act.text)'")
                    == 2)
            #expect(try await world.audit().faults == [])
        }
    }

    private static let aDigest = JSON.string(String(repeating: "a", count: 64))

    private static let wrongDocuments: [(JSON, String)] = [
        (["reason": "x"], "/rows"),
        (["rows": [aDigest]], "/reason"),
        (["reason": "", "rows": [aDigest]], "/reason"),
        (["reason": "x", "rows": []], "/rows"),
        (["reason": "x", "rows": ["00"]], "/rows/0"),
        (["reason": "x", "rows": [.string(String(repeating: "A", count: 64))]], "/rows/0"),
        (["reason": "x", "rows": [aDigest, aDigest]], "/rows/1"),
        (["reason": "x", "rows": .array(Array(repeating: aDigest, count: 501))], "/rows"),
        (["reason": "x", "rows": [aDigest], "file": "y"], "/file"),
    ]

    @Test func `is proposed with the digests of its rows and a reason`() {
        for (document, pointer) in Self.wrongDocuments {
            let refused = #expect(throws: InvalidActMember.self) {
                try PayeeImportRequest(document)
            }
            #expect(refused?.pointer == pointer)
        }
    }

    @Test func `is nothing for officers to propose`() async throws {
        try await PeopleWorld.with { world in
            let olga = try await world.person("olga", .officer)
            let outcome = try await world.acts.propose(
                ProposeActCommand(
                    person: olga.person, kind: .importPayees,
                    document: Self.document([try Self.row(1)])))
            #expect(outcome.refusal == .kindNotAllowed)
        }
    }
}
