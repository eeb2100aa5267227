extension Command {
    /// Payees that customers confirmed before this service existed; an operator's act, in evidence.
    static let payeeImport = Command(
        name: "payee import", summary: "Import confirmed payees from a JSON Lines file",
        positionals: [.init(name: "FILE", what: "one payee per line, or - for standard input")],
        settings: ["database.url", "development", "evidence"], required: ["database.url"]
    ) { _ in
        throw CommandFailure.notInThisBuild
    }
}
