import Countersign
import Crypto
import Foundation

/// The demo's folder: its database's folder, with everything else of the latest run in one below it.
///
/// The folder below is locked as long as the demo runs, and cleared when the next one begins.
struct DemoHome: Sendable {
    /// Names the private Postgres; an unprivileged user's data is in it.
    let directory: String
    /// Keys, configuration, core banking's books, logs.
    let run: String
    private let lock: FileHandle

    /// The bank of the story, as passkeys and messages name it.
    static let relyingPartyID = "bank.example"
    static let origin = "https://bank.example"
    /// A picture of 8 × 8 points, which stands for the bank's logo.
    static let icon =
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAFUlEQVR42m"
        + "NgYKhjcGKIAkInIIsBABGwAjXRZ+WKAAAAAElFTkSuQmCC"
    static let coreKeyID = "countersign-demo"
    /// The name of its log.
    static let logOrigin = "countersign.demo/1"

    var configuration: String { run + "/countersign.conf" }
    var journal: String { run + "/core-banking.journal" }
    var coreKey: String { run + "/core-signing-key.pem" }
    var corePublicKey: String { run + "/core-signing-key.pub.pem" }
    var payees: String { run + "/payees.jsonl" }
    private var keyEncryptionKey: String { run + "/key-encryption-key" }
    var logKey: String { run + "/log-key.pem" }
    var promiseKey: String { run + "/promise-key.pem" }
    /// Where the log is copied to.
    var mirror: String { run + "/log" }
    private var identityKey: String { run + "/identity-system.pub.pem" }

    /// Finds or makes the folder and takes it.
    ///
    /// - Parameters:
    ///   - named: What was asked for; `nil` for `.countersign/demo` of the checkout.
    ///   - project: The folder of the checkout; `nil` for the current one.
    /// - Throws: ``CommandFailure``, also when another demo runs there.
    init(_ named: String?, project: String?) throws(CommandFailure) {
        let place = named ?? (project ?? ".") + "/.countersign/demo"
        directory = URL(filePath: place).standardizedFileURL.resolvingSymlinksInPath().path
        run = directory + "/run"
        do {
            // Nobody else may enter: keys are in there.
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            for folder in [directory, run] {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: mode)
            }
        } catch {
            throw CommandFailure("cannot create the folder \(run)")
        }
        guard let handle = FileHandle(forReadingAtPath: run) else {
            throw CommandFailure("cannot open the folder \(run)")
        }
        guard flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure("another demo runs in \(directory); --dir takes another folder")
        }
        lock = handle
    }

    /// Removes what an earlier run left.
    func clear() throws(CommandFailure) {
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: run) {
                try FileManager.default.removeItem(atPath: run + "/" + name)
            }
        } catch {
            throw CommandFailure("cannot clear \(run)")
        }
    }

    /// Makes all keys that a bank makes once, and keeps the identity system's own.
    ///
    /// - Returns: What signs for the identity system: no file of the service holds it.
    /// - Throws: ``CommandFailure``, or ``OpenSSLFailure`` when a key cannot be made.
    func makeKeys() throws -> IdentitySigningKey {
        try write(Hex.encode(EntropySource.openSSL(32)) + "\n", to: keyEncryptionKey)
        try write(try Ed25519PrivateKey.generate().pem, to: logKey)
        try write(try Ed25519PrivateKey.generate().pem, to: promiseKey)
        try makeFolder(mirror)
        let core = try Ed25519PrivateKey.generate()
        try write(core.pem, to: coreKey)
        try write(core.publicKey.pem, to: corePublicKey)
        let identity = try Ed25519PrivateKey.generate()
        try write(identity.publicKey.pem, to: identityKey)
        return .ed25519(identity)
    }

    /// Writes the file that every command of the demo is given by `--config`.
    ///
    /// - Parameters:
    ///   - database: The connection string of the service's role.
    ///   - corePort: Where core banking listens.
    /// - Throws: ``CommandFailure``.
    func writeConfiguration(database: String, corePort: Int) throws(CommandFailure) {
        try write(
            """
            database.url = \(database)
            listen.port = 0
            rp.id = \(Self.relyingPartyID)
            rp.name = Demo Bank
            rp.origins = \(Self.origin)
            payment.instrument_name = Demo Bank account
            payment.instrument_icon = \(Self.icon)
            identity.key = \(identityKey)
            evidence.origin = \(Self.logOrigin)
            evidence.key_encryption_key = \(keyEncryptionKey)
            log.key = \(logKey)
            log.tick_milliseconds = 250
            log.mirror = \(mirror)
            promise.key = \(promiseKey)
            # Core banking is reached without TLS here, which nothing but development allows.
            development = true
            core.url = http://127.0.0.1:\(corePort)/executions
            events.url = http://127.0.0.1:\(corePort)/events
            core.signing_key = \(coreKey)
            core.signing_key_id = \(Self.coreKeyID)
            limits.drain_seconds = 2

            """, to: configuration)
    }

    /// Writes a file that only this user can read.
    private func makeFolder(_ path: String) throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("cannot create the folder \(path)")
        }
    }

    func write(_ bytes: Bytes, to path: String) throws(CommandFailure) {
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw CommandFailure("cannot write \(path)") }
    }

    func write(_ text: String, to path: String) throws(CommandFailure) {
        try write(Bytes(text.utf8), to: path)
    }
}
