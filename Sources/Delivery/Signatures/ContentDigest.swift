package import Countersign
import Crypto

/// The `Content-Digest` field with SHA-256. Source: RFC 9530 §2.
///
/// Alone it protects against accidents only; here it is always covered by a signature.
package enum ContentDigest {
    private static let algorithm = "sha-256"

    /// The field's value for a body.
    package static func value(for body: Bytes) -> String {
        let digest = StructuredFields.Item.bytes(sha256(body).bytes)
        return "\(algorithm)=\(digest.text)"
    }

    /// Whether the field's value names the digest of the body *as it was received*.
    ///
    /// Digests by other algorithms may stand beside it and are not looked at; one by SHA-256 has to be
    /// there.
    package static func matches(_ value: String, body: Bytes) -> Bool {
        guard let members = StructuredFields.dictionary(value),
            let member = members.first(where: { $0.key == algorithm }),
            case .item(let item) = member.value, case .bytes(let digest) = item.item
        else { return false }
        return digest == sha256(body).bytes
    }
}
