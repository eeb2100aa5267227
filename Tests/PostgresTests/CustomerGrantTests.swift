import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `The roles around payees, recovery and events` {
    /// SQLSTATE 42501: insufficient privilege.
    private static let denied = StoreFailure.internalFailure(code: "42501")

    @Test(arguments: [
        "UPDATE countersign.customer SET recovered_at = NULL",
        "UPDATE countersign.payee SET status = 'active'",
        "UPDATE countersign.credential SET approvals_kept_at = clock_timestamp()",
        "INSERT INTO countersign.event (kind, subject_id, document) VALUES ('recovery', gen_random_uuid(), '{}')",
        "UPDATE countersign.event SET position = NULL", "DELETE FROM countersign.event",
        "INSERT INTO countersign.contradiction VALUES (gen_random_uuid(), '', gen_random_uuid())",
        "SELECT countersign.lock_untried(gen_random_uuid(), '{}', '{}')",
        "SELECT countersign.fresh_id()",
    ])
    func `let the service write by the functions alone`(sql: String) async throws {
        try await withDatabase { test in
            let database = await test.open(size: 1)
            await #expect(throws: Self.denied) {
                try await database.query(Statement("denied", .write, Bytes(sql.utf8)))
            }
        }
    }

    @Test(arguments: [TestDatabase.Role.auditor, .op])
    func `let nobody else call them`(role: TestDatabase.Role) async throws {
        try await withDatabase { test in
            let database = await test.open(as: role, size: 1)
            for sql in [
                "SELECT countersign.remove_payee(NULL, 1, NULL, '[]')",
                """
                SELECT countersign.recover_customer(NULL, 1, NULL, NULL, NULL, false, '{}', '{}', '{}',
                    '{}', '{}', '{}', '[]')
                """,
                "SELECT countersign.record_refused_recovery(NULL, '[]')",
                "SELECT countersign.place_events(1)", "SELECT * FROM countersign.event",
                "SELECT countersign.claim_orders(1, interval '1 minute', true)",
                "SELECT countersign.record_contradiction(NULL, NULL, 1, '', '', '', '', '[]')",
            ] {
                await #expect(throws: Self.denied, "\(sql)") {
                    try await database.query(Statement("denied", .write, Bytes(sql.utf8)))
                }
            }
        }
    }

    @Test(arguments: [
        "SELECT countersign.remove_payee(p.subject_id, c.version, p.id, '[]') FROM countersign.payee p JOIN countersign.customer c USING (subject_id)",
        """
        SELECT countersign.recover_customer(subject_id, version, clock_timestamp(), NULL, NULL, false,
            '{}', '{}', '{}', '{}', '{}', '{}', '[]') FROM countersign.customer
        """,
        "SELECT countersign.record_refused_recovery(subject_id, '[]') FROM countersign.customer",
    ])
    func `let the functions do nothing without evidence`(sql: String) async throws {
        try await withDatabase { test in
            try await test.sql(
                """
                WITH c AS (INSERT INTO countersign.customer (customer_id, subject_id)
                           VALUES ('c-1', gen_random_uuid()) RETURNING subject_id)
                INSERT INTO countersign.payee (id, subject_id, account, name, confirmed_at, usable_at,
                       new_until)
                SELECT gen_random_uuid(), subject_id, 'bban:1', 'x', now(), now(), now() FROM c
                """)
            let database = await test.open(size: 1)
            await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                try await database.query(Statement("forbidden", .write, Bytes(sql.utf8)))
            }
        }
    }
}
