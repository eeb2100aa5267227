import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// What of a month stays when it is detached, for the records that rest on it.
@Suite struct `Evidence that is kept` {
    private static let kept = [
        "credential.enrolled", "credential.revoked", "credential.suspended", "policy.published",
        "person.key_registered", "act.approved", "installation.stated", "payee.added", "recovery",
        "subject.erased", "evidence.detached", "log.key", "promise.key",
    ]

    private func detached(_ old: OldMonth) async throws -> ServiceEvidence.DetachedMonth {
        try await old.world.sequence(old.log)
        guard case .detached(let content) = try await old.detach() else {
            throw Unexpected("the month stays")
        }
        try await old.world.sequence(old.log)
        return content
    }

    private func ids(_ table: String, _ old: OldMonth) async throws -> [String] {
        let text = try await old.text(
            "string_agg(id::text, ',' ORDER BY id) FROM countersign.\(table) WHERE id < '0169'"
                .replacing("'0169'", with: "'01690000-0000-0000-0000-000000000000'"))
        return (text ?? "").split(separator: ",").map(String.init)
    }

    @Test func `is of keys, policies, people and what else an audit compares with`() async throws {
        try await OldMonth.with { old in
            for (index, kind) in Self.kept.enumerated() {
                try await old.record(kind, 10 + index)
            }
            try await old.record("challenge.issued", 50)
            let content = try await detached(old)
            let expected = Self.kept.indices.map { OldMonth.id(10 + $0) }
            #expect(try await ids("evidence_kept", old) == expected)
            #expect(try await ids("evidence_known", old) == expected)
            #expect(try await ids("evidence", old) == [])
            #expect(content.kept?.records == Int64(Self.kept.count))
            let months = PostgresDetachedMonths(
                database: await old.world.test.open(as: .auditor, size: 1),
                keyEncryption: old.keyEncryption)
            #expect(try await months.kept(of: OldMonth.name) == content.kept)
        }
    }

    @Test func `is of actions that went on, and of those in which officers had a part`()
        async throws
    {
        try await OldMonth.with { old in
            let (going, over) = (
                "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
            )
            for (number, action) in [(20, going), (21, going), (22, over), (23, over)] {
                try await old.record("challenge.issued", number, action: action)
            }
            try await old.world.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        SET search_path = countersign;
                        SET session_replication_role = replica;
                        ALTER TABLE action DISABLE TRIGGER ALL;
                        INSERT INTO action (id, subject_id, client_id, kind, channel, old_value_digest, new_value,
                               policy_version, "authorization", execution, created_at, expires_at, seq, head,
                               last_evidence_id)
                        SELECT x.id::uuid, '\(OldMonth.customer)', gen_random_uuid(), 'contact_change',
                               'phone', sha256(''), '+4915187650077', 1, 'pending', 'none', now(),
                               now() + interval '1 minute', 2, sha256('\\x00'::bytea || convert_to(x.leaf, 'UTF8')),
                               gen_random_uuid()
                          FROM (VALUES ('\(going)', 'leaf 99'), ('\(over)', 'leaf 23')) AS x (id, leaf)
                        """)
            }
            _ = try await detached(old)
            #expect(try await ids("evidence_kept", old) == [OldMonth.id(20), OldMonth.id(21)])
        }
    }

    @Test func `is nobody's to change or to add to`() async throws {
        try await OldMonth.with { old in
            try await old.record("credential.enrolled", 10)
            _ = try await detached(old)
            for statement in [
                "DELETE FROM countersign.evidence_kept",
                "UPDATE countersign.evidence_kept SET leaf = 'x'",
                "TRUNCATE countersign.evidence_kept",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS001"), "\(statement)") {
                    try await old.world.test.sql(statement)
                }
            }
            for role in [TestDatabase.Role.service, .op, .auditor, .privacy] {
                let database = await old.world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(role)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(
                            script: """
                                INSERT INTO countersign.evidence_kept (id, xid, kind, subject_id, leaf, body_commit,
                                    recorded_at) SELECT id, xid, kind, subject_id, leaf, body_commit, recorded_at
                                  FROM countersign.evidence
                                """)
                    }
                }
            }
        }
    }

    @Test func `lets an erasure name every body of the customer that goes, of whatever month`()
        async throws
    {
        try await OldMonth.with { old in
            let wrapped = old.keyEncryption.wrapFreshKey(
                for: try #require(ID<Subject>(OldMonth.customer)), entropy: .openSSL)
            try await old.world.test.sql(
                """
                INSERT INTO countersign.subject_key VALUES ('\(OldMonth.customer)', '\\x\(Hex.encode(wrapped))')
                """)
            try await old.record("challenge.issued", 10, body: OldMonth.customer)
            // By its kind it is kept, and the next one for its body alone.
            try await old.record("act.proposed", 11, of: OldMonth.service, body: OldMonth.customer)
            try await old.record("evidence.read", 12, of: OldMonth.service, body: OldMonth.customer)
            _ = try await detached(old)
            let database = await old.world.test.open(size: 2)
            let service = ServiceSubject(
                database: database, sealer: old.world.sealer, keyEncryption: old.keyEncryption,
                entropy: .openSSL)
            let privacy = PostgresPrivacyStore(
                database: database, privacy: await old.world.test.open(as: .privacy, size: 1),
                sealer: old.world.sealer, service: service, retentionDays: 0)
            guard
                case .erased(let erased) = try await privacy.erase(
                    CustomerID("c-1"), by: ErasureWorld.officer)
            else {
                Issue.record("not erased")
                return
            }
            #expect(erased.records == 3)
            #expect(
                try await old.text("array_to_string(service_records, ',') FROM countersign.erasure")
                    == [11, 12].map(OldMonth.id).joined(separator: ","))
            #expect(
                try await old.text(
                    "count(*) FROM countersign.evidence_body WHERE subject_id = '\(OldMonth.customer)'"
                )
                    == "0")
        }
    }
}
