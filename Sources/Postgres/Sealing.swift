import Countersign
import Evidence

extension EvidenceSealer {
    /// Seals drafts, or fails what they belong to.
    ///
    /// - Throws: ``StoreFailure/internalFailure(code:)`` when the customer's key cannot be unwrapped.
    func records(
        _ drafts: [EvidenceDraft], subject: ID<Subject>, wrappedKey: Bytes, at: Instant,
        heads: ChainHeads, after first: Int = 0, toldOf teller: ID<Subject>? = nil
    ) throws(StoreFailure) -> [SealedEvidence] {
        guard
            let records = seal(
                drafts, subject: subject, wrappedKey: wrappedKey, at: at, heads: heads,
                after: first, toldOf: teller)
        else { throw .internalFailure(code: "data_key") }
        return records
    }
}

extension [SealedEvidence] {
    /// As the database's functions take them.
    var json: Bytes { JSON.array(map(\.json)).encoded }
}
