import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@Suite struct `Migrating` {
    private static let first = Migration("V0001_one", Bytes("CREATE TABLE one (n int)".utf8))
    private static let second = Migration("V0002_two", Bytes("CREATE TABLE two (n int)".utf8))
    private static let third = Migration("V0003_three", Bytes("CREATE TABLE three (n int)".utf8))

    /// With the roles of the cluster, which the templates of all tests need anyway.
    private func migrator(_ migrations: Migration...) throws -> Migrator {
        let roles = try String(
            contentsOf: SQLFolder.root.appending(path: "roles.sql"), encoding: .utf8)
        return Migrator(roles: roles, migrations: migrations)
    }

    /// Gives `body` a database in which nothing has been migrated.
    private func withEmptyDatabase(
        _ body: (TestDatabase, ConnectionInfo) async throws -> Void
    ) async throws {
        try await withDatabase { test in
            let name = test.name + "_empty"
            try await test.sql("CREATE DATABASE \(name)")
            do {
                try await body(test, test.superuser.replacing(["dbname": name]))
            } catch {
                try await test.sql("DROP DATABASE \(name) WITH (FORCE)")
                throw error
            }
            try await test.sql("DROP DATABASE \(name) WITH (FORCE)")
        }
    }

    @Test func `applies what is missing, in order, once`() async throws {
        try await withEmptyDatabase { _, info in
            let two = try migrator(Self.first, Self.second)
            #expect(try await two.migrate(info) == ["V0001_one", "V0002_two"])
            #expect(try await two.migrate(info) == [])
            let three = try migrator(Self.first, Self.second, Self.third)
            #expect(try await pending(three, info) == ["V0003_three"])
            #expect(try await three.migrate(info) == ["V0003_three"])
            #expect(try await pending(three, info) == [])
            let rows = try await query(
                info, "SELECT version, name, sha256 FROM countersign_migration.applied ORDER BY 1")
            #expect(try rows.map { try $0["version"] } == [1, 2, 3])
            #expect(
                try rows.map { try $0["sha256"] }
                    == [Self.first, Self.second, Self.third].map(\.digest))
        }
    }

    @Test func `an empty database needs everything, and a migrated one nothing`() async throws {
        try await withEmptyDatabase { _, info in
            let missing = try await pending(.embedded, info)
            #expect(missing == Migration.all.map(\.name))
        }
        try await withDatabase { test in
            for role in [TestDatabase.Role.service, .op, .auditor] {
                let missing = try await pending(.embedded, test.connection(as: role))
                #expect(missing == [])
            }
        }
    }

    /// Who had a key that counted before V0019 is a founder; a key that ended unseen is taken for one.
    @Test func `knows of keys of people that were registered before it asked when they counted`()
        async throws
    {
        try await withEmptyDatabase { _, info in
            let roles = try String(
                contentsOf: SQLFolder.root.appending(path: "roles.sql"), encoding: .utf8)
            let old = Migrator(roles: roles, migrations: Array(Migration.all.prefix(16)))
            _ = try await old.migrate(info)
            _ = try await query(
                info,
                """
                WITH k (name, status, at) AS (VALUES ('anna', 'active', '2026-01-01'::timestamptz),
                           ('bert', 'revoked', '2026-01-02'), ('cara', 'pending', '2026-01-03')),
                c AS (INSERT INTO countersign.client (id, name, role)
                      SELECT gen_random_uuid(), name, 'risk' FROM k RETURNING id, name),
                p AS (INSERT INTO countersign.person (client_id, user_handle)
                      SELECT id, sha512(name::bytea) FROM c RETURNING client_id)
                INSERT INTO countersign.person_key (id, client_id, label, public_key, passkey_id,
                       sign_count, backup_eligible, backup_state, transports, attestation, status,
                       registered_at, revoked_at, evidence_id, last_evidence_id)
                SELECT gen_random_uuid(), c.id, '', k.name::bytea, k.name::bytea, 0, false, false,
                       '{}', '', k.status, k.at, CASE k.status WHEN 'revoked' THEN now() END,
                       gen_random_uuid(), gen_random_uuid()
                  FROM c JOIN k ON k.name = c.name JOIN p ON p.client_id = c.id
                RETURNING 1
                """)
            _ = try await Migrator.embedded.migrate(info)
            let rows = try await query(
                info,
                """
                SELECT coalesce(k.admitted_at = k.registered_at, false) AS counts,
                       countersign.is_founding_person(gen_random_uuid(), 'risk') AS is_founding
                  FROM countersign.person_key k JOIN countersign.client c ON c.id = k.client_id
                 ORDER BY c.name
                """)
            #expect(try rows.map { try $0["counts"] } == [true, true, false])
            #expect(try rows.map { try $0["is_founding"] } == [false, false, false])
        }
    }

    /// Verdicts of before V0027, which counts them as they are written.
    @Test func `counts the verdicts of shadows that were there before the counts`() async throws {
        try await withEmptyDatabase { _, info in
            let roles = try String(
                contentsOf: SQLFolder.root.appending(path: "roles.sql"), encoding: .utf8)
            let before = Migration.all.filter { $0.version < 27 }
            _ = try await Migrator(roles: roles, migrations: before).migrate(info)
            let verdicts = """
                INSERT INTO countersign.shadow_verdict (shadow_id, evidence_id, action_id, kind,
                       decided_at, before_outcome, after_outcome)
                SELECT s.id, gen_random_uuid(), gen_random_uuid(), 'transfer', now(), 'allowed', o
                  FROM countersign.policy_shadow s,
                       unnest(ARRAY['allowed', 'allowed', 'undecidable']) o
                RETURNING 1
                """
            _ = try await query(
                info,
                """
                WITH c AS (INSERT INTO countersign.client (id, name, role)
                           VALUES (gen_random_uuid(), 'anna', 'risk') RETURNING id)
                INSERT INTO countersign.policy_shadow (id, label, document, started_by, started_at,
                       until, evidence_id, done_until)
                SELECT gen_random_uuid(), 'a', '', c.id, now(), now() + interval '1 day',
                       gen_random_uuid(), now() FROM c RETURNING 1
                """)
            _ = try await query(info, verdicts)
            _ = try await Migrator.embedded.migrate(info)
            let counts = "SELECT times FROM countersign.shadow_count ORDER BY times"
            #expect(try await query(info, counts).map { try $0["times"] } == [1, 2])
            _ = try await query(info, verdicts)
            #expect(try await query(info, counts).map { try $0["times"] } == [2, 4])
        }
    }

    /// What was enrolled before V0009 signs in DER, met no profile, and keeps its verdict.
    @Test func `keeps the credentials that were enrolled before they had formats and failures`()
        async throws
    {
        try await withEmptyDatabase { test, info in
            let roles = try String(
                contentsOf: SQLFolder.root.appending(path: "roles.sql"), encoding: .utf8)
            let old = Migrator(roles: roles, migrations: Array(Migration.all.prefix(8)))
            _ = try await old.migrate(info)
            _ = try await query(
                info,
                """
                WITH c AS (INSERT INTO countersign.customer (customer_id, subject_id)
                           VALUES ('c-1', gen_random_uuid()) RETURNING subject_id)
                INSERT INTO countersign.credential (id, subject_id, kind, public_key, passkey_id,
                       user_handle, attestation, status, created_at, revoked_at, seq, head, evidence_id)
                SELECT gen_random_uuid(), subject_id, k.kind, k.key, k.passkey, k.passkey,
                       k.attestation, k.status, k.at,
                       CASE k.status WHEN 'revoked' THEN clock_timestamp() END, 1, '',
                       gen_random_uuid()
                  FROM c, (VALUES
                       ('device_key', '\\x01'::bytea, NULL::bytea, 'active', '2026-01-01'::timestamptz,
                        '{"verdict": "unverified", "format": "android-key"}'),
                       ('passkey', '\\x02', '\\x22', 'revoked', '2026-01-02',
                        '{"verdict": "self", "format": "packed"}'))
                       AS k (kind, key, passkey, status, at, attestation)
                RETURNING 1
                """)
            _ = try await Migrator.embedded.migrate(info)
            let database = Database(
                DatabaseOptions(
                    connection: info.replacing(["user": TestDatabase.Role.service.rawValue]),
                    size: 1))
            guard let key = KeyEncryptionKey(EntropySource.openSSL(32)) else {
                preconditionFailure("32 bytes are a key")
            }
            let store = PostgresCredentialStore(
                database: database,
                sealer: EvidenceSealer(log: "x", keyEncryption: key, entropy: .openSSL),
                subjects: SubjectMaker(keyEncryption: key, entropy: .openSSL))
            let found = try await store.credentials(of: try CustomerID("c-1"))
            await database.close()
            #expect(found.map(\.status) == [.active, .revoked])
            #expect(found.map(\.signatureFormat) == [.der, nil])
            #expect(
                found.map(\.attestation) == [
                    Attestation(verdict: .unverified, format: "android-key"),
                    Attestation(verdict: .selfSigned, format: "packed"),
                ])
            #expect(found.map(\.assurance) == [.biometricClaimed, .userVerificationUnspecified])
            _ = test
        }
    }

    @Test func `by several instances at once happens once`() async throws {
        try await withEmptyDatabase { _, info in
            let migrator = try migrator(Self.first, Self.second, Self.third)
            let applied = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 { group.addTask { try await migrator.migrate(info) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(applied == ["V0001_one", "V0002_two", "V0003_three"])
        }
    }

    @Test func `of several databases of a cluster at once goes well`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await withEmptyDatabase { _, info in
                        let migrator = try migrator(Self.first)
                        #expect(try await migrator.migrate(info) == ["V0001_one"])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `stops at a file that was changed after it was applied`() async throws {
        try await withEmptyDatabase { _, info in
            _ = try await migrator(Self.first).migrate(info)
            let edited = Migration("V0001_one", Bytes("CREATE TABLE one (n int, m int)".utf8))
            let renamed = Migration("V0001_uno", Bytes(Self.first.sql.utf8))
            for changed in [edited, renamed] {
                let migrator = try migrator(changed, Self.second)
                await #expect(throws: MigrationFailure.changed(name: changed.name)) {
                    try await migrator.migrate(info)
                }
                await #expect(throws: MigrationFailure.changed(name: changed.name)) {
                    try await pending(migrator, info)
                }
            }
        }
    }

    @Test func `stops at a database that is newer than the program`() async throws {
        try await withEmptyDatabase { _, info in
            _ = try await migrator(Self.first, Self.second).migrate(info)
            let older = try migrator(Self.first)
            await #expect(throws: MigrationFailure.databaseIsNewer(version: 2)) {
                try await older.migrate(info)
            }
        }
    }

    @Test func `stops when a migration is missing below others`() async throws {
        try await withEmptyDatabase { _, info in
            _ = try await migrator(Self.first, Self.third).migrate(info)
            let all = try migrator(Self.first, Self.second, Self.third)
            await #expect(throws: MigrationFailure.outOfOrder(name: "V0002_two")) {
                try await all.migrate(info)
            }
        }
    }

    @Test func `leaves nothing of a migration that fails, and keeps those before it`() async throws
    {
        try await withEmptyDatabase { _, info in
            let broken = Migration(
                "V0002_broken", Bytes("CREATE TABLE half (n int); SELECT 1/0; SELECT 2".utf8))
            let migrator = try migrator(Self.first, broken, Self.third)
            await #expect(
                throws: MigrationFailure.notApplied(
                    name: "V0002_broken", .other(sqlState: "22012"), message: "division by zero")
            ) {
                try await migrator.migrate(info)
            }
            #expect(try await pending(migrator, info) == ["V0002_broken", "V0003_three"])
            let rows = try await query(info, "SELECT to_regclass('half') IS NULL AS gone")
            #expect(try #require(rows.first)["gone"] as Bool)
        }
    }

    @Test func `undoes what a migration set for its session`() async throws {
        try await withEmptyDatabase { _, info in
            let setting = Migration(
                "V0001_setting",
                Bytes("SET ROLE countersign_service; SET search_path = nowhere".utf8))
            let checking = Migration(
                "V0002_checking",
                Bytes(
                    "CREATE TABLE public.t AS SELECT current_user::text AS u, current_schema AS s"
                        .utf8))
            _ = try await migrator(setting, checking).migrate(info)
            let row = try #require(try await query(info, "SELECT u, s FROM public.t").first)
            #expect(try row["u"] != "countersign_service")
            #expect(try row["s"] == "public")
        }
    }

    @Test func `a database that is not there is reported`() async throws {
        let nowhere = try ConnectionInfo("host=/nonexistent port=1")
        let failure = await #expect(throws: MigrationFailure.self) {
            try await Migrator.embedded.migrate(nowhere)
        }
        guard case .database(.unreachable(let reason)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("/nonexistent"))
    }

    private func pending(_ migrator: Migrator, _ info: ConnectionInfo) async throws -> [String] {
        let connection = try Connection(
            info, applicationName: "test", deadline: .seconds(60))
        return try migrator.pendingMigrations(connection)
    }

    private func query(_ info: ConnectionInfo, _ sql: String) async throws -> Rows {
        let connection = try Connection(
            info, applicationName: "test", deadline: .seconds(60))
        return try connection.execute(.read(sql))
    }
}

