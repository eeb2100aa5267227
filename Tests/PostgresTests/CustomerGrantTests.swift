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
        (
            "payee.removed",
            """
            SELECT countersign.remove_payee(subject_id, c.version, p.id, EVIDENCE)
              FROM countersign.payee p JOIN countersign.customer c USING (subject_id)
            """
        ),
        (
            "recovery",
            """
            SELECT countersign.recover_customer(subject_id, version, clock_timestamp(), NULL, NULL, false,
                '{}', '{}', '{}', '{}', '{}', '{}', EVIDENCE) FROM countersign.customer
            """
        ),
        (
            "attempt.failed",
            """
            SELECT countersign.record_refused_recovery(subject_id, EVIDENCE) FROM countersign.customer
            """
        ),
    ])
    func `let the functions do nothing without evidence, or with more than theirs`(
        kind: String, sql: String
    ) async throws {
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
            let right = "jsonb_build_object('kind', '\(kind)', 'subject_id', subject_id)"
            for beside in [
                "'[]'", "jsonb_build_array(\(right), \(right) || '{\"kind\": \"order.executed\"}')",
                "jsonb_build_array(\(right), \(right) || jsonb_build_object('subject_id', gen_random_uuid()))",
            ] {
                let sql = sql.replacing("EVIDENCE", with: beside)
                await #expect(throws: StoreFailure.internalFailure(code: "CS005"), "\(beside)") {
                    try await database.query(Statement("forbidden", .write, Bytes(sql.utf8)))
                }
            }
        }
    }

    @Test(arguments: [
        ("recovery", ["recovery", "credential.revoked", "action.cancelled"], true),
        ("recovery", ["recovery", "payee.added"], false),
        ("credential.revoked", ["credential.revoked", "action.cancelled"], true),
        ("credential.revoked", ["credential.revoked", "credential.revoked"], false),
        ("action.approved", ["action.approved", "action.held", "payee.added"], true),
        ("action.approved", ["action.approved", "order.executed"], false),
        ("action.approved", ["action.held", "action.approved"], false),
        ("request.replayed", ["request.replayed"], true),
        ("request.replayed", ["request.replayed", "request.replayed"], false),
    ])
    func `let a change tell of its own consequences only`(
        kind: String, told: [String], isTaken: Bool
    ) async throws {
        try await withDatabase { test in
            let subject = "00000000-0000-7000-8000-000000000001"
            let entries = told.map { #"{"kind": "\#($0)", "subject_id": "\#(subject)"}"# }
            let demand =
                "SELECT countersign.demand_evidence('[\(entries.joined(separator: ", "))]', "
                + "'\(kind)', '\(subject)')"
            if isTaken {
                try await test.sql(demand)
            } else {
                await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                    try await test.sql(demand)
                }
            }
        }
    }
}
