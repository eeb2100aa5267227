extension Command {
    /// A named system or person that may call the API, and its first key.
    static let clientAdd = Command(
        name: "client add", summary: "Add a client of the API and print its key, once",
        positionals: [.init(name: "NAME", what: "the system or person")],
        options: [
            .init(
                name: "role", placeholder: "ROLE",
                what: "backend, core, auditor, risk, officer, privacy or operator",
                isRequired: true)
        ],
        settings: ["database.url", "development", "evidence"], required: ["database.url"]
    ) { _ in
        throw CommandFailure.notInThisBuild
    }
}
