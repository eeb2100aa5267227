import Countersign
import Crypto
import Evidence

/// Reads policy documents. A published document never changes, so what was read of one is kept by the
/// digest of its bytes; which one is in force is still asked of the database every time.
///
/// The version is no part of what is kept: a bank that goes back to an earlier policy publishes the
/// same bytes again under a new number.
final class PolicyReader: Sendable {
    private let read = Locked<[Digest: PolicyRules]>([:])

    /// Reads the columns `policy_version`, `policy_digest` and `policy_document`.
    ///
    /// - Throws: ``PostgresError/malformedColumn(_:)`` for a document that is not valid: nothing is
    ///   decided under a policy that cannot be read.
    func policy(_ row: Row) throws(PostgresError) -> Policy {
        let digest: Digest = try row["policy_digest"]
        let rules = try rules(row, digest)
        return Policy(version: try row["policy_version"], digest: digest, rules: rules)
    }

    private func rules(_ row: Row, _ digest: Digest) throws(PostgresError) -> PolicyRules {
        if let known = read.withLock({ $0[digest] }) { return known }
        let document: Bytes = try row["policy_document"]
        guard let json = JSON(recorded: document),
            let rules = try? PolicyRules(document: json)
        else { throw .malformedColumn("policy_document") }
        read.withLock { $0[digest] = rules }
        return rules
    }
}
