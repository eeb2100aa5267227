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
            sign: { ChildProcess.filter([program], input: $0, deadline: deadline) })
    }
}

extension Configuration {
    /// What signs checkpoints; `nil` when nothing does.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func logSigner() throws(ConfigurationError) -> LogSigner? {
        guard let origin = evidence.origin else { return nil }
        var keys: [LogSigner.Key] = []
        if let file = log.key {
            keys.append(try Self.logKey(file, "log.key", origin))
        } else if let program = log.signCommand {
            guard let text = log.verifierKey, let key = VerifierKey(text: text),
                key.kind == .ed25519, key.name == origin
            else {
                throw ConfigurationError(
                    "log.verifier_key is no verifier key of Ed25519 with the name evidence.origin")
            }
            keys.append(LogSigner.command(program.text, key))
        }
        guard !keys.isEmpty else { return nil }
        if let file = log.oldKey { keys.append(try Self.logKey(file, "log.old_key", origin)) }
        return LogSigner(keys: keys)
    }

    private static func logKey(
        _ file: FilePath, _ setting: String, _ origin: String
    ) throws(ConfigurationError) -> LogSigner.Key {
        LogSigner.file(try SecretFile(path: file.text, setting: setting).ed25519(), name: origin)
    }
}
