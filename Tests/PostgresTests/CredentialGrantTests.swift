import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `The role of the service` {
    /// SQLSTATE 42501: insufficient privilege.
    private static let denied = StoreFailure.internalFailure(code: "42501")

    @Test(arguments: [
        """
        INSERT INTO countersign.credential (id, subject_id, kind, public_key, attestation,
            created_at, seq, head, evidence_id)
        VALUES (gen_random_uuid(), gen_random_uuid(), 'device_key', '', '', now(), 1, '',
            gen_random_uuid())
        """,
        "UPDATE countersign.credential SET status = 'active', revoked_at = NULL",
        "UPDATE countersign.credential SET public_key = ''",
        "DELETE FROM countersign.credential",
        "UPDATE countersign.enrolment SET spent_at = NULL",
        "UPDATE countersign.enrolment_authorization SET spent_at = NULL",
        "INSERT INTO countersign.sca_token (jti) VALUES ('x')",
        "DELETE FROM countersign.sca_token",
        "INSERT INTO countersign.credential_announcement VALUES (gen_random_uuid(), now())",
        "UPDATE countersign.customer SET failures = 0, locked_until = NULL",
        "INSERT INTO countersign.credential_attestation VALUES (gen_random_uuid(), '{}', '{}', '{}')",
        "UPDATE countersign.credential SET failures = 0",
        "SELECT countersign.note_proof(gen_random_uuid(), 1, false, '[]')",
        "SELECT countersign.void_questions('{}', '{}')",
        "SELECT countersign.advance_credential(gen_random_uuid(), '[]')",
        "SELECT countersign.cancel_execution(gen_random_uuid(), gen_random_uuid(), '[]')",
    ])
    func `cannot write credentials but by the functions`(sql: String) async throws {
        try await withDatabase { test in
            let database = await test.open(size: 1)
            await #expect(throws: Self.denied) {
                try await database.query(Statement("denied", .write, Bytes(sql.utf8)))
            }
        }
    }

    @Test(arguments: [TestDatabase.Role.auditor, .op])
    func `alone may enrol and revoke`(role: TestDatabase.Role) async throws {
        try await withDatabase { test in
            let database = await test.open(as: role, size: 1)
            // A name for each: a connection prepares each name once.
            for (number, sql) in [
                "SELECT countersign.revoke_credential(NULL, 1, NULL, 1, NULL, '{}', '{}', '{}', '{}', '[]')",
                """
                SELECT countersign.enrol_credential(NULL, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL, NULL, NULL, '{}', '[]')
                """,
            ].enumerated() {
                await #expect(throws: Self.denied) {
                    try await database.query(
                        Statement("denied \(number)", .write, Bytes(sql.utf8)))
                }
            }
        }
    }

    /// Nothing that it may call lets a role change a thing, or tell of one, without its evidence.
    @Test(arguments: [
        (
            TestDatabase.Role.auditor, "CS007",
            """
            SELECT countersign.record_event('[{"id": "x", "kind": "order.executed", "leaf": "7b7d",
                "subject_id": "00000000-0000-0000-0000-000000000000"}]')
            """
        ),
        (
            .auditor, "CS007",
            """
            SELECT countersign.record_event('[{"id": "x", "kind": "policy.published", "leaf": "7b7d",
                "subject_id": "00000000-0000-0000-0000-000000000000"}]')
            """
        ),
        (.auditor, "42501", "SELECT raw FROM countersign.receipt"),
        (.auditor, "42501", "SELECT reason FROM countersign.receipt"),
        (
            .op, "CS005",
            "SELECT countersign.add_client(gen_random_uuid(), 'x', 'backend', NULL, NULL, '[]')"
        ),
        (
            .op, "CS005",
            """
            SELECT countersign.import_payee(subject_id, gen_random_uuid(), 'bban:1', 'x', '', now(),
                '[]', NULL, NULL) FROM countersign.customer
            """
        ),
    ])
    func `says and does nothing without evidence`(
        role: TestDatabase.Role, code: String, sql: String
    ) async throws {
        try await withDatabase { test in
            try await test.sql(
                """
                INSERT INTO countersign.customer (customer_id, subject_id)
                VALUES ('c-1', gen_random_uuid())
                """)
            let database = await test.open(as: role, size: 1)
            await #expect(throws: StoreFailure.internalFailure(code: code)) {
                try await database.query(Statement("forbidden", .write, Bytes(sql.utf8)))
            }
        }
    }
}
