extension Command {
    private static let evidenceSettings = ["database.url", "development", "evidence"]

    static let evidenceList = Command(
        name: "evidence list", summary: "List evidence, newest last",
        options: [
            .init(name: "action", placeholder: "ID", what: "only of this action"),
            .init(name: "customer", placeholder: "ID", what: "only of this customer"),
            .init(name: "kind", placeholder: "KIND", what: "only of this kind"),
        ],
        settings: evidenceSettings, required: ["database.url"]
    ) { _ in
        throw CommandFailure.notInThisBuild
    }

    static let evidenceShow = Command(
        name: "evidence show", summary: "Show one record with everything that proves it",
        positionals: [.init(name: "ID", what: "the record")],
        settings: evidenceSettings, required: ["database.url"]
    ) { _ in
        throw CommandFailure.notInThisBuild
    }

    static let evidenceVerify = Command(
        name: "evidence verify", summary: "Verify the log in the database, or a bundle offline",
        positionals: [.init(name: "BUNDLE", what: "a bundle's file", count: .optional)],
        settings: evidenceSettings
    ) { _ in
        throw CommandFailure.notInThisBuild
    }
}
