import Testing

@testable import CountersignMain

@Suite struct `A command line` {
    private let commands = [
        Command(
            name: "client add", summary: "",
            positionals: [.init(name: "NAME", what: "")],
            options: [
                .init(name: "role", placeholder: "ROLE", what: "", isRequired: true),
                .init(name: "quiet", placeholder: nil, what: ""),
            ],
            settings: ["listen", "development"]
        ) { _ in },
        Command(name: "evidence list", summary: "") { _ in },
        Command(name: "evidence show", summary: "") { _ in },
        Command(
            name: "verify", summary: "",
            positionals: [.init(name: "FILE", what: "", count: .optional)]
        ) { _ in },
    ]

    @Test func `is split into arguments, options, switches and settings`() throws {
        let line = try arguments([
            "client", "add", "--role", "backend", "core", "--quiet", "--listen-port=7",
            "--development", "--config", "file",
        ])
        var expected = CommandLineArguments()
        expected.positionals = ["core"]
        expected.options = ["role": "backend"]
        expected.switches = ["quiet"]
        expected.settings = ["listen.port": "7", "development": "true"]
        expected.configurationFile = "file"
        #expect(line == expected)
    }

    @Test func `takes everything after two dashes as arguments`() throws {
        let line = try arguments(["client", "add", "--role", "core", "--", "--help"])
        #expect(line.positionals == ["--help"])
    }

    @Test(arguments: [
        ([], "no command"),
        (["nothing"], "no such command"),
        (["evidence"], "say which: evidence list, evidence show"),
        (["client", "add", "--role", "backend"], "NAME is missing"),
        (["client", "add", "a"], "--role is missing"),
        (["client", "add", "a", "--role"], "--role needs a value"),
        (["client", "add", "a", "--role", "--quiet"], "--role needs a value"),
        (["client", "add", "a", "--role", "b", "--quiet=yes"], "--quiet takes no value"),
        (["client", "add", "a", "b", "--role", "c"], "too many arguments"),
        (["client", "add", "a", "--role", "c", "--tls-key", "k"], "--tls-key is not a flag"),
        (["client", "add", "a", "--role", "c", "-q"], "two dashes"),
        (["verify", "a", "b"], "too many arguments"),
        (["verify", "--config", "f"], "--config is not a flag"),
        (["verify", "--Hunter2!", "f"], "a flag is not a flag of verify"),
    ])
    func `is refused with the reason`(words: [String], reason: String) {
        let error = #expect(throws: UsageError.self) { try arguments(words) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [["--help"], ["help"], ["help", "evidence"], ["verify", "x", "--help"]])
    func `asks for help`(words: [String]) throws {
        guard case .help(let text) = try CommandLineRequest(words, commands: commands) else {
            Issue.record("no help")
            return
        }
        #expect(text.contains("usage: countersign"))
    }

    @Test func `has an exit status for what became of it`() async {
        let failing = Command(name: "fail", summary: "") { _ in throw CommandFailure("no") }
        let unexpected = Command(name: "crash", summary: "") { _ in throw CancellationError() }
        let working = Command(name: "work", summary: "") { _ in }
        let wrong = Command(name: "wrong", summary: "", settings: ["rp"], required: ["rp.id"]) {
            _ in
        }
        let all = [failing, unexpected, working, wrong]
        #expect(await Main.run(["work"], environment: [:], commands: all) == .success)
        #expect(await Main.run(["fail"], environment: [:], commands: all) == .failure)
        #expect(await Main.run(["crash"], environment: [:], commands: all) == .failure)
        #expect(await Main.run(["wrong"], environment: [:], commands: all) == .usage)
        #expect(await Main.run(["work", "more"], environment: [:], commands: all) == .usage)
    }

    private func arguments(_ words: [String]) throws -> CommandLineArguments {
        guard case .command(_, let line) = try CommandLineRequest(words, commands: commands) else {
            throw CommandFailure("asks for help")
        }
        return line
    }
}

@Suite struct `The list of commands` {
    @Test func `names each command once`() {
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
    }

    @Test(arguments: Command.all.map(\.name))
    func `shows what a command takes`(name: String) throws {
        let words = name.split(separator: " ").map(String.init)
        guard
            case .help(let text) = try CommandLineRequest(["help"] + words, commands: Command.all)
        else {
            Issue.record("no help")
            return
        }
        #expect(text.contains("usage: countersign \(name)"))
    }

    @Test func `has flags that cannot be taken for settings`() {
        for command in Command.all {
            let settings = Set(
                Setting.all.filter(command.uses).map(\.flag) + ["--config", "--help"])
            #expect(command.options.allSatisfy { !settings.contains("--" + $0.name) })
        }
    }
}
