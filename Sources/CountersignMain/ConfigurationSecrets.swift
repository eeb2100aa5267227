import Countersign
import Crypto
import Foundation

/// A file that holds a secret; its content never enters a message.
struct SecretFile {
    let path: String
    /// The setting that named the file, for messages.
    let setting: String

    /// The content without white space at its ends.
    func text() throws(ConfigurationError) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else {
            throw ConfigurationError("the file of the setting \(setting) is not UTF-8 text")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A key of 32 bytes, which the file holds as they are or as 64 hex digits.
    func key32() throws(ConfigurationError) -> Redacted<Bytes> {
        guard let key = Redacted<Bytes>(key32: try bytes()) else {
            throw ConfigurationError(
                "the file of the setting \(setting) must hold 32 bytes, raw or as 64 hex digits")
        }
        return key
    }

    /// A private key of Ed25519, in PEM.
    func ed25519() throws(ConfigurationError) -> Ed25519PrivateKey {
        let pem = try text()
        do throws(KeyError) {
            return try Ed25519PrivateKey(pem: pem)
        } catch {
            throw ConfigurationError(
                "the file of the setting \(setting) is no Ed25519 private key in PEM")
        }
    }

    /// The content as it is.
    func bytes() throws(ConfigurationError) -> Bytes {
        do {
            return Bytes(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw ConfigurationError("the file of the setting \(setting) cannot be read")
        }
    }

    /// Refuses a file that users other than its owner and group can read or change.
    ///
    /// The group may read: that is how Debian hands a private key to a service.
    func checkMode() throws(ConfigurationError) {
        guard try fileMode(path, setting: setting) & 0o027 == 0 else {
            throw ConfigurationError(
                "the file of the setting \(setting) can be read by others or changed by its "
                    + "group: chmod 600 or 640")
        }
    }
}

/// A program that hands out a secret, such as the tool of an HSM or of a vault.
struct SecretProgram {
    let path: String
    /// The setting that named the program, for messages.
    let setting: String

    /// How long it may take: a vault is asked over the network, and nobody waits for a start.
    static let deadline = Duration.seconds(10)

    /// Runs it, without arguments and without input, for a key of 32 bytes, raw or as 64 hex digits.
    ///
    /// What it writes to standard error goes nowhere: it could hold the key.
    func key32(within deadline: Duration = deadline) throws(ConfigurationError) -> Redacted<Bytes> {
        guard let output = ChildProcess.filter([path], input: [], deadline: deadline) else {
            throw ConfigurationError(
                "the program of the setting \(setting) did not end with the status 0 and a key "
                    + "within \(Int(deadline.inSeconds)) seconds")
        }
        guard let key = Redacted<Bytes>(key32: output) else {
            throw ConfigurationError(
                "the program of the setting \(setting) must write 32 bytes, raw or as 64 hex digits"
            )
        }
        return key
    }

    /// Refuses a program that users other than its owner can change: it would be run as this one.
    func checkMode() throws(ConfigurationError) {
        guard try fileMode(path, setting: setting) & 0o022 == 0 else {
            throw ConfigurationError(
                "the program of the setting \(setting) can be changed by others: chmod 755 or less")
        }
    }
}

extension Redacted where Value == Bytes {
    /// Reads a key of 32 bytes, as they are or as 64 hex digits; `nil` when it is neither.
    fileprivate init?(key32 content: Bytes) {
        if content.count == 32 {
            self.init(content)
            return
        }
        guard let text = String(validating: content, as: UTF8.self),
            let key = Hex.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            key.count == 32
        else { return nil }
        self.init(key)
    }
}

/// The permissions of a file, or of what a symbolic link leads to.
private func fileMode(_ path: String, setting: String) throws(ConfigurationError) -> Int {
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    do {
        let attributes = try FileManager.default.attributesOfItem(atPath: target)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
    } catch {
        throw ConfigurationError("the file of the setting \(setting) cannot be read")
    }
}

extension Configuration {
    /// Refuses keys and passwords that other users of the machine can read, and programs that they can change.
    func checkSecrecy(
        _ given: [String: GivenValue], command: Command
    ) throws(ConfigurationError) {
        if development { return }
        for setting in Setting.all where command.uses(setting) {
            if let file = setting.file(self)?.text {
                switch setting.kind {
                case .keyFile: try SecretFile(path: file, setting: setting.name).checkMode()
                case .program: try SecretProgram(path: file, setting: setting.name).checkMode()
                case .plain, .yesOrNo, .secret: break
                }
            }
            guard setting.isSecret, let value = given[setting.name] else { continue }
            if value.text.hasPrefix("file:") {
                let path = String(value.text.dropFirst("file:".count))
                try SecretFile(path: path, setting: setting.name).checkMode()
            } else if Self.hasPassword(value.text) {
                try checkPlace(of: value, setting: setting)
            }
        }
    }

    private func checkPlace(
        of value: GivenValue, setting: Setting
    ) throws(ConfigurationError) {
        switch value.source {
        case .environment: break
        case .file(let path, _):
            try SecretFile(path: path, setting: setting.name).checkMode()
        case .flag:
            // Every user of the machine can list the arguments of every process.
            throw ConfigurationError(
                "the setting \(setting.name) holds a password, which \(setting.flag) would show "
                    + "to every user of this machine: use file:PATH or the environment")
        }
    }

    /// Whether a connection string carries a password in any of libpq's spellings.
    private static func hasPassword(_ text: String) -> Bool {
        if text.contains("password") { return true }
        guard let scheme = text.range(of: "://"),
            let at = text[scheme.upperBound...].firstIndex(of: "@")
        else { return false }
        return text[scheme.upperBound..<at].contains(":")
    }
}
