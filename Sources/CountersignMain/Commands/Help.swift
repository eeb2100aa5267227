/// The texts of `--help`, made from the tables of commands and settings.
enum Help {
    /// The list of all commands.
    static func overview(_ commands: [Command]) -> String {
        let names = commands.map { ($0.name, $0.summary) }
        return """
            usage: countersign COMMAND [ARGUMENTS]

            Step-up transaction signing: a customer's key signs exactly one action, and exactly that
            action is executed, once.

            \(columns(names))

            `countersign COMMAND --help` shows what a command takes.
            """
    }

    /// Usage, arguments, flags and settings of one command.
    static func text(of command: Command) -> String {
        var parts = [usage(of: command), command.summary + "."]
        if !command.positionals.isEmpty {
            parts.append(columns(command.positionals.map { ($0.name, $0.what) }))
        }
        var flags = command.options.map { option in
            (["--" + option.name, option.placeholder].compactMap(\.self), option.what)
        }
        if !command.settings.isEmpty {
            flags.append(
                (["--config", "FILE"], "read settings from a file of `name = value` lines"))
        }
        flags.append((["--help"], "show this"))
        parts.append(columns(flags.map { ($0.0.joined(separator: " "), $0.1) }))
        let settings = Setting.all.filter(command.uses)
        if !settings.isEmpty {
            parts.append(
                """
                Settings, each as a flag, as COUNTERSIGN_… in the environment, or in the file (a flag
                wins over the environment, and that over the file):
                """)
            parts.append(settings.map { describe($0, in: command) }.joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n")
    }

    private static func usage(of command: Command) -> String {
        let arguments = command.positionals.map { positional in
            switch positional.count {
            case .one: positional.name
            case .optional: "[\(positional.name)]"
            case .any: "[\(positional.name)…]"
            }
        }
        let needed = command.options.filter(\.isRequired).map { option in
            "--\(option.name) \(option.placeholder ?? "")"
        }
        return "usage: "
            + (["countersign", command.name] + arguments + needed + ["[FLAGS]"])
            .joined(separator: " ")
    }

    /// Two lines: the flag with what it takes, and what it means.
    private static func describe(_ setting: Setting, in command: Command) -> String {
        var text = "  \(setting.flag): \(setting.expects)"
        if command.required.contains(setting.name) {
            text += "; required" + (setting.alternative.map { ", or \($0.flag)" } ?? "")
        }
        if let fallback = setting.fallback { text += "; default \(fallback)" }
        return text + "\n      \(setting.what)"
    }

    /// Two columns, the second starting at one place.
    private static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count + 2) + right
        }.joined(separator: "\n")
    }
}
