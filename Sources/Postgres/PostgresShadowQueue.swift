package import Countersign
import Crypto
import Evidence

/// What shadows have to decide, as the deciding transactions left it.
package struct PostgresShadowQueue: ShadowQueue {
    private let database: Database
    /// What was read of a document, by the digest of its bytes; `nil` for one that cannot be read.
    private let read = KnownRules()

    /// - Parameter database: As the role `countersign_service`.
    package init(database: Database) { self.database = database }

    package func incomplete() async throws(StoreFailure) -> [EvaluatedShadow] {
        let read = read
        return try await database.query(.incompleteShadows) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in
                let digest: Digest = try row["policy_digest"]
                let rules = read.rules(of: try row["policy_document"], digest)
                return EvaluatedShadow(
                    id: try row["id"],
                    policy: rules.map { Policy(version: 0, digest: digest, rules: $0) })
            }
        }
    }

    package func undecided(
        by shadow: ID<Shadow>, limit: Int
    ) async throws(StoreFailure) -> [ShadowedDecision] {
        try await database.query(
            .undecidedByShadow, [.id(shadow), .int(limit)]
        ) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try ShadowedDecision(row) }
        }
    }

    package func record(
        _ verdicts: [ShadowVerdict], of shadow: ID<Shadow>
    ) async throws(StoreFailure) -> Set<ID<Evidence>> {
        let json = JSON.array(verdicts.map(\.columns)).encoded
        return try await database.query(
            .recordShadowVerdicts, [.id(shadow), .json(json)]
        ) { rows throws(PostgresError) in
            Set(try rows.map { row throws(PostgresError) in try row["evidence_id"] })
        }
    }

    package func advance(_ shadow: ID<Shadow>) async throws(StoreFailure) {
        try await database.query(.advanceShadow, [.id(shadow)])
    }
}

/// Documents that were read, since one is needed twice a second.
private final class KnownRules: Sendable {
    private let known = Locked<[Digest: PolicyRules?]>([:])
    /// Documents that are remembered; there are never so many shadows at once.
    private static let knownMax = 16

    func rules(of document: Bytes, _ digest: Digest) -> PolicyRules? {
        if let rules = known.withLock({ $0[digest] }) { return rules }
        let rules = JSON(recorded: document).flatMap { try? PolicyRules(document: $0) }
        known.withLock { known in
            if known.count >= Self.knownMax { known = [:] }
            known[digest] = .some(rules)
        }
        return rules
    }
}

extension ShadowedDecision {
    fileprivate init(_ row: Row) throws(PostgresError) {
        let recorded: Bytes = try row["inputs"]
        var inputs: (content: ActionContent, state: RecordedState)?
        if let content = try ActionColumns.content(row),
            let state = RecordedState(decoding: recorded)
        {
            inputs = (content, state)
        }
        self.init(
            evidence: try row["evidence_id"], before: try RecordedVerdict.outcome(row),
            inputs: inputs)
    }
}

extension ShadowVerdict {
    /// The row's columns by name.
    fileprivate var columns: JSON {
        [
            "evidence_id": .string(evidence.text), "kind": .optional(kind?.rawValue),
            "currency": .optional(band?.currency.code),
            "band_minor": band.map { .integer($0.from) } ?? .null,
            "before_outcome": .string(before.word), "before_rule": .optional(before.rule),
            "after_outcome": .string(word), "after_rule": .optional(after?.rule),
        ]
    }
}
