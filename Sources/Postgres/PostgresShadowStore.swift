package import Countersign
import Evidence

/// Keeps shadows and their verdicts in Postgres.
///
/// Every write is one call of a function in `sql/migrations/V0021_shadows.sql`, which is one
/// transaction; the evidence of a beginning and of an end is of the service itself.
package struct PostgresShadowStore: ShadowStore {
    private let database: Database
    private let service: ServiceSubject

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - service: Seals the evidence.
    package init(database: Database, service: ServiceSubject) {
        self.database = database
        self.service = service
    }

    package func asker(
        _ person: ID<Client>
    ) async throws(StoreFailure) -> (person: Person, at: Instant)? {
        try await database.query(.loadShadowAsker, [.id(person)]) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return (try Person(row), try row["now"])
        }
    }

    package func start(
        _ shadow: PolicyShadow, _ document: Bytes
    ) async throws(StoreFailure) -> ShadowCreation {
        let evidence = try await service.seal([PersonEvidence.started(shadow, document)])
        let columns: JSON = [
            "id": .string(shadow.id.text), "label": .string(shadow.label),
            "document": .bytea(document), "started_at": .string(shadow.startedAt.text),
            "until": .string(shadow.until.text),
        ]
        let status = try await database.status(
            .startShadow, [.id(shadow.startedBy.id), .json(columns.encoded), .json(evidence)])
        switch status {
        case "started": return .started
        case "too_many": return .tooManyActive
        case "lost_race": return .lostRace
        default: throw .internalFailure(code: "status")
        }
    }

    package func shadows(
        _ query: ShadowQuery
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant) {
        try await database.query(
            .listShadows, [.id(query.id), .id(query.before), .int(query.limit)]
        ) { rows throws(PostgresError) in
            guard let first = rows.first else { throw .malformedColumn("now") }
            var found: [PolicyShadow] = []
            for row in rows {
                guard let id: ID<Shadow> = try row["id"] else { continue }
                found.append(try PolicyShadow(row, id: id))
            }
            return (found, try first["now"])
        }
    }

    package func report(
        of shadow: PolicyShadow, changesMax: Int
    ) async throws(StoreFailure) -> ShadowReport {
        try await database.run { connection throws(PostgresError) in
            var comparison = PolicyComparison()
            for row in try connection.execute(.countShadowVerdicts, [.id(shadow.id)]) {
                let times: Int = try row["times"]
                let before = try SimulatedOutcome(row, "before")
                guard let before, let after = try SimulatedOutcome(row, "after") else {
                    comparison.countUndecidable(times: times)
                    continue
                }
                comparison.count(
                    before: before, after: after, band: try PolicyComparison.Band(row),
                    times: times)
            }
            let rows = try connection.execute(
                .listShadowChanges, [.id(shadow.id), .int(changesMax)])
            for row in rows {
                guard let before = try SimulatedOutcome(row, "before"),
                    let after = try SimulatedOutcome(row, "after")
                else { continue }
                comparison.list(
                    PolicyComparison.Change(
                        action: try row["action_id"],
                        kind: try word("kind", row, ActionKind.init(rawValue:)),
                        decidedAt: try row["decided_at"], before: before, after: after))
            }
            return ShadowReport(shadow: shadow, comparison: comparison)
        }
    }

    package func end(
        _ shadow: PolicyShadow, by person: Person, at: Instant
    ) async throws(StoreFailure) -> Bool {
        let evidence = try await service.seal([PersonEvidence.ended(shadow, by: person)])
        return try await database.succeeded(
            "ended", .endShadow,
            [.id(person.id), .id(shadow.id), .instant(at), .json(evidence)])
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }
}

extension PolicyShadow {
    /// Reads a row of `list_shadows` that has a shadow.
    fileprivate init(_ row: Row, id: ID<Shadow>) throws(PostgresError) {
        func person(_ id: String, _ prefix: String) throws(PostgresError) -> Person {
            Person(
                id: try row[id], name: try row[prefix + "_name"],
                role: try word(prefix + "_role", row, PersonRole.init(rawValue:)))
        }
        var end: (by: Person, at: Instant)?
        if let at: Instant = try row["ended_at"] { end = (try person("ended_by", "ender"), at) }
        self.init(
            id: id, label: try row["label"], digest: try row["digest"],
            startedBy: try person("started_by", "starter"), startedAt: try row["started_at"],
            until: try row["until"], end: end, doneUntil: try row["done_until"],
            forgottenAt: try row["forgotten_at"])
    }
}

extension SimulatedOutcome {
    /// Reads the columns `…_outcome` and `…_rule`; `nil` for `undecidable`.
    fileprivate init?(_ row: Row, _ prefix: String) throws(PostgresError) {
        let rule: String? = try row[prefix + "_rule"]
        self.init(word: try row[prefix + "_outcome"], rule: rule)
    }
}

extension PolicyComparison.Band {
    /// Reads the columns `currency` and `band_minor`; `nil` for what is no transfer.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let code: String = try row["currency"], let currency = try? Currency(code) else {
            return nil
        }
        self.init(currency: currency, from: try row["band_minor"])
    }
}
