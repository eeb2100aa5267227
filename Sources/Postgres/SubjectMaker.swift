package import Countersign
package import Evidence

/// Makes the random stand-in of a customer and its data key.
package struct SubjectMaker: Sendable {
    private let keyEncryption: KeyEncryptionKey
    let entropy: EntropySource

    package init(keyEncryption: KeyEncryptionKey, entropy: EntropySource) {
        self.keyEncryption = keyEncryption
        self.entropy = entropy
    }

    /// A fresh subject with its data key, wrapped.
    private func make() -> (subject: ID<Subject>, wrappedKey: Bytes) {
        // Random, not a UUIDv7: it shall not tell when somebody became a customer. Version 4 by form.
        var bits: UInt128 = 0
        for byte in entropy(16) { bits = bits << 8 | UInt128(byte) }
        bits = bits & ~(0xF << 76) | 0x4 << 76
        bits = bits & ~(0b11 << 62) | 0b10 << 62
        let subject = ID<Subject>(rawValue: bits)
        return (subject, keyEncryption.wrapFreshKey(for: subject, entropy: entropy))
    }

    /// Makes a customer known that is not, under a fresh subject. Another instance may be quicker: what
    /// counts is what is read afterwards.
    ///
    /// - Throws: ``StoreFailure``, also when the key-encryption key is not the one of this database.
    func introduce(_ customer: CustomerID, to database: Database) async throws(StoreFailure) {
        guard try await database.isWrapped(by: keyEncryption) else {
            throw .internalFailure(code: "data_key")
        }
        let (subject, wrapped) = make()
        try await database.query(
            .ensureCustomer, [.text(customer.text), .id(subject), .bytes(wrapped)])
    }
}
