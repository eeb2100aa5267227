package import Countersign

/// Authenticated encryption with one 256-bit key. Source: NIST SP 800-38D.
///
/// The nonce is the caller's: for one key it must never repeat.
package struct AES256GCM: Sendable {
    /// The length of a key.
    package static let keyBytes = 32
    /// The length of a nonce. Source: NIST SP 800-38D §5.2.1.1.
    package static let nonceBytes = 12
    /// The length of the tag that follows the ciphertext; never a shorter one.
    package static let tagBytes = 16
    /// OpenSSL counts bytes in 32 bits, and nothing that this service keeps comes near it.
    package static let plaintextBytesMax = 64 << 20

    private let key: SecretBytes

    /// Takes exactly 32 bytes; anything else is `nil`.
    package init?(key: Bytes) {
        guard key.count == Self.keyBytes else { return nil }
        self.key = SecretBytes(key)
    }

    /// Encrypts `plaintext` (at most ``plaintextBytesMax`` bytes).
    ///
    /// - Parameters:
    ///   - plaintext: What nobody without the key may read.
    ///   - nonce: 12 bytes, never used before with this key.
    ///   - data: Bytes that are not encrypted but must be the same again when opening.
    /// - Returns: The ciphertext followed by its 16-byte tag.
    package func seal(_ plaintext: Bytes, nonce: Bytes, authenticating data: Bytes) -> Bytes {
        precondition(nonce.count == Self.nonceBytes, "a nonce has 12 bytes")
        precondition(
            plaintext.count <= Self.plaintextBytesMax && data.count <= Self.plaintextBytesMax,
            "at most 64 MiB are sealed at once")
        return key.withBytes { key in
            let sealed = GCMContext().seal(plaintext, key: key, nonce: nonce, authenticating: data)
            return sealed.ciphertext + sealed.tag
        }
    }

    /// The plaintext of what ``seal(_:nonce:authenticating:)`` made, or `nil` when any of the bytes,
    /// the nonce, the data or the key is another.
    package func open(_ sealed: Bytes, nonce: Bytes, authenticating data: Bytes) -> Bytes? {
        guard nonce.count == Self.nonceBytes, sealed.count >= Self.tagBytes,
            sealed.count <= Self.plaintextBytesMax + Self.tagBytes,
            data.count <= Self.plaintextBytesMax
        else { return nil }
        return key.withBytes { key in
            GCMContext().open(
                Bytes(sealed.dropLast(Self.tagBytes)), tag: Bytes(sealed.suffix(Self.tagBytes)),
                key: key, nonce: nonce, authenticating: data)
        }
    }
}
