import Countersign
import Crypto
import Evidence

/// Signs checkpoints of the log: with a key in a file, or through an external command, such as the tool of an
/// HSM. While the key changes, the old and the new one sign side by side.
struct LogSigner: Sendable {
    /// One key and where its signatures come from.
    struct Key: Sendable {
        let verifierKey: VerifierKey
        /// Blocks for as long as the other end takes; `nil` when it made nothing.
        let sign: @Sendable (Bytes) -> Bytes?
    }

    /// The current key first.
    let keys: [Key]

    /// How long an external command may take: the database waits for it.
    private static let deadline = Duration.seconds(5)

    /// The checkpoint with a line of each key; `nil` when one of them made no valid signature: a checkpoint
    /// that only some can verify is none.
    func sign(_ checkpoint: Checkpoint) -> SignedNote? {
        let text = checkpoint.text
        let lines = keys.compactMap { key in
            key.verifierKey.signature(on: text) { key.sign($0) ?? [] }
        }
        guard lines.count == keys.count, !lines.isEmpty else { return nil }
        return SignedNote(text: text, signatures: lines)
    }

    /// A private key in memory.
    static func file(_ key: Ed25519PrivateKey, name: String) -> Key {
        Key(
            verifierKey: VerifierKey(name: name, kind: .ed25519, publicKey: key.publicKey),
            sign: { text in
                do throws(OpenSSLFailure) { return try key.sign(text) } catch { return nil }
            })
    }

    /// A program that reads the text and writes the 64 bytes of its signature.
    static func command(_ program: String, _ verifierKey: VerifierKey) -> Key {
        Key(
            verifierKey: verifierKey,
            sign: { text in
                do throws(ChildProcess.FilterFailure) {
                    return try ChildProcess.filter([program], input: text, deadline: deadline)
                } catch { return nil }
            })
    }
}

extension Configuration {
    /// What signs checkpoints; `nil` when nothing does.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func logSigner() throws(ConfigurationError) -> LogSigner? {
        guard
            let current = try logKey(
                log.key, "log.key", log.signCommand, log.verifierKey, "log.verifier_key")
        else { return nil }
        let old = try logKey(
            log.oldKey, "log.old_key", log.oldSignCommand, log.oldVerifierKey,
            "log.old_verifier_key")
        return LogSigner(keys: old.map { [current, $0] } ?? [current])
    }

    /// Refuses programs that others can change, for whoever is about to run them.
    func checkSignCommands() throws(ConfigurationError) {
        if development { return }
        for (path, setting) in [
            (log.signCommand, "log.sign_command"), (log.oldSignCommand, "log.old_sign_command"),
        ] {
            guard let path else { continue }
            try ExternalProgram(path: path.text, setting: setting).checkOwner()
        }
    }

    /// From the file, or from the program in its place.
    private func logKey(
        _ file: FilePath?, _ fileSetting: String, _ program: FilePath?, _ verifierKey: String?,
        _ verifierKeySetting: String
    ) throws(ConfigurationError) -> LogSigner.Key? {
        guard let origin = evidence.origin else { return nil }
        if let file {
            return LogSigner.file(
                try SecretFile(path: file.text, setting: fileSetting).ed25519(), name: origin)
        }
        guard let program else { return nil }
        guard let key = verifierKey.flatMap({ VerifierKey(text: $0) }), key.kind == .ed25519,
            key.name == origin
        else {
            throw ConfigurationError(
                "\(verifierKeySetting) is no verifier key of Ed25519 with the name evidence.origin")
        }
        return LogSigner.command(program.text, key)
    }
}
