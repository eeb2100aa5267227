import Countersign
import Crypto

/// What Apple's certificates say of the statement that they are for: the digest of its bytes.
///
/// The format `apple` (WebAuthn L3 §8.8) and App Attest (AA-04) carry it in the same extension.
enum AppleNonce {
    enum Failure: Error {
        /// Not there, or more than once.
        case notOnce
        case malformed
    }

    static let oid = "1.2.840.113635.100.8.2"

    /// Reads SEQUENCE { [1] EXPLICIT OCTET STRING }.
    static func read(from certificate: Certificate) throws(Failure) -> Bytes {
        let extensions = certificate.extensions(oid)
        guard extensions.count == 1 else { throw .notOnce }
        do {
            var reader = try DERReader.only(extensions[0].value).sequence()
            let nonce = try reader.next().explicit(1).octets()
            try reader.end()
            return nonce
        } catch {
            throw .malformed
        }
    }
}
