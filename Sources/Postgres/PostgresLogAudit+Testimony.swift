import Countersign
package import Crypto
package import Evidence

extension PostgresLogAudit {
    /// How many cosignatures and timestamps are kept, and how many of them were verified.
    package struct Testimony: Hashable, Sendable {
        package let cosignatures: Int
        package let verifiedCosignatures: Int
        package let timestamps: Int
        package let verifiedTimestamps: Int
    }

    /// Checks all cosignatures and timestamps: that each is as it was recorded, none is gone and none was put
    /// in; and verifies those of known witnesses and authorities.
    ///
    /// - Parameters:
    ///   - witnesses: Whose policy has the witnesses' keys.
    ///   - anchors: In which the paths of authorities may end.
    ///   - policies: Of those authorities, to be taken; none for every one.
    /// - Returns: How many there are, and how many were verified.
    /// - Throws: ``LogFault``, the first; or ``StoreFailure``.
    package func checkTestimony(
        witnesses: TrustPolicy?, anchors: [Certificate], policies: [String]
    ) async throws -> Testimony {
        guard let state = try await state() else {
            return Testimony(
                cosignatures: 0, verifiedCosignatures: 0, timestamps: 0, verifiedTimestamps: 0)
        }
        let cosignatures = try await check(
            .cosignatures(by: witnesses), .logCosignatures, of: state.cosignatures
        ) { row throws(PostgresError) in
            .cosignature(witness: try row["name"], line: try row["line"])
        }
        let timestamps = try await check(
            .timestamps(under: anchors, policies: policies), .logTimestamps, of: state.timestamps
        ) { row throws(PostgresError) in
            .timestamp(authority: try row["name"], response: try row["response"])
        }
        return Testimony(
            cosignatures: cosignatures.count, verifiedCosignatures: cosignatures.verified,
            timestamps: timestamps.count, verifiedTimestamps: timestamps.verified)
    }

    /// Takes all rows up to the end of the chain, beyond which there are none.
    private func check(
        _ empty: TestimonyCheck, _ statement: Statement, of chain: State.Chain,
        _ word: @escaping @Sendable (Row) throws(PostgresError) -> LoggedTestimony.Word
    ) async throws -> TestimonyCheck {
        var check = empty
        var after = Int64.min
        while after < chain.end.number {
            let rows = try await testimony(statement, after, Self.page, word)
            // What was recorded since the state was read is for the next check.
            for row in rows where row.link.number <= chain.end.number { try check.take(row) }
            guard rows.count == Self.page, let last = rows.last else { break }
            after = last.link.number
        }
        try check.finish(chain: chain.end)
        if chain.rows != chain.end.number {
            let first = try await testimony(statement, chain.end.number, 1, word).first
            throw check.beyond(first)
        }
        return check
    }

    private func testimony(
        _ statement: Statement, _ after: Int64, _ limit: Int,
        _ word: @escaping @Sendable (Row) throws(PostgresError) -> LoggedTestimony.Word
    ) async throws(StoreFailure) -> [LoggedTestimony] {
        try await database.query(statement, [.int64(after), .int(limit)]) {
            rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in
                LoggedTestimony(
                    size: try row["size"], note: try row["note"], word: try word(row),
                    microseconds: try row["microseconds"],
                    link: LogLink(number: try row["number"], link: try row["link"]))
            }
        }
    }

    /// Of which records may be missing; `nil` when no month was detached.
    func detached() async throws(StoreFailure) -> LogCheck.Detached? {
        try await database.query(.detachedEvidence) { rows throws(PostgresError) in
            var newest: LogCheck.Detached?
            for row in rows {
                let record = try StoredEvidence(columns: row)
                guard EvidenceVerifier.columnsAgree(record),
                    let month = EvidenceLeaf(decoding: record.leaf)?.outcome,
                    let found = LogCheck.Detached(newest: month, oldestHere: try row["oldest"])
                else { continue }
                if found.newest > newest?.newest ?? "" { newest = found }
            }
            return newest
        }
    }

    /// A row of `log_key`.
    struct KeyRow: Hashable, Sendable {
        let key: String
        let evidence: ID<Countersign.Evidence>
        /// Of the record that it names; `nil` when that has none.
        let position: Int64?
        /// Whether that record is here, if only until its month is detached.
        let hasRecord: Bool
        /// Whether it is one of the log and tells this very key.
        let isTold: Bool

        fileprivate init(_ row: Row) throws(PostgresError) {
            key = try row["verifier_key"]
            evidence = try row["evidence_id"]
            position = try row["position"]
            guard let _: ID<Countersign.Evidence> = try row["id"] else {
                (hasRecord, isTold) = (false, false)
                return
            }
            let record = try StoredEvidence(columns: row)
            let logged: Digest? = try row["logged_hash"]
            hasRecord = true
            isTold = LogCheck.key(toldBy: record) == key && logged?.bytes == record.leafHash
        }
    }

    func logKeys() async throws(StoreFailure) -> [KeyRow] {
        try await database.query(.logKeys) { rows throws(PostgresError) in
            try rows.map { row throws(PostgresError) in try KeyRow(row) }
        }
    }

    /// Whether `log_key` has the keys that records tell, each with its record, and no other.
    ///
    /// - Throws: ``LogFault`` at the position of the record; or ``StoreFailure``.
    func compareKeys(with check: LogCheck) async throws {
        let rows = try await logKeys()
        for told in check.told
        where !rows.contains(where: { $0.key == told.key && $0.evidence == told.evidence }) {
            throw LogFault(.key, at: told.position)
        }
        for row in rows where !check.told.contains(where: { $0.evidence == row.evidence }) {
            // What was told since the state was read is for the next check.
            if row.hasRecord, row.position.map({ $0 >= check.size }) ?? true { continue }
            guard !row.hasRecord, let position = row.position else {
                throw LogFault(.key, at: row.position ?? check.size)
            }
            guard check.mayMiss(row.evidence) else { throw LogFault(.key, at: position) }
        }
    }
}
