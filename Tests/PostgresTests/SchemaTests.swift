import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `What the database never lets happen` {
    /// An approved action, and statements against its rows.
    private func withApproval(
        _ body: (DecisionWorld, AskedAction) async throws -> Void
    ) async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            #expect(
                try await world.bank.decide(world.command(.approve, asked, customer)).isDecided)
            try await body(world, asked)
        }
    }

    @Test func `not even a superuser changes or drops what is append-only`() async throws {
        try await withApproval { world, _ in
            let month = try await world.text(
                "SELECT 'evidence_' || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY_MM')")
            let partition = "countersign.\(month ?? "")"
            for statement in [
                "UPDATE countersign.evidence SET kind = 'action.rejected'",
                "DELETE FROM countersign.evidence", "TRUNCATE countersign.evidence",
                "UPDATE \(partition) SET leaf = ''", "DELETE FROM \(partition)",
                "TRUNCATE \(partition)", "UPDATE countersign.evidence_body SET ciphertext = ''",
                "TRUNCATE countersign.evidence_body CASCADE",
                "DELETE FROM countersign.evidence_body",
                "UPDATE countersign.subject_key SET wrapped = NULL",
                "DELETE FROM countersign.subject_key", "TRUNCATE countersign.subject_key",
                "UPDATE countersign.decision SET outcome = 'rejected'",
                "DELETE FROM countersign.decision", "TRUNCATE countersign.decision CASCADE",
                "DELETE FROM countersign.action", "TRUNCATE countersign.action CASCADE",
                "DELETE FROM countersign.execution_order", "DELETE FROM countersign.credential",
                "UPDATE countersign.policy SET time_zone = 'UTC'", "DELETE FROM countersign.policy",
            ] {
                for replica in [false, true] {
                    // As a replication session triggers rest, unless they are enabled ALWAYS.
                    let text =
                        replica
                        ? "SELECT set_config('session_replication_role', 'replica', false)" : ""
                    await #expect(
                        throws: StoreFailure.internalFailure(code: "CS001"), "\(statement)"
                    ) {
                        try await world.test.run { connection throws(PostgresError) in
                            if replica { try connection.run(script: text) }
                            try connection.run(script: statement)
                        }
                    }
                }
            }
        }
    }

    @Test func `the service writes only through functions`() async throws {
        try await withApproval { world, _ in
            for statement in [
                "INSERT INTO countersign.action SELECT * FROM countersign.action",
                "UPDATE countersign.action SET hold_until = NULL",
                "UPDATE countersign.customer SET failures = 0",
                "UPDATE countersign.counter SET used = 0",
                "UPDATE countersign.execution_order SET settled_at = NULL",
                "INSERT INTO countersign.evidence (id) SELECT id FROM countersign.evidence",
                "DELETE FROM countersign.evidence_body",
                "UPDATE countersign.credential SET status = 'active'",
                "INSERT INTO countersign.policy (version) SELECT version FROM countersign.policy",
                "INSERT INTO countersign.client SELECT * FROM countersign.client",
                "SELECT countersign.write_evidence('[]')",
                "SELECT countersign.add_client(gen_random_uuid(), 'x', 'operator', NULL, NULL, '[]')",
                "SELECT countersign.return_reservations(gen_random_uuid(), gen_random_uuid())",
                "CREATE TABLE countersign.mine (id int)",
                "ALTER TABLE countersign.evidence DISABLE TRIGGER ALL",
                "DROP TABLE countersign.evidence",
                "SET ROLE countersign_owner",
                "SET ROLE countersign_definer",
            ] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "42501"), "\(statement)"
                ) {
                    try await world.database.run { connection throws(PostgresError) in
                        try connection.run(script: statement)
                    }
                }
            }
        }
    }

    @Test func `no order without a decision, and none with other bytes`() async throws {
        try await withApproval { world, asked in
            let other = """
                INSERT INTO countersign.execution_order (action_id, message, message_digest,
                       signature, available_at)
                """
            await #expect(throws: StoreFailure.internalFailure(code: "23514:execution_order_bytes"))
            {
                try await world.test.sql(
                    """
                    \(other) SELECT '\(asked.id.text)', 'other', message_digest, signature,
                           available_at FROM countersign.execution_order
                    """)
            }
            await #expect(
                throws: StoreFailure.internalFailure(code: "23503:execution_order_decision")
            ) {
                try await world.test.sql(
                    """
                    \(other) SELECT gen_random_uuid(), message, message_digest, signature,
                           available_at FROM countersign.execution_order
                    """)
            }
        }
    }

    @Test(arguments: [
        ("execution = 'executed'", "CS005"), ("execution = 'cancelled'", "CS005"),
        ("execution = 'held', hold_until = now(), hold_rule = 'payee_cooling_off'", "CS003"),
        ("\"authorization\" = 'rejected', execution = 'none'", "CS004"),
        ("amount = '1.00', amount_minor = 100", "CS003"), ("payee_name = 'Mallory'", "CS003"),
        ("expires_at = expires_at + interval '1 day'", "CS003"),
    ])
    func `no transition without its evidence, no illegal one, no change of content`(
        assignment: String, code: String
    ) async throws {
        try await withApproval { world, _ in
            await #expect(throws: StoreFailure.internalFailure(code: code)) {
                try await world.test.sql("UPDATE countersign.action SET \(assignment)")
            }
        }
    }

    @Test func `evidence cannot be back-dated, nor choose its transaction`() async throws {
        try await withApproval { world, _ in
            let insert = """
                INSERT INTO countersign.evidence (id, xid, kind, subject_id, leaf, body_commit)
                SELECT %, '3', 'action.approved', subject_id, leaf, body_commit
                  FROM countersign.evidence LIMIT 1
                """
            await #expect(throws: StoreFailure.internalFailure(code: "CS002")) {
                try await world.test.sql(
                    insert.replacing(
                        "%", with: "countersign.uuid7_floor(clock_timestamp() - interval '1 hour')")
                )
            }
            try await world.test.sql(
                insert.replacing(
                    "%",
                    with: """
                        overlay(countersign.uuid7_floor(clock_timestamp())::text
                                placing '7' from 15)::uuid
                        """))
            #expect(
                try await world.count("SELECT count(*) FROM countersign.evidence WHERE xid = '3'")
                    == 0)
        }
    }
}
