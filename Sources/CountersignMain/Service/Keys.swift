import Countersign
import Crypto
import Evidence

extension Configuration {
    /// Reads the key-encryption key and makes what seals evidence with it.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func evidenceKeys() throws(ConfigurationError) -> (EvidenceSealer, KeyEncryptionKey) {
        guard let origin = evidence.origin else {
            throw ConfigurationError("evidence.origin is missing")
        }
        guard let keyEncryption = KeyEncryptionKey(try keyEncryptionKey().exposed) else {
            throw ConfigurationError("evidence.key_encryption_key must be 32 bytes")
        }
        let sealer = EvidenceSealer(
            log: origin, keyEncryption: keyEncryption, entropy: .openSSL)
        return (sealer, keyEncryption)
    }

    /// From the file, or from the program in its place.
    private func keyEncryptionKey() throws(ConfigurationError) -> Redacted<Bytes> {
        if let file = evidence.keyEncryptionKey {
            return try SecretFile(path: file.text, setting: "evidence.key_encryption_key").key32()
        }
        guard let program = evidence.keyEncryptionCommand else {
            throw ConfigurationError("evidence.key_encryption_key is missing")
        }
        return try SecretProgram(path: program.text, setting: "evidence.key_encryption_command")
            .key32()
    }

    /// The public key of the bank's identity system; `nil` when none is configured.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func identityKey() throws(ConfigurationError) -> IdentityKey? {
        guard let file = identity.key else { return nil }
        let pem = try SecretFile(path: file.text, setting: "identity.key").text()
        do throws(KeyError) {
            return try IdentityKey(pem: pem)
        } catch {
            throw ConfigurationError(
                "the file of the setting identity.key is no Ed25519 or P-256 public key in PEM")
        }
    }
}
