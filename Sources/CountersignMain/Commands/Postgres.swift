extension Command {
    static let postgresStart = Command(
        name: "postgres start",
        summary: "Start a private Postgres in a folder, and print its connection string",
        options: [
            directory,
            .init(
                name: "disposable", placeholder: nil,
                what: "for tests: do not wait for the disk, so a power cut may lose everything"),
        ]
    ) { invocation in
        let server = try PrivatePostgres(at: invocation.option("dir"))
        _ = try await server.start(invocation.has("disposable") ? .disposable : .durable)
        Console.out(server.url)
    }

    static let postgresStop = Command(
        name: "postgres stop", summary: "Stop the private Postgres of a folder",
        options: [
            directory,
            .init(name: "remove", placeholder: nil, what: "and delete its data"),
        ]
    ) { invocation in
        let server = try PrivatePostgres(at: invocation.option("dir"))
        try await server.stop()
        if invocation.has("remove") { try server.remove() }
    }

    static let postgresURL = Command(
        name: "postgres url", summary: "Print the connection string of a folder's private Postgres",
        options: [directory]
    ) { invocation in
        Console.out(try PrivatePostgres(at: invocation.option("dir")).url)
    }

    private static let directory = Option(
        name: "dir", placeholder: "DIR",
        what: "the folder; root's data goes below /var/tmp instead",
        isRequired: true)
}