@Suite struct `The embedded SQL` {
    @Test func `has every migration of the folder, in order`() throws {
        let files = try SQLFolder.files("migrations")
        #expect(Migration.all.map { $0.name + ".sql" } == files)
        for migration in Migration.all {
            let file = try SQLFolder.contents("migrations/\(migration.name).sql")
            #expect(migration.sql == file)
            #expect(migration.digest == sha256(Bytes(file.utf8)))
        }
        // Numbers are given out before branches are merged, so one may be missing for a time.
        let versions = Migration.all.map(\.version)
        #expect(versions == Set(versions).sorted() && versions.first == 1)
    }

    /// A statement's name is the key under which a session keeps its plan: two of one name would mix.
    @Test func `has every query of the folder under the name of its file, once`() throws {
        let uses = try SQLFolder.statements()
        for use in uses { #expect(use.name == use.resource) }
        #expect(uses.map { $0.name + ".sql" }.sorted() == (try SQLFolder.files("queries")))
    }

    /// A read is sent again when its connection is lost.
    @Test func `calls nothing a read that writes`() async throws {
        try await withDatabase { test in
            let writing = try await test.sql(
                """
                SELECT proname FROM pg_proc
                 WHERE pronamespace = 'countersign'::regnamespace AND prosecdef AND provolatile = 'v'
                """
            ).map { try $0["proname"] as String }
            #expect(!writing.isEmpty)
            for use in try SQLFolder.statements() where use.kind == "read" {
                let sql = try SQLFolder.contents("queries/\(use.resource).sql")
                    .replacing(/--.*/, with: "")
                let words = Set(
                    sql.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
                let bad = words.intersection(writing + ["INSERT", "UPDATE", "DELETE", "nextval"])
                #expect(bad.isEmpty, "\(use.name)")
            }
        }
    }
}

/// The folder `sql` of this package, and what the program makes of it.
private enum SQLFolder {
    struct Use {
        let name: String
        let kind: String
        let resource: String
    }

    static let package = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let root = package.appending(path: "sql")

    static func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".sql") }.sorted()
    }

    static func contents(_ file: String) throws -> String {
        try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }

    /// Every `Statement("name", .kind, PackageResources.resource_sql)` of the target.
    static func statements() throws -> [Use] {
        let pattern = /Statement\(\s*"(\w+)",\s*\.(read|write),\s*PackageResources\.(\w+)_sql\)/
        let folder = package.appending(path: "Sources/Postgres")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .flatMap { file in
                try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                    .matches(of: pattern)
                    .map { Use(name: String($0.1), kind: String($0.2), resource: String($0.3)) }
            }
    }
}
