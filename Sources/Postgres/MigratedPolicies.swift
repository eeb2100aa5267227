package import Countersign
import Crypto

extension Migration {
    /// The policies that migrations of this program bring, which nobody has to sign: the digest of each
    /// document by its version.
    package static let policies: [Int: Digest] = {
        // The one document of the file, between the quotes of its literal.
        let text = String(decoding: PackageResources.V0007_first_policy_sql, as: UTF8.self)
        let parts = text.split(separator: "$policy$", omittingEmptySubsequences: false)
        precondition(parts.count == 3, "the migration holds one document")
        return [1: sha256(Bytes(parts[1].utf8))]
    }()
}
