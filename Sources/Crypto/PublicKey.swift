package import Countersign

/// A key that verifies signatures, of any kind that this service accepts.
///
/// Two spellings of a key do not exist: what is not the one DER encoding is refused.
package struct PublicKey: Sendable {
    private enum Material {
        case p256(P256PublicKey)
        case p384(EVPKey)
        case rsa(EVPKey, modulusBytes: Int)
        case ed25519(Ed25519PublicKey)
    }

    /// The lengths of an RSA modulus that are accepted. Source: NIST SP 800-131A §3; the upper bound
    /// keeps the work of one verification small.
    package static let rsaBits = 2048...8192
    /// The longest RSA exponent that is accepted; OpenSSL's own bound for long moduli.
    package static let rsaExponentBytesMax = 8
    /// No accepted key has a longer SubjectPublicKeyInfo.
    package static let spkiBytesMax = rsaBits.upperBound / 8 + 64

    /// SubjectPublicKeyInfo in DER: the form that is stored, compared and shown as evidence.
    package let spki: Bytes
    private let material: Material

    /// Takes a key of P-256.
    package init(_ key: P256PublicKey) {
        spki = key.spki
        material = .p256(key)
    }

    /// Takes a key of Ed25519.
    package init(_ key: Ed25519PublicKey) {
        spki = key.spki
        material = .ed25519(key)
    }

    /// Reads the DER of a SubjectPublicKeyInfo.
    package init(spki: Bytes) throws(KeyError) {
        guard spki.first == 0x30 else { throw .malformed }
        guard spki.count <= Self.spkiBytesMax else { throw .unsupported }
        if let point = EllipticCurve.p256.point(inSPKI: spki) {
            self.init(try P256PublicKey(x963: point))
        } else if let point = EllipticCurve.p384.point(inSPKI: spki) {
            try self.init(p384: point)
        } else if let key = try? Ed25519PublicKey(spki: spki) {
            self.init(key)
        } else {
            try self.init(rsa: try EVPKey.rsa(spki: spki))
        }
    }

    /// Reads an uncompressed point of P-256, 65 bytes.
    package init(p256 point: Bytes) throws(KeyError) { self.init(try P256PublicKey(x963: point)) }

    /// Reads an uncompressed point of P-384, 97 bytes.
    package init(p384 point: Bytes) throws(KeyError) {
        guard point.count == EllipticCurve.p384.pointBytes, point[0] == 0x04 else {
            throw .unsupported
        }
        guard let key = EVPKey.p384(point: point) else { throw .notOnCurve }
        spki = EllipticCurve.p384.spkiPrefix + point
        material = .p384(key)
    }

    /// Reads the 32 bytes of a key of Ed25519.
    package init(ed25519 raw: Bytes) throws(KeyError) {
        self.init(try Ed25519PublicKey(raw: raw))
    }

    /// Reads the two numbers of a key of RSA, big-endian without leading zeros.
    ///
    /// Source: RFC 8230 §4, RFC 7518 §6.3.1.
    package init(rsaModulus modulus: Bytes, exponent: Bytes) throws(KeyError) {
        guard let first = modulus.first, first != 0, let head = exponent.first, head != 0 else {
            throw .malformed
        }
        // Before OpenSSL is asked to work on them.
        guard modulus.count <= Self.rsaBits.upperBound / 8,
            exponent.count <= Self.rsaExponentBytesMax,
            let key = EVPKey.rsa(modulus: modulus, exponent: exponent)
        else { throw .unsupported }
        try self.init(rsa: key)
    }

    private init(rsa key: EVPKey) throws(KeyError) {
        let (modulus, exponent) = key.rsaNumbers
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        // An even modulus or exponent is no key of RSA; the exponent 1 would make every text its own
        // signature.
        guard Self.rsaBits.contains(bits), let modulusEnd = modulus.last, modulusEnd & 1 == 1,
            exponent.count <= Self.rsaExponentBytesMax, let exponentEnd = exponent.last,
            exponentEnd & 1 == 1, exponent != [1]
        else { throw .unsupported }
        spki = key.spki
        material = .rsa(key, modulusBytes: modulus.count)
    }

    /// The algorithm that goes with the key.
    package var algorithm: SignatureAlgorithm {
        switch material {
        case .p256: .es256
        case .p384: .es384
        case .rsa: .rs256
        case .ed25519: .eddsa
        }
    }

    /// The key as one of P-256, if it is.
    package var p256: P256PublicKey? {
        if case .p256(let key) = material { key } else { nil }
    }

    /// x and y of a key of P-256 or P-384, without the 0x04 in front; `nil` for every other kind.
    package var point: Bytes? {
        switch material {
        case .p256: Bytes(spki.suffix(EllipticCurve.p256.pointBytes - 1))
        case .p384: Bytes(spki.suffix(EllipticCurve.p384.pointBytes - 1))
        case .rsa, .ed25519: nil
        }
    }

    /// The two numbers of a key of RSA, big-endian without leading zeros; `nil` for every other kind.
    package var rsaNumbers: (modulus: Bytes, exponent: Bytes)? {
        if case .rsa(let key, _) = material { key.rsaNumbers } else { nil }
    }

    /// The same in PEM.
    package var pem: String { PEM.encode(spki, label: "PUBLIC KEY") }

    /// Whether this key made the signature over `message` with its own ``algorithm``.
    ///
    /// ECDSA: strict DER with both numbers in [1, n−1]. RSA: exactly as long as the modulus (RFC 8017
    /// §8.2.2 step 1). Ed25519: 64 bytes. Any other spelling is not valid.
    package func isValid(signature: Bytes, for message: Bytes) -> Bool {
        isValid(signature: signature, for: message, using: algorithm)
    }

    /// As ``isValid(signature:for:)`` with a named algorithm; `false` when the key is not of its kind.
    package func isValid(
        signature: Bytes, for message: Bytes, using algorithm: SignatureAlgorithm
    ) -> Bool {
        switch (material, algorithm) {
        case (.p256(let key), .es256):
            return key.isValid(signature: signature, for: message)
        case (.p384(let key), .es384):
            return EllipticCurve.p384.numbers(inDER: signature) != nil
                && key.isValid(signature, for: message, .ecdsaWithSHA384)
        case (.rsa(let key, let count), .rs256):
            return signature.count == count && key.isValid(signature, for: message, .rsaWithSHA256)
        case (.rsa(let key, let count), .rs1):
            return signature.count == count && key.isValid(signature, for: message, .rsaWithSHA1)
        case (.ed25519(let key), .eddsa):
            return key.isValid(signature: signature, for: message)
        case (.p256, _), (.p384, _), (.rsa, _), (.ed25519, _):
            return false
        }
    }
}

extension PublicKey: Hashable {
    /// Two keys are one when their encodings are.
    package static func == (left: Self, right: Self) -> Bool { left.spki == right.spki }
    /// Hashes the encoding.
    package func hash(into hasher: inout Hasher) { hasher.combine(spki) }
}
