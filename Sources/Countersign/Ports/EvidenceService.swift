/// What the API offers to auditors. To read evidence is itself evidence, so every call names its reader.
package protocol EvidenceService: Sendable {
    /// A page of records, oldest first.
    func records(
        _ query: EvidenceQuery, reader: ID<Client>
    ) async throws(StoreFailure) -> EvidencePage

    /// One record with the raw bytes that were signed; `nil` when there is none.
    func record(
        _ id: ID<Evidence>, reader: ID<Client>
    ) async throws(StoreFailure) -> EvidenceDetail?

    /// The bundle of the action that a record is about: a file that proves its decision to a stranger.
    ///
    /// - Throws: ``StoreFailure/unavailable`` also until all its records are in a published checkpoint.
    func bundle(
        of id: ID<Evidence>, reader: ID<Client>
    ) async throws(StoreFailure) -> BundleOutcome

    /// Begins an export of all records that match: records it before anything is shown.
    ///
    /// - Parameters:
    ///   - query: Which records; its limit is the length of a page. What is recorded from now on is not in it.
    ///   - format: A word for how it is shown.
    ///   - reader: Who takes it away.
    /// - Returns: Gives the pages one after another.
    /// - Throws: ``StoreFailure``.
    func export(
        _ query: EvidenceQuery, format: String, reader: ID<Client>
    ) async throws(StoreFailure) -> any EvidenceExport
}

/// What came of asking for a bundle.
package enum BundleOutcome: Equatable, Sendable {
    /// The bytes of the file.
    case bundle(Bytes)
    /// There is no such record, or it is of no decided action.
    case notFound
    /// Without a record of this kind it proves nothing, and that one is in a month that was detached; `nil` for the
    /// decision.
    case detached(kind: String?)
}

/// An export of evidence that is under way.
package protocol EvidenceExport: Sendable {
    /// Until when no record is missing that matches: younger ones may still be under way when it began, and an
    /// export that goes on after this one begins here.
    var completeUntil: Instant { get }

    /// The next records, none of which were given before; `nil` after the last, when the export is recorded to
    /// have ended.
    func next() async throws(StoreFailure) -> [EvidenceRecord]?
}

/// Which records to read: those that match everything that is given.
package struct EvidenceQuery: Sendable {
    package let actionID: ID<Action>?
    package let customerID: CustomerID?
    package let credentialID: ID<Credential>?
    /// A word like `action.approved`; an unknown one matches nothing.
    package let kind: String?
    /// Not before this time.
    package let from: Instant?
    /// Before this time.
    package var to: Instant?
    /// Of an action that the bank calls so.
    package var externalID: ExternalID?
    /// A random subject, also of a customer who was erased.
    package var subject: ID<Subject>?
    /// A leaf's outcome, one word; an unknown one matches nothing.
    package var outcome: String?
    /// Decided under this version of the policy.
    package var policyVersion: Int?
    /// Decided under the policy with this digest.
    package var policyDigest: Digest?
    /// About an action whose approval was held, was not, or was by one rule.
    package var hold: HoldFilter?
    /// At most this many; the API asks for 1 to 100.
    package let limit: Int
    /// Only records that come after this one: the ``EvidencePage/next`` of the page before.
    package var after: ID<Evidence>?

    package init(
        actionID: ID<Action>?, customerID: CustomerID?, credentialID: ID<Credential>?,
        kind: String?, from: Instant?, to: Instant?, limit: Int, after: ID<Evidence>?
    ) {
        self.actionID = actionID
        self.customerID = customerID
        self.credentialID = credentialID
        self.kind = kind
        self.from = from
        self.to = to
        self.limit = limit
        self.after = after
    }
}

/// What became of the approval of the action that a record is about.
package enum HoldFilter: Hashable, Sendable {
    case with
    case without
    /// Held by this rule.
    case rule(String)
}

/// Some records, and where to go on.
package struct EvidencePage: Sendable {
    package let records: [EvidenceRecord]
    /// The last record of this page when more follow, else `nil`.
    package let next: ID<Evidence>?
    /// Until when no record is missing that matches: a younger one may have been under way when this was read, and is
    /// behind the cursor when it comes.
    package let completeUntil: Instant

    package init(records: [EvidenceRecord], next: ID<Evidence>?, completeUntil: Instant) {
        self.records = records
        self.next = next
        self.completeUntil = completeUntil
    }
}

/// One record of evidence, as it is shown.
package struct EvidenceRecord: Sendable {
    package let id: ID<Evidence>
    /// A word like `action.approved`.
    package let kind: String
    /// The database's time of what happened.
    package let at: Instant
    package let actionID: ID<Action>?
    /// `nil` when it concerns no customer, or the customer was erased.
    package let customerID: CustomerID?
    package let credentialID: ID<Credential>?
    /// The canonical bytes that are hashed.
    package let leaf: Bytes
    /// The RFC 6962 leaf hash of ``leaf``.
    package let leafHash: Digest
    /// What happened, decrypted; `nil` when it has no body, or its customer was erased.
    package let body: JSON?

    package init(
        id: ID<Evidence>, kind: String, at: Instant, actionID: ID<Action>?,
        customerID: CustomerID?, credentialID: ID<Credential>?, leaf: Bytes, leafHash: Digest,
        body: JSON?
    ) {
        self.id = id
        self.kind = kind
        self.at = at
        self.actionID = actionID
        self.customerID = customerID
        self.credentialID = credentialID
        self.leaf = leaf
        self.leafHash = leafHash
        self.body = body
    }
}

/// One record with all that a third party needs to verify the signature in it again.
package struct EvidenceDetail: Sendable {
    package let record: EvidenceRecord
    /// The bytes that were signed, as stored; `nil` for an record without a signature.
    package let message: Bytes?
    /// The assertion as it came and the public key that it was checked with.
    package let assertion: RecordedAssertion?

    package init(record: EvidenceRecord, message: Bytes?, assertion: RecordedAssertion?) {
        self.record = record
        self.message = message
        self.assertion = assertion
    }
}
