import Countersign
import Crypto
import Evidence

/// Reads policy documents. A document never changes, so what was read of one is kept by the digest
/// of its bytes; which one is in force is still asked of the database every time.
///
/// The version is no part of what is kept: a bank that goes back to an earlier policy publishes the
/// same bytes again under a new number.
final class PolicyReader: Sendable {
    /// `nil` for one that cannot be read.
    private let read = Locked<[Digest: PolicyRules?]>([:])
    /// Documents that are kept: far more than are asked for at one time, whatever a risk team
    /// tries.
    private static let readMax = 64

    /// Reads the columns `policy_version`, `policy_digest` and `policy_document`.
    ///
    /// - Throws: ``PostgresError/malformedColumn(_:)`` for a document that is not valid: nothing is
    ///   decided under a policy that cannot be read.
    func policy(_ row: Row) throws(PostgresError) -> Policy {
        let digest: Digest = try row["policy_digest"]
        guard let rules = try rules(row, digest) else { throw .malformedColumn("policy_document") }
        return Policy(version: try row["policy_version"], digest: digest, rules: rules)
    }

    /// Reads the columns `policy_digest` and `policy_document` of a draft, which has no version.
    ///
    /// - Returns: `nil` for a document that is not valid.
    /// - Throws: ``PostgresError`` for a row without these columns.
    func draft(_ row: Row) throws(PostgresError) -> Policy? {
        let digest: Digest = try row["policy_digest"]
        return try rules(row, digest).map { Policy(version: 0, digest: digest, rules: $0) }
    }

    private func rules(_ row: Row, _ digest: Digest) throws(PostgresError) -> PolicyRules? {
        if let known = read.withLock({ $0[digest] }) { return known }
        let document: Bytes = try row["policy_document"]
        let rules = JSON(recorded: document).flatMap { try? PolicyRules(document: $0) }
        read.withLock { read in
            if read.count >= Self.readMax { read = [:] }
            read[digest] = .some(rules)
        }
        return rules
    }
}
