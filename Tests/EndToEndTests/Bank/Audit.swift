import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

extension TestBank {
    /// Checks that the callers, the database, the evidence and core banking tell the same story.
    ///
    /// - Parameters:
    ///   - acknowledged: Every approval that a caller was told of.
    ///   - logIsKept: Whether an instance runs, which gives the last records their positions.
    ///   - sourceLocation: Where the test asks.
    /// - Throws: When the books cannot be read; what they should not say is recorded as an issue.
    func audit(
        _ acknowledged: [Acknowledged], logIsKept: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await settleOrders()
        let decisions = try await decisions()
        let bookings = try bookings()
        let booked = Dictionary(grouping: bookings, by: \.actionID.text)
        for approval in acknowledged {
            let decision = try #require(
                decisions[approval.action], "an acknowledged approval is lost",
                sourceLocation: sourceLocation)
            #expect(decision.evidence == approval.evidence, sourceLocation: sourceLocation)
            #expect(decision.execution == "executed", sourceLocation: sourceLocation)
            #expect(
                booked[approval.action]?.map(\.messageDigest) == [sha256(approval.message)],
                "booked once, with the signed bytes", sourceLocation: sourceLocation)
        }
        for (action, entries) in booked {
            #expect(
                entries.map(\.messageDigest.hex) == decisions[action].map { [$0.digest] },
                "what core banking booked was approved byte for byte, once",
                sourceLocation: sourceLocation)
        }
        #expect(try await contradictions() == [], sourceLocation: sourceLocation)
        let (ending, output) = try await run(["evidence", "verify"], as: "countersign_auditor")
        #expect(ending == .exited(0), "\(output)", sourceLocation: sourceLocation)
        #expect(output.contains(", 0 faults"), sourceLocation: sourceLocation)
        if logIsKept {
            try await auditLog(
                acknowledged.map(\.evidence), spans: acknowledged.compactMap(\.span),
                sourceLocation: sourceLocation)
            // I15: what was promised is there.
            let promises = acknowledged.compactMap(\.promise)
            guard !promises.isEmpty else { return }
            let (ending, output) = try await checkPromises(
                promises.map(line), promiseSigner().verifierKey)
            #expect(ending == .exited(0), "\(output)", sourceLocation: sourceLocation)
            #expect(
                output.contains("\(promises.count) promises kept, 0 not due yet, 0 broken"),
                "\(output)", sourceLocation: sourceLocation)
        }
    }

    /// Checks that the log is whole, and holds what callers were told is recorded.
    ///
    /// - Parameters:
    ///   - evidence: What callers were told of.
    ///   - notes: What left the service, beside what the mirror has.
    ///   - spans: When they were told.
    ///   - sourceLocation: Where the test asks.
    /// - Throws: When the log cannot be read; what it should not say is recorded as an issue.
    func auditLog(
        _ evidence: [String], notes: Set<Bytes> = [], spans: [Span] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await until("everything has its position") {
            try await count(
                """
                SELECT count(*) FROM countersign.evidence e WHERE NOT EXISTS
                    (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id)
                """) == 0
        }
        let names = evidence.map { "'\($0)'" }.joined(separator: ", ")
        if !evidence.isEmpty {
            let found = try await count(
                "SELECT count(*) FROM countersign.log_leaf WHERE evidence_id IN (\(names))")
            #expect(found == evidence.count, sourceLocation: sourceLocation)
        }
        let (ending, output) = try await run(["evidence", "fsck"], as: "countersign_auditor")
        #expect(ending == .exited(0), "\(output)", sourceLocation: sourceLocation)
        // Read before the log, which has to have it.
        let published = notes.union(mirrored().map { [$0] } ?? [])
        var replay = try await LogReplay(self)
        try await replay.check(notes: published, spans: spans)
        #expect(replay.faults == [], sourceLocation: sourceLocation)
    }

    private struct Decision {
        let evidence: String
        let digest: String
        let execution: String
    }

    private func decisions() async throws -> [String: Decision] {
        let rows = try await sql(
            """
            SELECT a.id::text AS action, d.evidence_id::text AS evidence,
                   encode(d.message_digest, 'hex') AS digest, a.execution
              FROM countersign.decision d JOIN countersign.action a ON a.id = d.action_id
             WHERE d.outcome = 'approved'
            """)
        var decisions: [String: Decision] = [:]
        for row in rows {
            decisions[try row["action"]] = Decision(
                evidence: try row["evidence"], digest: try row["digest"],
                execution: try row["execution"])
        }
        return decisions
    }

    /// Which rules of the database's story are broken; each names rows that must not be there.
    private func contradictions() async throws -> [String] {
        var broken: [String] = []
        for (rule, rows) in Self.rules
        where try await count("SELECT count(*) FROM (\(rows)) AS rows") > 0 {
            broken.append(rule)
        }
        return broken
    }

    private static let rules: [(String, String)] = [
        (
            "an approval has exactly one evidence of it",
            """
            SELECT FROM countersign.decision d WHERE outcome = 'approved'
               AND (SELECT array_agg(e.id) FROM countersign.evidence e
                     WHERE e.action_id = d.action_id AND e.kind = 'action.approved')
                   IS DISTINCT FROM ARRAY[d.evidence_id]
            """
        ),
        (
            "evidence of an approval is of a decision",
            """
            SELECT FROM countersign.evidence e WHERE kind = 'action.approved' AND NOT EXISTS
                   (SELECT FROM countersign.decision d WHERE d.evidence_id = e.id)
            """
        ),
        (
            "an approved action has a decision, and the other way round",
            """
            SELECT FROM countersign.action a WHERE ("authorization" = 'approved') <> EXISTS
                   (SELECT FROM countersign.decision d
                     WHERE d.action_id = a.id AND d.outcome = 'approved')
            """
        ),
        (
            "an executed order has exactly one evidence of it",
            """
            SELECT FROM countersign.action a WHERE (execution = 'executed') <>
                   ((SELECT count(*) FROM countersign.evidence e
                     WHERE e.action_id = a.id AND e.kind = 'order.executed') = 1)
            """
        ),
        (
            "what is cancelled is not executed",
            """
            SELECT FROM countersign.action a JOIN countersign.receipt r ON r.action_id = a.id
             WHERE a."authorization" = 'cancelled' OR a.execution = 'cancelled'
            """
        ),
        (
            "a challenge is used once",
            """
            SELECT challenge_id FROM countersign.decision WHERE challenge_id IS NOT NULL
             GROUP BY challenge_id HAVING count(*) > 1
            """
        ),
    ]
}
