/// A command line taken apart against the flags that its command has.
struct CommandLineArguments: Sendable, Equatable {
    var positionals: [String] = []
    var options: [String: String] = [:]
    var switches: Set<String> = []
    /// Settings given as flags, by the setting's name.
    var settings: [String: String] = [:]
    /// The file of `--config`.
    var configurationFile: String?
}

/// What a command line asks for.
enum CommandLineRequest {
    case help(String)
    case command(Command, CommandLineArguments)

    /// Finds the command, then reads the rest as its arguments.
    ///
    /// - Throws: ``UsageError`` that names the flag or command, but no value: it may be a secret.
    init(_ arguments: [String], commands: [Command]) throws(UsageError) {
        guard let first = arguments.first else {
            throw UsageError("no command given")
        }
        if ["help", "--help", "-h"].contains(first) {
            let asked = arguments.dropFirst().joined(separator: " ")
            self = .help(try Self.help(asked, commands: commands))
            return
        }
        if first == "--version" {
            self = try Self(["version"], commands: commands)
            return
        }
        let (command, rest) = try Self.find(arguments, commands: commands)
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        if rest[..<end].contains("--help") || rest[..<end].contains("-h") {
            self = .help(Help.text(of: command))
            return
        }
        var reader = ArgumentReader(command: command, rest: rest)
        self = .command(command, try reader.read())
    }

    private static func help(_ name: String, commands: [Command]) throws(UsageError) -> String {
        if name.isEmpty { return Help.overview(commands) }
        let family = commands.filter { $0.name == name || $0.name.hasPrefix(name + " ") }
        guard !family.isEmpty else { throw UsageError("there is no such command") }
        return family.map(Help.text).joined(separator: "\n\n")
    }

    /// The command with the most words that the line begins with.
    private static func find(
        _ arguments: [String], commands: [Command]
    ) throws(UsageError) -> (Command, ArraySlice<String>) {
        for words in [3, 2, 1] where arguments.count >= words {
            let name = arguments.prefix(words).joined(separator: " ")
            if let command = commands.first(where: { $0.name == name }) {
                return (command, arguments.dropFirst(words))
            }
        }
        let family = commands.filter { $0.name.hasPrefix(arguments[0] + " ") }
        guard family.isEmpty else {
            throw UsageError("say which: \(family.map(\.name).joined(separator: ", "))")
        }
        throw UsageError("there is no such command")
    }
}

/// Walks over the words after the command's name.
private struct ArgumentReader {
    let command: Command
    var rest: ArraySlice<String>
    private var result = CommandLineArguments()

    init(command: Command, rest: ArraySlice<String>) {
        self.command = command
        self.rest = rest
    }

    mutating func read() throws(UsageError) -> CommandLineArguments {
        while let word = rest.popFirst() {
            if word == "--" {
                result.positionals += rest
                break
            } else if word.hasPrefix("--") {
                try readFlag(word.dropFirst(2))
            } else if word.hasPrefix("-"), word != "-" {
                throw UsageError("flags begin with two dashes", command: command)
            } else {
                result.positionals.append(word)
            }
        }
        try checkPositionals()
        for option in command.options where option.isRequired {
            if result.options[option.name] == nil {
                throw UsageError("--\(option.name) is missing", command: command)
            }
        }
        return result
    }

    private mutating func readFlag(_ flag: Substring) throws(UsageError) {
        let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        if let option = command.options.first(where: { $0.name == name }) {
            if option.placeholder == nil {
                guard attached == nil else { throw refused(name, "takes no value") }
                result.switches.insert(name)
            } else {
                result.options[name] = try value(of: name, attached)
            }
        } else if let setting = Setting.all.first(where: { $0.flag == "--" + name }),
            command.uses(setting)
        {
            // A setting that is yes or no may stand alone: `--development`.
            let implied = setting.isSwitch ? "true" : nil
            result.settings[setting.name] = try value(of: name, attached ?? implied)
        } else if name == "config", !command.settings.isEmpty {
            result.configurationFile = try value(of: name, attached)
        } else {
            throw refused(name, "is not a flag of \(command.name)")
        }
    }

    private mutating func value(
        of name: String, _ attached: String?
    ) throws(UsageError) -> String {
        if let attached { return attached }
        guard let next = rest.popFirst(), !next.hasPrefix("--") else {
            throw refused(name, "needs a value")
        }
        return next
    }

    private func checkPositionals() throws(UsageError) {
        let least = command.positionals.count { $0.count == .one }
        let takesAny = command.positionals.contains { $0.count == .any }
        let count = result.positionals.count
        if count < least {
            throw UsageError("\(command.positionals[count].name) is missing", command: command)
        }
        if !takesAny, count > command.positionals.count {
            throw UsageError("too many arguments", command: command)
        }
    }

    /// Names a flag only when it looks like one: a mistyped line may have a secret in its place.
    private func refused(_ name: String, _ why: String) -> UsageError {
        let isName =
            !name.isEmpty && name.utf8.count <= 40
            && name.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 == 0x2D }
        return UsageError("\(isName ? "--" + name : "a flag") \(why)", command: command)
    }
}
