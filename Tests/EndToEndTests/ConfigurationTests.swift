import Crypto
import Evidence
import Foundation
import Testing

@testable import CountersignMain

@Suite struct `The configuration of a command` {
    @Test func `comes from the file, then the environment, then flags`() throws {
        let file = try TemporaryFile(
            "limits.drain_seconds = 1\nlisten.port = 1\ndelivery.slots = 1")
        defer { file.delete() }
        let configuration = try read(
            ["--config", file.path, "--limits-drain-seconds", "3"],
            ["COUNTERSIGN_LIMITS_DRAIN_SECONDS": "2", "COUNTERSIGN_LISTEN_PORT": "2"])
        #expect(configuration.limits.drainSeconds == 3)
        #expect(configuration.listen.port == 2)
        #expect(configuration.delivery.slots == 1)
        #expect(configuration.database.poolSize == 8)
    }

    @Test func `is found through the environment`() throws {
        let file = try TemporaryFile("listen.port = 81")
        defer { file.delete() }
        #expect(try read([], ["COUNTERSIGN_CONFIG": file.path]).listen.port == 81)
    }

    @Test(arguments: [
        ("listen.port = 1\nlisten.port = 2", "line 2: listen.port is set twice"),
        ("\n# comment\n  listen.prot = 1", "line 3: there is no setting listen.prot"),
        ("hunter2", "line 1: not of the form"),
        ("Hunter 2 = x", "line 1: there is no setting of the name before the `=`"),
        ("listen.port = http", "listen.port (FILE, line 1) must be an integer from 0 to 65535"),
    ])
    func `refuses a wrong file and says where`(text: String, complaint: String) throws {
        let file = try TemporaryFile(text)
        defer { file.delete() }
        let message = message { try read(["--config", file.path], [:]) }
        let expected = complaint.replacing("FILE", with: file.path)
        #expect(message?.contains(expected) == true, "\(message ?? "accepted")")
    }

    @Test func `refuses what looks like a setting in the environment and is none`() {
        let message = message { try read([], ["COUNTERSIGN_LISTEN_PROT": "1"]) }
        #expect(message == "there is no setting for COUNTERSIGN_LISTEN_PROT in the environment")
        #expect(throws: Never.self) { try read([], ["COUNTERSIGN_TEST_DATABASE": "x"]) }
    }

    @Test func `names a wrong secret without showing it`() throws {
        let secret = "host=db password=hunter2\u{7}"
        for message in [
            message({ try read([], ["COUNTERSIGN_DATABASE_URL": secret]) }),
            message({ try read(["--database-url", secret], [:]) }),
            message({ try read(["--database-url=" + secret], [:]) }),
        ] {
            #expect(message?.contains("database.url") == true)
            #expect(message?.contains("hunter2") == false)
        }
    }

