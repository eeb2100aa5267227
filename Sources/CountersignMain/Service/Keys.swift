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
        let keyEncryption = try keyEncryptionKey()
        let sealer = EvidenceSealer(
            log: origin, keyEncryption: keyEncryption, entropy: .openSSL)
        return (sealer, keyEncryption)
    }

    /// From the file, or from the program in its place.
    private func keyEncryptionKey() throws(ConfigurationError) -> KeyEncryptionKey {
        if let file = evidence.keyEncryptionKey {
            return try SecretFile(path: file.text, setting: "evidence.key_encryption_key")
                .keyEncryptionKey()
        }
        guard let path = evidence.keyEncryptionCommand else {
            throw ConfigurationError(
                "evidence.key_encryption_key and evidence.key_encryption_command are missing")
        }
        let program = ExternalProgram(path: path.text, setting: "evidence.key_encryption_command")
        if !development { try program.checkOwner() }
        return try program.keyEncryptionKey()
    }

    /// What signs promises of records; `nil` where nothing does.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func promiseSigner() throws(ConfigurationError) -> PromiseSigner? {
        guard let file = promise.key, let origin = evidence.origin else { return nil }
        return PromiseSigner(
            key: try SecretFile(path: file.text, setting: "promise.key").ed25519(), origin: origin,
            within: Seconds(Int64(promise.withinSeconds)))
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

extension PromiseSigner? {
    /// As what the rest of the service asks for promises; it tells when a signature is not made.
    var maker: PromiseMaker {
        guard let signer = self else { return { _, _ in nil } }
        return { evidence, leafHash in
            let promise = signer.promise(of: evidence, leafHash)
            if promise == nil { Log.event(.promiseUnsigned) }
            return promise
        }
    }
}
