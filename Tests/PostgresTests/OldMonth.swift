import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// A log with three records of a month long past, which are of one customer; only a superuser without triggers can
/// write such.
struct OldMonth: Sendable {
    static let name = "2019-01"
    static let customer = "11111111-1111-4111-8111-111111111111"
    static let service = "00000000-0000-0000-0000-000000000000"

    let world: LogWorld
    let log: PostgresLog
    let administration: Administration
    let keyEncryption: KeyEncryptionKey

    static func with(_ body: (OldMonth) async throws -> Void) async throws {
        try await LogWorld.with { world in
            _ = try await Migrator.state(isDevelopment: true, of: world.test.superuser)
            let key = try #require(KeyEncryptionKey(Fixtures.bytes32(3)))
            let log = await world.instance()
            let old = OldMonth(
                world: world, log: log,
                administration: Administration(
                    database: await world.test.open(as: .op, size: 1), sealer: world.sealer,
                    keyEncryption: key, entropy: .openSSL), keyEncryption: key)
            try await old.begin()
            _ = try await log.lead()
            try await body(old)
        }
    }

    private func begin() async throws {
        try await world.test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    SET ROLE countersign_owner;
                    SET search_path = countersign;
                    CREATE TABLE evidence_2019_01 PARTITION OF evidence
                        FOR VALUES FROM ('016806b5-bc00-0000-0000-000000000000')
                        TO ('0168a65a-e000-0000-0000-000000000000');
                    RESET ROLE;
                    INSERT INTO customer (customer_id, subject_id)
                    VALUES ('c-1', '\(Self.customer)')
                    """)
        }
        for number in 1...3 { try await record("evidence.read", number) }
    }

    /// The ID of the record with a number.
    static func id(_ number: Int) -> String {
        "01685000-0000-7000-8000-" + String(repeating: "0", count: 10)
            + (number < 10 ? "0" : "") + "\(number)"
    }

    /// Adds one, with a body when somebody is named whose it is.
    func record(
        _ kind: String, _ number: Int, of subject: String = Self.customer, body: String? = nil,
        action: String? = nil
    ) async throws {
        let action = action.map { "'\($0)'" } ?? "NULL"
        let sealed = body.map {
            """
            INSERT INTO evidence_body VALUES
                ('\(Self.id(number))', '\($0)', sha256(''), substr(sha256(''), 1, 12), 'x');
            """
        }
        try await world.test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    SET search_path = countersign;
                    ALTER TABLE evidence DISABLE TRIGGER ALL;
                    INSERT INTO evidence (id, kind, action_id, subject_id, leaf, body_commit, recorded_at)
                    VALUES ('\(Self.id(number))', '\(kind)', \(action), '\(subject)',
                            convert_to('leaf \(number)', 'UTF8'), sha256(''), '2019-01-15');
                    \(sealed ?? "")
                    ALTER TABLE evidence ENABLE ALWAYS TRIGGER stamp, ENABLE ALWAYS TRIGGER no_change,
                        ENABLE ALWAYS TRIGGER no_truncate
                    """)
        }
    }

    func detach() async throws -> Administration.Detaching {
        try await administration.detachEvidence(of: Self.name, retentionDays: 0)
    }

    /// One text out of the database, as the superuser.
    func text(_ expression: String) async throws -> String? {
        let rows = try await world.test.sql("SELECT (SELECT \(expression))::text AS value")
        return try #require(rows.first)["value"]
    }
}
