import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// Months of evidence whose time is over.
@Suite struct `A month of evidence` {
    private static let month = OldMonth.name

    private func with(
        _ body: (LogWorld, PostgresLog, Administration) async throws -> Void
    ) async throws {
        try await OldMonth.with { old in try await body(old.world, old.log, old.administration) }
    }

    @Test func `is detached when its time is over, and the log still stands`() async throws {
        try await with { world, log, administration in
            try await world.record(2)
            let size = try #require(try await world.sequence(log))
            #expect(size >= 5)
            let result = try await administration.detachEvidence(
                of: Self.month, retentionDays: 1826)
            guard case .detached(let content) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(content.records == 3 && content.positions?.count == 3)
            try await world.sequence(log)
            let audit = PostgresLogAudit(database: await world.test.open(as: .auditor, size: 1))
            #expect(
                try await audit.completeness(of: size)
                    == .init(unsequenced: 0, missing: 0, altered: 0))
            let left = try await world.test.sql(
                """
                SELECT (SELECT count(*) FROM countersign.evidence_2019_01) AS there,
                       (SELECT count(*) FROM countersign.evidence WHERE id < '0169') AS here,
                       (SELECT count(*) FROM countersign.log_leaf WHERE evidence_id < '0169') AS positions,
                       (SELECT string_agg(leaf_member(leaf, 'outcome'), ',') FROM countersign.evidence
                         WHERE kind = 'evidence.detached') AS told
                """.replacing("'0169'", with: "'01690000-0000-0000-0000-000000000000'")
                    .replacing("leaf_member", with: "countersign.leaf_member"))
            let row = try #require(left.first)
            let counts: [Int] = [try row["there"], try row["here"], try row["positions"]]
            #expect(counts == [3, 0, 3])
            let told: String? = try row["told"]
            #expect(told == Self.month)
            for statement in [
                "DELETE FROM countersign.evidence_2019_01",
                "UPDATE countersign.evidence_2019_01 SET leaf = 'x'",
                "TRUNCATE countersign.evidence_2019_01",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "CS001"), "\(statement)") {
                    try await world.test.sql(statement)
                }
            }
        }
    }

    @Test func `stays while one of its records is in no published checkpoint`() async throws {
        try await with { _, _, administration in
            let result = try await administration.detachEvidence(of: Self.month, retentionDays: 0)
            #expect(result == .refused(.unsequenced))
        }
    }

    @Test func `stays while its retention is not over, and in production five years`() async throws
    {
        try await with { world, log, administration in
            try await world.sequence(log)
            #expect(
                try await administration.detachEvidence(of: Self.month, retentionDays: 36_500)
                    == .refused(.retention))
            _ = try await Migrator.state(isDevelopment: false, of: world.test.superuser)
            await #expect(throws: StoreFailure.internalFailure(code: "CS001")) {
                _ = try await administration.detachEvidence(of: Self.month, retentionDays: 1825)
            }
        }
    }

    @Test func `stays while a customer with a record in it is under a legal hold`() async throws {
        try await with { world, log, administration in
            try await world.sequence(log)
            try await world.test.sql(
                """
                INSERT INTO countersign.legal_hold (evidence_id, subject_id)
                VALUES (gen_random_uuid(), '11111111-1111-4111-8111-111111111111')
                """)
            #expect(
                try await administration.detachEvidence(of: Self.month, retentionDays: 0)
                    == .refused(.legalHold))
        }
    }

    @Test func `is the oldest one, or stays`() async throws {
        try await with { world, log, administration in
            try await world.sequence(log)
            for month in ["2018-12", "2019-02", "2999-01"] {
                #expect(
                    try await administration.detachEvidence(of: month, retentionDays: 0)
                        == .refused(.unknown), "\(month)")
            }
        }
    }

    @Test func `is nobody's to detach but the operator's`() async throws {
        try await with { world, _, _ in
            for role in [TestDatabase.Role.service, .auditor, .privacy] {
                let database = await world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(role)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(
                            script: """
                                SELECT countersign.detach_evidence_month('2019-01-01', 9999, 3, 0, 2, 0, '', '[]')
                                """)
                    }
                }
            }
        }
    }
}
