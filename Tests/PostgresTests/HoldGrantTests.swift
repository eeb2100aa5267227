import Countersign
import Postgres
import TestSupport
import Testing

/// What ends a hold early beside two people: nothing.
@Suite struct `Holds in the database` {
    private func status(_ world: HoldWorld, _ call: String) async throws -> String {
        let rows = try await world.bank.test.sql(call)
        let row = try #require(rows.first)
        return try row["status"]
    }

    @Test func `are ended by the service in no other way`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            _ = try await world.proposed(.releaseHold, action)
            for statement in [
                "UPDATE countersign.action SET execution = 'ready'",
                "UPDATE countersign.action SET hold_until = clock_timestamp()",
                "UPDATE countersign.execution_order SET available_at = clock_timestamp()",
                "UPDATE countersign.act SET state = 'done', closed_at = now()",
                "SELECT countersign.release_execution(subject_id, id, '[]') "
                    + "FROM countersign.action",
                "SELECT countersign.advance_action(id, '[]', NULL, 'ready') "
                    + "FROM countersign.action",
            ] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "42501"), "\(statement)"
                ) {
                    try await world.bank.database.run { connection throws(PostgresError) in
                        try connection.run(script: statement)
                    }
                }
            }
            for role in [TestDatabase.Role.op, .auditor] {
                let database = await world.bank.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501")) {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(
                            script: "SELECT countersign.end_hold('{}', '{}', '{}', '[]', '[]')")
                    }
                }
            }
            #expect(try await world.execution(action) == .held)
        }
    }

    /// The functions ask again for what the service has checked, whatever it says.
    @Test func `do not end before their time, nor by one person, whatever the service says`()
        async throws
    {
        try await HoldWorld.with { world in
            let action = try await world.held()
            let act = try await world.proposed(.releaseHold, action)
            _ = try await world.people.acts.challenge(act, for: world.bert.person)
            #expect(
                try await status(
                    world,
                    """
                    SELECT countersign.release_action(a.subject_id, c.version, a.id, a.seq, false, '[]')
                           AS status FROM countersign.action a
                      JOIN countersign.customer c USING (subject_id)
                    """) == "lost_race")
            // The proposer's signature under the other one's question, as either of them.
            for person in [world.anna, world.bert] {
                #expect(
                    try await status(
                        world,
                        """
                        SELECT countersign.end_hold(to_jsonb(s) || jsonb_build_object(
                                   'client_id', '\(person.person.text)', 'challenge_id', c.id,
                                   'message', c.message, 'signed_at', clock_timestamp()),
                               '{"sign_count_before": 0, "sign_count": 0, "backup_state": false}',
                               ARRAY[s.client_id], '[]', '[]') AS status
                          FROM countersign.act_signature s
                          JOIN countersign.act_challenge c ON c.act_id = s.act_id AND c.state = 'live'
                        """) == "lost_race")
            }
            #expect(
                try await status(
                    world,
                    """
                    SELECT countersign.end_hold('{}', '{}', '{}', '[]', '[]') AS status
                    """) == "lost_race")
            #expect(try await world.execution(action) == .held)
        }
    }

    @Test func `leave no act done whose hold did not end in the same transaction`() async throws {
        try await HoldWorld.with { world in
            let action = try await world.held()
            _ = try await world.proposed(.releaseHold, action)
            for evidence in ["NULL", "(SELECT last_evidence_id FROM countersign.action)"] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                    try await world.bank.test.sql(
                        """
                        UPDATE countersign.act SET state = 'done', closed_at = now(),
                               last_evidence_id = \(evidence)
                        """)
                }
            }
            await #expect(throws: StoreFailure.internalFailure(code: "23514:act_role_of_kind")) {
                try await world.bank.test.sql(
                    """
                    INSERT INTO countersign.act (id, kind, role, document, signatures_needed,
                           created_by, created_at, expires_at)
                    SELECT gen_random_uuid(), kind, 'risk', document, 2, created_by, created_at,
                           expires_at FROM countersign.act
                    """)
            }
        }
    }
}
