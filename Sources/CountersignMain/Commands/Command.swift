/// One subcommand: what it is called, what it takes, and what it does.
struct Command: Sendable {
    /// One word, or up to three for a member of a family: `serve`, `evidence list`, `policy shadow list`.
    let name: String
    /// One line for the list of commands.
    let summary: String
    /// Arguments by position, in order.
    var positionals: [Positional] = []
    /// Flags of this command alone; flags that are settings come from `settings`.
    var options: [Option] = []
    /// The settings that the command reads: names, or groups such as `database`.
    ///
    /// Others are refused as flags, and neither read nor checked when a shared file names them.
    var settings: [String] = []
    /// The names of settings without which, and without whose alternatives, the command cannot start.
    var required: [String] = []
    /// Rules over several settings, checked before `run`.
    var check: @Sendable (Configuration) throws(ConfigurationError) -> Void = { _ in }
    /// Does the work. Whatever it throws ends the program with 1, a `UsageError` with 64.
    let run: @Sendable (Invocation) async throws -> Void

    /// An argument by position.
    struct Positional: Sendable {
        /// As help shows it: `NAME`.
        let name: String
        let what: String
        /// How often it may stand there.
        var count: Count = .one

        enum Count: Sendable { case one, optional, any }
    }

    /// A flag of one command.
    struct Option: Sendable {
        /// Without the leading dashes: `role`.
        let name: String
        /// What stands for the value in help; `nil` for a switch that takes none.
        let placeholder: String?
        let what: String
        var isRequired = false
    }

    /// Whether the command reads the setting of that name.
    func uses(_ setting: Setting) -> Bool {
        settings.contains(setting.name) || settings.contains(setting.group)
    }
}

/// One run of a command: what was typed, and the configuration that it gave.
struct Invocation: Sendable {
    private let line: CommandLineArguments
    let configuration: Configuration

    init(line: CommandLineArguments, configuration: Configuration) {
        self.line = line
        self.configuration = configuration
    }

    /// The arguments by position; their number has been checked.
    var positionals: [String] { line.positionals }

    /// The value of an option of this command, the last one when it was repeated.
    func option(_ name: String) -> String? { line.options[name] }

    /// Whether a switch of this command is there.
    func has(_ name: String) -> Bool { line.switches.contains(name) }
}

/// The command line is not one that the program understands; it exits with 64.
struct UsageError: Error, Equatable {
    let message: String
    let hint: String

    init(_ message: String, command: Command? = nil) {
        self.message = message
        hint = "see: countersign \(command.map { $0.name + " " } ?? "")--help"
    }
}
