package import Countersign

/// A public key of P-256 whose point is known to be on the curve.
package struct P256PublicKey: Sendable {
    /// The uncompressed point: 0x04, x, y; 65 bytes. Source: ANSI X9.63, SEC 1 §2.3.3.
    package let x963: Bytes
    private let key: EVPKey

    /// Reads the forms in which phones send a key: PEM of SubjectPublicKeyInfo (LF or CRLF), base64 of
    /// its DER, or base64 of the 65-byte X9.63 point. Nothing else: no white space around, no second key.
    package init(parsing text: String) throws(KeyError) {
        if let der = PEM.decode(text, label: "PUBLIC KEY") {
            try self.init(spki: der)
            return
        }
        guard text.utf8.count <= PEM.textUnitsMax, let bytes = Base64.decode(text) else {
            throw .malformed
        }
        if bytes.count == 65 {
            try self.init(x963: bytes)
        } else {
            try self.init(spki: bytes)
        }
    }

    /// Reads an uncompressed point of 65 bytes.
    package init(x963: Bytes) throws(KeyError) {
        guard x963.count == 65, x963[0] == 0x04 else { throw .unsupported }
        guard let key = EVPKey.p256(point: x963) else { throw .notOnCurve }
        self.x963 = x963
        self.key = key
    }

    /// Reads the DER of a SubjectPublicKeyInfo.
    package init(spki: Bytes) throws(KeyError) {
        guard spki.first == 0x30 else { throw .malformed }
        guard let point = EllipticCurve.p256.point(inSPKI: spki) else { throw .unsupported }
        try self.init(x963: point)
    }

    /// SubjectPublicKeyInfo in DER, 91 bytes: the form that is stored, compared and shown as evidence.
    package var spki: Bytes { EllipticCurve.p256.spkiPrefix + x963 }

    /// The same in PEM, for `openssl dgst -verify`.
    package var pem: String { PEM.encode(spki, label: "PUBLIC KEY") }

    /// Whether this key made the signature over `message` (ECDSA with SHA-256).
    ///
    /// The signature is strict DER with both numbers in [1, n−1]; any other spelling is not valid.
    package func isValid(signature der: Bytes, for message: Bytes) -> Bool {
        guard let signature = P256Signature(der: der) else { return false }
        return isValid(signature, for: message)
    }

    /// Whether this key made the signature over `message` (ECDSA with SHA-256), written in the format
    /// that the key was enrolled with and in no other.
    package func isValid(
        signature: Bytes, in format: SignatureFormat, for message: Bytes
    ) -> Bool {
        guard let signature = P256Signature(signature, in: format) else { return false }
        return isValid(signature, for: message)
    }

    /// Whether this key made the signature over `message` (ECDSA with SHA-256).
    package func isValid(_ signature: P256Signature, for message: Bytes) -> Bool {
        key.isValid(signature.der, for: message, .ecdsaWithSHA256)
    }
}

extension P256PublicKey: Hashable {
    /// Two keys are one when their points are.
    package static func == (left: Self, right: Self) -> Bool { left.x963 == right.x963 }
    /// Hashes the point.
    package func hash(into hasher: inout Hasher) { hasher.combine(x963) }
}
