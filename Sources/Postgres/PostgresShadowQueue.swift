package import Countersign

/// What shadows have to decide, as the deciding transactions left it.
package struct PostgresShadowQueue: ShadowQueue {
    private let database: Database
    private let policies = PolicyReader()

    /// - Parameter database: As the role `countersign_service`.
    package init(database: Database) { self.database = database }

    package func incomplete() async throws(StoreFailure) -> [EvaluatedShadow] {
        let policies = policies
        return try await database.query(.incompleteShadows) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in
                EvaluatedShadow(id: try row["id"], policy: try policies.draft(row))
            }
        }
    }

    package func undecided(
        by shadow: ID<Shadow>, limit: Int, reach: ShadowReach
    ) async throws(StoreFailure) -> [RecordedVerdict] {
        try await database.query(
            .undecidedByShadow, [.id(shadow), .int(limit), .bool(reach == .whole)]
        ) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try RecordedVerdict(row) }
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