    @Test func `refuses a password that every user could list`() throws {
        for secret in ["host=db password=x", "postgresql://service:x@db/countersign"] {
            let message = message { try read(["--database-url", secret], [:]) }
            #expect(message?.contains("would show to every user") == true)
            #expect(try read([], ["COUNTERSIGN_DATABASE_URL": secret]).database.url != nil)
        }
        #expect(throws: Never.self) {
            try read(["--database-url", "postgresql://service@db/countersign"], [:])
        }
    }

    @Test func `reads a secret from a file that only we can read`() throws {
        let file = try TemporaryFile("host=db password=x\n", mode: 0o640)
        defer { file.delete() }
        let flags = ["--database-url", "file:" + file.path]
        #expect(try read(flags, [:]).database.url == Redacted("host=db password=x"))
        for mode in [0o644, 0o660, 0o604] {
            try file.setMode(mode)
            #expect(message { try read(flags, [:]) }?.contains("database.url") == true)
            #expect(throws: Never.self) { try read(flags + ["--development"], [:]) }
        }
    }

    @Test func `refuses a password in a file that others can read`() throws {
        let file = try TemporaryFile("database.url = host=db password=x", mode: 0o644)
        defer { file.delete() }
        let flags = ["--config", file.path]
        #expect(message { try read(flags, [:]) }?.contains("database.url") == true)
        try file.setMode(0o600)
        #expect(throws: Never.self) { try read(flags, [:]) }
    }

    @Test func `refuses a key file that others can read`() throws {
        let file = try TemporaryFile("key", mode: 0o644)
        defer { file.delete() }
        let flags = ["--tls-key", file.path]
        #expect(message { try read(flags, [:]) }?.contains("tls.key") == true)
        #expect(throws: Never.self) { try read(flags + ["--development"], [:]) }
        try file.setMode(0o600)
        #expect(throws: Never.self) { try read(flags, [:]) }
        #expect(message { try read(["--tls-key", "/nowhere"], [:]) }?.contains("tls.key") == true)
    }

    @Test func `takes a key of 32 bytes, raw or as hex`() throws {
        for (text, isKey) in [
            (String(repeating: "A", count: 32), true),
            (String(repeating: "41", count: 32) + "\n", true),
            (String(repeating: "A", count: 31), false), (String(repeating: "4g", count: 32), false),
            ("", false),
        ] {
            let file = try TemporaryFile(text)
            defer { file.delete() }
            let key = SecretFile(path: file.path, setting: "evidence.key_encryption_key")
            if isKey {
                #expect(try Self.isOfAs(key.keyEncryptionKey()))
            } else {
                #expect(throws: ConfigurationError.self) { try key.keyEncryptionKey() }
            }
        }
    }

    /// Whether a key is that of 32 times the letter A.
    private static func isOfAs(_ key: KeyEncryptionKey) throws -> Bool {
        let right = try #require(KeyEncryptionKey([UInt8](repeating: 0x41, count: 32)))
        let subject = EvidenceSealer.serviceSubject
        let wrapped = right.wrapFreshKey(for: subject, entropy: .openSSL)
        return key.unwrap(wrapped, for: subject) != nil
    }

    private static let ofAs = "printf '41%.0s' $(seq 32); echo"

    @Test(arguments: [
        ofAs, "printf '41%.0s' $(seq 32)",
        // What it leaves running holds the pipe, and hinders nobody.
        "sleep 600 & \(ofAs)",
    ])
    func `takes a key that a program writes`(script: String) throws {
        let file = try TemporaryFile("#!/bin/sh\n\(script)\n", mode: 0o700)
        defer { file.delete() }
        let program = ExternalProgram(path: file.path, setting: "evidence.key_encryption_command")
        #expect(try Self.isOfAs(program.keyEncryptionKey(within: .seconds(60))))
    }

    @Test(arguments: [
        ("printf AA%.0s $(seq 31)", "must write 32 random bytes"),
        ("true", "must write 32 random bytes"),
        // A shorter key in hex, which has 32 characters.
        ("printf AA%.0s $(seq 16)", "must write 32 random bytes"),
        ("printf 4g%.0s $(seq 32)", "must write 32 random bytes"),
        ("\(ofAs); exit 3", "ended with the status 3"),
        ("\(ofAs); kill -9 $$", "ended with the status 137"), ("yes A", "writes too much"),
        ("\(ofAs); sleep 600", "took too long"), ("exec /nowhere", "cannot be started"),
    ])
    func `takes none from a program that fails, and shows nothing of what it wrote`(
        script: String, complaint: String
    ) throws {
        let file = try TemporaryFile("#!/bin/sh\n\(script)\n", mode: 0o700)
        defer { file.delete() }
        let program = ExternalProgram(path: file.path, setting: "evidence.key_encryption_command")
        let deadline = Duration.seconds(script.contains("sleep") ? 1 : 60)
        let message = message {
            _ = try program.keyEncryptionKey(within: deadline)
            return Configuration()
        }
        #expect(
            message?.hasPrefix(
                "the program of the setting evidence.key_encryption_command \(complaint)") == true)
        #expect(["AA", "4g", "4141"].allSatisfy { message?.contains($0) == false })
    }

    @Test func `takes no key from a program that cannot be run`() throws {
        let file = try TemporaryFile("#!/bin/sh\n\(Self.ofAs)\n", mode: 0o600)
        defer { file.delete() }
        for path in [file.path, "/nowhere"] {
            let program = ExternalProgram(path: path, setting: "s")
            #expect(throws: ConfigurationError("the program of the setting s cannot be started")) {
                try program.keyEncryptionKey()
            }
        }
    }

    @Test func `refuses a program that others can change, or that is not there`() throws {
        let file = try TemporaryFile("#!/bin/sh\n", mode: 0o755)
        defer { file.delete() }
        let program = ExternalProgram(path: file.path, setting: "log.sign_command")
        #expect(throws: Never.self) { try program.checkOwner() }
        for mode in [0o775, 0o757] {
            try file.setMode(mode)
            #expect(throws: ConfigurationError.self) { try program.checkOwner() }
        }
        #expect(throws: ConfigurationError.self) {
            try ExternalProgram(path: "/nowhere", setting: "log.sign_command").checkOwner()
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `refuses a program of another user's`() throws {
        let file = try TemporaryFile("#!/bin/sh\n", mode: 0o755)
        defer { file.delete() }
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: file.path)
        #expect(throws: ConfigurationError.self) {
            try ExternalProgram(path: file.path, setting: "log.sign_command").checkOwner()
        }
    }

    @Test(arguments: [
        "log.sign_command", "log.old_sign_command", "evidence.key_encryption_command",
    ])
    func `refuses the name of a program that PATH would choose, or env misread`(
        name: String
    ) throws {
        let flag = try #require(Setting.named(name)).flag
        for path in ["cat", "./cat", "/opt/a=b"] {
            let message = message { try read([flag, path], [:]) }
            #expect(message?.contains("absolute path") == true)
        }
    }

    @Test func `says which required setting is missing`() {
        var command = probe
        command.required = ["rp.id"]
        let message = message { try read([], [:], command: command) }
        #expect(message == "probe needs the setting rp.id (--rp-id, or COUNTERSIGN_RP_ID)")
    }

    @Test func `needs a setting or the one in its place, and takes no two`() throws {
        let file = try TemporaryFile("", mode: 0o600)
        defer { file.delete() }
        var command = probe
        command.required = ["evidence.key_encryption_key"]
        let key = ["--evidence-key-encryption-key", file.path]
        let program = ["--evidence-key-encryption-command", "/bin/true"]
        for flags in [key, program] {
            #expect(throws: Never.self) { try read(flags, [:], command: command) }
        }
        let missing = message { try read([], [:], command: command) }
        #expect(missing?.hasSuffix("or evidence.key_encryption_command in its place") == true)
        let both = message { try read(key + program, [:], command: command) }
        #expect(
            both == "evidence.key_encryption_key and evidence.key_encryption_command "
                + "exclude each other")
        let keys = message {
            try read(["--log-key", file.path, "--log-sign-command", "/bin/true"], [:])
        }
        #expect(keys == "log.key and log.sign_command exclude each other")
    }

    @Test func `ignores settings of a shared file that the command does not use`() throws {
        let file = try TemporaryFile("listen.port = wrong\nrp.id = bank.example")
        defer { file.delete() }
        var command = probe
        command.settings = ["rp"]
        let configuration = try read(["--config", file.path], [:], command: command)
        #expect(configuration.rp.id == "bank.example")
        #expect(throws: UsageError.self) {
            try read(["--listen-port", "1"], [:], command: command)
        }
    }
}

