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
        let raw = [UInt8](repeating: 0x41, count: 32)
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
                #expect(try key.key32().exposed == raw)
            } else {
                #expect(throws: ConfigurationError.self) { try key.key32() }
            }
        }
    }

    @Test(arguments: [
        ("printf %032d 7", true), ("printf '%064d\\n' 7", true),
        ("printf %031d 7", false), ("printf %064d 7 | tr 0 g", false), ("true", false),
        ("printf %032d 7; exit 3", false), ("yes", false), ("printf %032d 7; sleep 60", false),
    ])
    func `takes a key that a program writes in time`(script: String, isKey: Bool) throws {
        let file = try TemporaryFile("#!/bin/sh\n\(script)\n", mode: 0o700)
        defer { file.delete() }
        let program = SecretProgram(path: file.path, setting: "evidence.key_encryption_command")
        let deadline = Duration.seconds(script.contains("sleep") ? 1 : 60)
        if isKey {
            #expect(try program.key32(within: deadline).exposed.count == 32)
        } else {
            let message = message {
                _ = try program.key32(within: deadline)
                return Configuration()
            }
            #expect(message?.contains("evidence.key_encryption_command") == true)
            #expect(message?.contains("0000") == false)
        }
    }

    @Test func `takes no key from a program that cannot be run`() throws {
        let file = try TemporaryFile("#!/bin/sh\nprintf %032d 7\n", mode: 0o600)
        defer { file.delete() }
        for path in [file.path, "/nowhere"] {
            #expect(throws: ConfigurationError.self) {
                try SecretProgram(path: path, setting: "s").key32()
            }
        }
    }

    @Test(arguments: ["log.sign_command", "evidence.key_encryption_command"])
    func `refuses a program that others can change, or that PATH would choose`(
        name: String
    ) throws {
        let file = try TemporaryFile("#!/bin/sh\n", mode: 0o755)
        defer { file.delete() }
        let flag = try #require(Setting.named(name)).flag
        #expect(throws: Never.self) { try read([flag, file.path], [:]) }
        for mode in [0o775, 0o757] {
            try file.setMode(mode)
            #expect(message { try read([flag, file.path], [:]) }?.contains(name) == true)
            #expect(throws: Never.self) { try read([flag, file.path, "--development"], [:]) }
        }
        #expect(message { try read([flag, "cat"], [:]) }?.contains("absolute path") == true)
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
