package import Countersign

/// A public key of Ed25519. Source: RFC 8032.
package struct Ed25519PublicKey: Sendable {
    /// The 32 bytes of the key.
    package let raw: Bytes
    private let key: EVPKey

    /// The DER of SubjectPublicKeyInfo up to the key. Source: RFC 8410 §4.
    private static let spkiPrefix: Bytes = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// Takes exactly 32 bytes.
    package init(raw: Bytes) throws(KeyError) {
        guard raw.count == 32 else { throw .malformed }
        guard let key = EVPKey.ed25519(publicKey: raw) else { throw .unsupported }
        self.raw = raw
        self.key = key
    }

    /// Reads PEM of SubjectPublicKeyInfo.
    package init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: "PUBLIC KEY") else { throw .malformed }
        try self.init(spki: der)
    }

    /// Reads the DER of a SubjectPublicKeyInfo.
    package init(spki: Bytes) throws(KeyError) {
        guard spki.count == Self.spkiPrefix.count + 32, spki.starts(with: Self.spkiPrefix) else {
            throw .unsupported
        }
        try self.init(raw: Bytes(spki.suffix(32)))
    }

    /// SubjectPublicKeyInfo in DER, 44 bytes.
    package var spki: Bytes { Self.spkiPrefix + raw }

    /// The same in PEM.
    package var pem: String { PEM.encode(spki, label: "PUBLIC KEY") }

    /// Whether this key made the 64-byte signature over `message`.
    package func isValid(signature: Bytes, for message: Bytes) -> Bool {
        signature.count == 64 && key.isValid(signature, for: message, .ed25519)
    }
}

extension Ed25519PublicKey: Hashable {
    /// Two keys are one when their bytes are.
    package static func == (left: Self, right: Self) -> Bool { left.raw == right.raw }
    /// Hashes the key's bytes.
    package func hash(into hasher: inout Hasher) { hasher.combine(raw) }
}

/// A private key of Ed25519: signs requests to core banking, and tokens in the demo and in tests.
package struct Ed25519PrivateKey: Sendable {
    /// What verifies its signatures.
    package let publicKey: Ed25519PublicKey
    private let key: EVPKey

    /// The DER of an unencrypted PKCS#8 up to the seed. Source: RFC 8410 §7.
    private static let pkcs8Prefix: Bytes = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ]

    private init(_ key: EVPKey) throws(KeyError) {
        publicKey = try Ed25519PublicKey(raw: key.rawPublicKey)
        self.key = key
    }

    /// A new key.
    ///
    /// - Throws: ``OpenSSLFailure`` when the generator fails.
    package static func generate() throws -> Ed25519PrivateKey {
        try Ed25519PrivateKey(try EVPKey.generateEd25519())
    }

    /// Takes the 32-byte seed. Source: RFC 8032 §5.1.5.
    package init(raw seed: Bytes) throws(KeyError) {
        guard seed.count == 32 else { throw .malformed }
        guard let key = EVPKey.ed25519(seed: seed) else { throw .unsupported }
        try self.init(key)
    }

    /// Reads PEM of PKCS#8, not encrypted, as `openssl genpkey -algorithm ed25519` writes it.
    package init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: "PRIVATE KEY") else { throw .malformed }
        guard der.count == Self.pkcs8Prefix.count + 32, der.starts(with: Self.pkcs8Prefix) else {
            throw .unsupported
        }
        try self.init(raw: Bytes(der.suffix(32)))
    }

    /// The 32-byte seed.
    package var raw: Bytes { key.rawSeed }

    /// PKCS#8 in PEM, not encrypted.
    package var pem: String { PEM.encode(Self.pkcs8Prefix + raw, label: "PRIVATE KEY") }

    /// The 64-byte signature over `message`.
    package func sign(_ message: Bytes) throws(OpenSSLFailure) -> Bytes {
        try key.signature(over: message, .ed25519)
    }
}
