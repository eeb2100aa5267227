import Countersign
import Crypto
import Evidence
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
    func keyEncryptionKey() throws(ConfigurationError) -> KeyEncryptionKey {
        guard let key = KeyEncryptionKey(text: try bytes()) else {
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
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let mode: Int
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: target)
            mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
        } catch {
            throw ConfigurationError("the file of the setting \(setting) cannot be read")
        }
        guard mode & 0o027 == 0 else {
            throw ConfigurationError(
                "the file of the setting \(setting) can be read by others or changed by its "
                    + "group: chmod 600 or 640")
        }
    }
}

extension KeyEncryptionKey {
    /// Reads a key of 32 bytes, as they are or as 64 hex digits; `nil` when it is neither.
    init?(text content: Bytes) {
        if content.count == 32 {
            self.init(content)
            return
        }
        guard let text = String(validating: content, as: UTF8.self),
            let key = Hex.decode(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return nil }
        self.init(key)
    }
}

extension Configuration {
    /// Refuses keys and passwords that other users of the machine can read.
    func checkSecrecy(
        _ given: [String: GivenValue], command: Command
    ) throws(ConfigurationError) {
        if development { return }
        for setting in Setting.all where command.uses(setting) {
            if let file = setting.keyFile(self) {
                try SecretFile(path: file.text, setting: setting.name).checkMode()
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
