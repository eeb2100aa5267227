package import Countersign

/// What verifying costs at least: OpenSSL's `EVP_DigestVerify` with the key kept and nothing around it.
///
/// Only the benchmark of the verifiers measures against it; it checks nothing of the signature's form.
package struct BareVerification: Sendable {
    private let key: EVPKey

    /// Takes a key, parsed once.
    package init(_ key: P256PublicKey) {
        guard let key = EVPKey.p256(point: key.x963) else {
            preconditionFailure("the point of a key is on the curve")
        }
        self.key = key
    }

    /// Whether OpenSSL finds the DER signature to be the key's over `message`, with SHA-256.
    package func isValid(signature: Bytes, for message: Bytes) -> Bool {
        key.isValid(signature, for: message, .ecdsaWithSHA256)
    }
}
