import Countersign
import Crypto
import Evidence

extension Configuration {
    /// Reads the key-encryption key and makes what seals evidence with it.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func evidenceKeys() throws(ConfigurationError) -> (EvidenceSealer, KeyEncryptionKey) {
        guard let file = evidence.keyEncryptionKey else {
            throw ConfigurationError("evidence.key_encryption_key is missing")
        }
        guard let origin = evidence.origin else {
            throw ConfigurationError("evidence.origin is missing")
        }
        let key = try SecretFile(path: file.text, setting: "evidence.key_encryption_key").key32()
        guard let keyEncryption = KeyEncryptionKey(key.exposed) else {
            throw ConfigurationError("evidence.key_encryption_key must be 32 bytes")
        }
        let sealer = EvidenceSealer(
            log: origin, keyEncryption: keyEncryption, entropy: .openSSL)
        return (sealer, keyEncryption)
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
