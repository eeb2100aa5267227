import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

/// What the roles of the database cannot do with people and acts.
@Suite struct `The tables of people and acts` {
    /// A world in which a policy was published and an act is open.
    private func withActs(_ body: (PeopleWorld) async throws -> Void) async throws {
        try await PeopleWorld.with { world in
            let (anna, bert) = (try await world.person("anna"), try await world.person("bert"))
            _ = try await world.person("cara")
            let (act, _) = try await world.propose(
                .publishPolicy, try await world.proposal(), by: anna)
            #expect(try await world.sign(act, by: bert).state == .done)
            _ = try await world.propose(
                .publishPolicy, try await world.proposal("payee.cooling_off_s", .integer(90_001)),
                by: anna)
            try await body(world)
        }
    }

    private static let forbidden = [
        "INSERT INTO countersign.policy (version, time_zone, active_from, document) "
            + "SELECT 9, time_zone, active_from, document FROM countersign.policy LIMIT 1",
        "INSERT INTO countersign.act (id, kind, role, document, signatures_needed, created_by, "
            + "created_at, expires_at) SELECT gen_random_uuid(), kind, role, document, "
            + "signatures_needed, created_by, created_at, expires_at FROM countersign.act LIMIT 1",
        "UPDATE countersign.act SET state = 'done', closed_at = now()",
        "INSERT INTO countersign.act_signature SELECT * FROM countersign.act_signature LIMIT 1",
        "INSERT INTO countersign.act_challenge SELECT * FROM countersign.act_challenge LIMIT 1",
        "INSERT INTO countersign.person_key SELECT * FROM countersign.person_key LIMIT 1",
        "UPDATE countersign.person_key SET status = 'active'",
        "UPDATE countersign.person_key SET sign_count = 0",
        "INSERT INTO countersign.person SELECT * FROM countersign.person LIMIT 1",
        "SELECT countersign.take_act_signature('{}', true, '{}', '{}', gen_random_uuid())",
        "SELECT countersign.close_act(id, 'done', '[]') FROM countersign.act",
        "SELECT countersign.put_act_challenge(a, '{}') FROM countersign.act a",
        "SELECT countersign.lock_people('risk')",
    ]

    @Test func `are written by the service through functions only`() async throws {
        try await withActs { world in
            for statement in Self.forbidden {
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

    @Test func `are written by the operator and the auditor not at all`() async throws {
        try await withActs { world in
            let calls = [
                "SELECT countersign.publish_policy('{}', '{}', 9, now(), '[]')",
                "SELECT countersign.create_act('{}', '{}', 10)",
                "SELECT countersign.register_person_key(gen_random_uuid(), gen_random_uuid(), '', "
                    + "'{}', '[]')",
            ]
            for role in [TestDatabase.Role.op, .auditor] {
                let database = await world.test.open(as: role, size: 1)
                for statement in Self.forbidden.prefix(6) + calls {
                    await #expect(
                        throws: StoreFailure.internalFailure(code: "42501"), "\(statement)"
                    ) {
                        try await database.run { connection throws(PostgresError) in
                            try connection.run(script: statement)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: [
        ("UPDATE countersign.act SET document = 'x'", "CS003"),
        ("UPDATE countersign.act SET signatures_needed = 1", "CS003"),
        (
            "UPDATE countersign.act SET state = 'done', closed_at = now() WHERE state = 'open'",
            "CS005"
        ),
        (
            "UPDATE countersign.act SET state = 'open', closed_at = NULL WHERE state = 'done'",
            "CS004"
        ),
        ("UPDATE countersign.person_key SET public_key = 'x'", "CS003"),
        ("UPDATE countersign.person_key SET status = 'active' WHERE status = 'pending'", "CS005"),
        (
            "UPDATE countersign.person_key SET status = 'revoked', revoked_at = now() "
                + "WHERE status = 'active'", "CS005"
        ),
        ("UPDATE countersign.act_signature SET signature = 'x'", "CS001"),
        ("DELETE FROM countersign.act_signature", "CS001"),
        ("DELETE FROM countersign.act", "CS001"),
        ("TRUNCATE countersign.person_key CASCADE", "CS001"),
        ("UPDATE countersign.policy SET document = 'x'", "CS001"),
    ])
    func `change for nobody without evidence, and their content never`(
        statement: String, code: String
    ) async throws {
        try await withActs { world in
            await #expect(throws: StoreFailure.internalFailure(code: code)) {
                try await world.test.sql(statement)
            }
        }
    }

    /// The functions ask again for what the service has checked, whatever it says.
    @Test func `take no signature that was altered on the way to the database`() async throws {
        try await withActs { world in
            let status = try await world.test.sql(
                """
                SELECT countersign.sign_act(to_jsonb(s) || jsonb_build_object(
                           'act_id', a.id, 'challenge_id', c.id, 'client_id', s.client_id,
                           'message', c.message, 'signed_at', clock_timestamp()),
                       '{"sign_count_before": 0, "sign_count": 0, "backup_state": false}', '[]')
                       AS status
                  FROM countersign.act a
                  JOIN countersign.act_challenge c ON c.act_id = a.id
                  JOIN countersign.act_signature s ON s.stage = 'approve'
                 WHERE a.state = 'open'
                """)
            let row = try #require(status.first)
            let text: String = try row["status"]
            #expect(text == "lost_race")
        }
    }
}
