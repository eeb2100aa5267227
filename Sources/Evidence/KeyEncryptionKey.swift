package import Countersign
internal import Crypto

/// The key-encryption key: wraps the data keys, one per customer. Read from a file of the operator.
package struct KeyEncryptionKey: Sendable {
    private let cipher: AES256GCM

    /// - Parameter key: 32 bytes; anything else is `nil`.
    package init?(_ key: Bytes) {
        guard let cipher = AES256GCM(key: key) else { return nil }
        self.cipher = cipher
    }

    /// Makes a fresh data key for a subject, wrapped: nonce ‖ AES-256-GCM of 32 random bytes.
    ///
    /// The subject is authenticated with it, so that a wrapped key cannot be moved to another.
    package func wrapFreshKey(for subject: ID<Subject>, entropy: EntropySource) -> Bytes {
        let nonce = entropy(AES256GCM.nonceBytes)
        let key = entropy(AES256GCM.keyBytes)
        return nonce
            + cipher.seal(key, nonce: nonce, authenticating: Bytes(subject.text.utf8))
    }

    /// - Returns: `nil` when the bytes were not wrapped by this key for this subject.
    package func unwrap(_ wrapped: Bytes, for subject: ID<Subject>) -> DataKey? {
        guard wrapped.count > AES256GCM.nonceBytes,
            let key = cipher.open(
                Bytes(wrapped.dropFirst(AES256GCM.nonceBytes)),
                nonce: Bytes(wrapped.prefix(AES256GCM.nonceBytes)),
                authenticating: Bytes(subject.text.utf8))
        else { return nil }
        return AES256GCM(key: key).map { DataKey(cipher: $0, subject: subject) }
    }
}

/// A customer's data key: encrypts the bodies of that customer's evidence.
package struct DataKey: Sendable {
    fileprivate let cipher: AES256GCM
    package let subject: ID<Subject>

    /// Encrypts one body; the evidence ID is authenticated with it.
    func seal(_ body: Bytes, of id: ID<Countersign.Evidence>, nonce: Bytes) -> Bytes {
        cipher.seal(body, nonce: nonce, authenticating: Bytes(id.text.utf8))
    }

    /// - Returns: `nil` when nonce, ciphertext, key and ID do not belong together.
    package func open(
        _ ciphertext: Bytes, of id: ID<Countersign.Evidence>, nonce: Bytes
    ) -> Bytes? {
        cipher.open(ciphertext, nonce: nonce, authenticating: Bytes(id.text.utf8))
    }
}
