import Countersign
import Evidence

/// Reads all records of a query, page by page: nothing of a page is kept when the next one is read.
actor PostgresEvidenceExport: EvidenceExport {
    nonisolated let completeUntil: Instant
    private let store: PostgresEvidenceStore
    private let recordEnd: @Sendable (Int) async throws(StoreFailure) -> Void
    /// What is still to be read; `nil` after the last page.
    private var rest: EvidenceQuery?
    private var count = 0
    private var hasEnded = false

    /// - Parameters:
    ///   - store: Reads and opens records.
    ///   - query: Which records, with the length of a page.
    ///   - completeUntil: Until when no record is missing that matches.
    ///   - recordEnd: Records that so many were given.
    init(
        store: PostgresEvidenceStore, query: EvidenceQuery, completeUntil: Instant,
        recordEnd: @escaping @Sendable (Int) async throws(StoreFailure) -> Void
    ) {
        self.store = store
        self.completeUntil = completeUntil
        self.recordEnd = recordEnd
        rest = query
    }

    func next() async throws(StoreFailure) -> [EvidenceRecord]? {
        guard var query = rest else {
            if !hasEnded { try await recordEnd(count) }
            hasEnded = true
            return nil
        }
        let (found, hasMore) = try await store.stored(query)
        query.after = found.last?.record.id
        rest = hasMore ? query : nil
        count += found.count
        return found.map(store.opened)
    }
}
