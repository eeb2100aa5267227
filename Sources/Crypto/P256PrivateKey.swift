package import Countersign

/// A private key of P-256: the software phone of the demo, a bank's token signer in tests.
package struct P256PrivateKey: Sendable {
    /// What verifies its signatures.
    package let publicKey: P256PublicKey
    private let key: EVPKey

    private init(_ key: EVPKey) throws(KeyError) {
        publicKey = try P256PublicKey(x963: key.point)
        self.key = key
    }

    /// A new key.
    ///
    /// - Throws: ``OpenSSLFailure`` when the generator fails.
    package static func generate() throws -> P256PrivateKey {
        try P256PrivateKey(try EVPKey.generateP256())
    }

    /// Reads PEM of PKCS#8 (`PRIVATE KEY`) or SEC 1 (`EC PRIVATE KEY`), not encrypted.
    package init(pem: String) throws(KeyError) {
        guard
            let der = PEM.decode(pem, label: "PRIVATE KEY")
                ?? PEM.decode(pem, label: "EC PRIVATE KEY")
        else { throw .malformed }
        guard let key = EVPKey.p256(privateDER: der) else { throw .unsupported }
        try self.init(key)
    }

    /// PKCS#8 in PEM, not encrypted.
    package var pem: String { PEM.encode(key.pkcs8, label: "PRIVATE KEY") }

    /// ECDSA with SHA-256 over `message`, in DER.
    package func sign(_ message: Bytes) throws(OpenSSLFailure) -> Bytes {
        try key.signature(over: message, .ecdsaWithSHA256)
    }
}