@Suite struct `The table of settings` {
    @Test func `is the one of the operator's documentation`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
        #expect(text.contains("\n" + Setting.documentation + "\n"))
    }

    @Test func `names every place of the configuration once`() {
        let places = leaves(of: Configuration(), "").sorted()
        let names = Setting.all.map { $0.name.replacing("_", with: "").replacing(".", with: "") }
        #expect(Set(names).count == Setting.all.count)
        #expect(Set(Setting.all.map(\.environmentName)).count == Setting.all.count)
        #expect(places == names.sorted())
    }

    @Test func `has defaults that are values`() {
        var configuration = Configuration()
        for setting in Setting.all {
            guard let fallback = setting.fallback else { continue }
            #expect(setting.assign(&configuration, fallback), "\(setting.name)")
        }
    }

    /// `privacy.database_url` was once read by nobody, so that the service could erase no customer.
    @Test func `has no setting that no command reads`() {
        let unread = Setting.all.filter { setting in !Command.all.contains { $0.uses(setting) } }
        #expect(unread.map(\.name) == [])
    }

    @Test func `knows every setting that a command names`() {
        for command in Command.all {
            for name in command.settings {
                #expect(Setting.all.contains { $0.name == name || $0.group == name }, "\(name)")
            }
            for name in command.required {
                #expect(Setting.named(name).map(command.uses) == true, "\(name)")
            }
        }
    }

    /// The stored properties that are no groups, as names without dots in lower case.
    private func leaves(of value: Any, _ prefix: String) -> [String] {
        Mirror(reflecting: value).children.flatMap { child -> [String] in
            let name = prefix + (child.label ?? "").lowercased()
            let isGroup =
                Mirror(reflecting: child.value).displayStyle == .struct
                && !(child.value is FilePath)
            return isGroup ? leaves(of: child.value, name) : [name]
        }
    }
}

/// A command that uses every setting.
let probe = Command(
    name: "probe", summary: "", settings: Array(Set(Setting.all.map(\.group)))
) { _ in }

/// Reads a configuration as the program does for that command line.
@discardableResult
func read(
    _ flags: [String], _ environment: [String: String], command: Command = probe
) throws -> Configuration {
    guard
        case .command(_, let line) = try CommandLineRequest(
            [command.name] + flags, commands: [command])
    else { throw CommandFailure("no command") }
    return try Configuration(for: command, line: line, environment: environment)
}

/// What a configuration error says; `nil` when there was none.
func message(_ body: () throws -> Configuration) -> String? {
    do {
        _ = try body()
        return nil
    } catch let error as ConfigurationError {
        return error.message
    } catch {
        return "\(error)"
    }
}

/// A file with a name of its own.
struct TemporaryFile {
    let path: String

    init(_ text: String, mode: Int = 0o600) throws {
        path = NSTemporaryDirectory() + "countersign-" + UUID().uuidString
        try Data(text.utf8).write(to: URL(filePath: path))
        try setMode(mode)
    }

    func setMode(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    func delete() { try? FileManager.default.removeItem(atPath: path) }
}
