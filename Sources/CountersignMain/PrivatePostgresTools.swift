import Foundation

/// Runs the programs of Postgres as the user that owns the server.
struct PrivatePostgresTools: Sendable {
    static let superuser = "postgres"
    /// Debian's folder of the server's programs; they are not on the search path.
    static let programs = "/usr/lib/postgresql/15/bin"

    let owner: PrivatePostgresOwner
    /// Takes what the programs print.
    let log: String

    /// Makes an empty database with checksums, that trusts whoever reaches its socket, and nobody else.
    func initialize(
        _ data: String, _ durability: PrivatePostgres.Durability
    ) async throws(PrivatePostgresFailure) {
        var arguments = [
            "--pgdata", data, "--username", Self.superuser, "--encoding", "UTF8",
            "--locale", "C.UTF-8", "--auth-local", "trust", "--auth-host", "reject",
            "--data-checksums", "--no-instructions",
        ]
        if durability == .disposable { arguments.append("--no-sync") }
        let status = try await run("initdb", arguments, output: try openLog(empty: true))
        guard status == 0 else {
            throw PrivatePostgresFailure("initdb failed; its output is in \(log)")
        }
    }

    /// Starts the server in a session of its own: whoever started it stops it when its own work is
    /// done, and a Ctrl-C at the terminal is not for it.
    func launchServer(
        _ places: PrivatePostgresPlaces, _ durability: PrivatePostgres.Durability
    ) throws(PrivatePostgresFailure) -> ChildProcess {
        var settings = [
            "listen_addresses=", "port=\(PrivatePostgresPlaces.port)",
            "unix_socket_directories=\(places.socket)", "unix_socket_permissions=0700",
            "max_connections=200", "log_timezone=UTC", "timezone=UTC",
        ]
        if durability == .disposable {
            settings += ["fsync=off", "full_page_writes=off", "max_wal_size=4GB"]
        }
        return try start(
            "postgres", ["-D", places.data] + settings.flatMap { ["-c", $0] },
            output: try openLog(empty: false), ownSession: true)
    }

    /// Whether the server accepts connections.
    func isReady(_ places: PrivatePostgresPlaces) async throws(PrivatePostgresFailure) -> Bool {
        try await run(
            "pg_isready",
            ["--quiet", "--host", places.socket, "--port", String(PrivatePostgresPlaces.port)],
            output: try openLog(empty: false)) == 0
    }

    private func openLog(empty: Bool) throws(PrivatePostgresFailure) -> FileHandle {
        let manager = FileManager.default
        if empty || !manager.fileExists(atPath: log) {
            _ = manager.createFile(
                atPath: log, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        do {
            let handle = try FileHandle(forWritingTo: URL(filePath: log))
            try handle.seekToEnd()
            return handle
        } catch {
            throw PrivatePostgresFailure("cannot write \(log)")
        }
    }

    /// Runs a program to its end as the owner, and returns its exit status.
    private func run(
        _ program: String, _ arguments: [String], output: FileHandle
    ) async throws(PrivatePostgresFailure) -> Int32 {
        await (try start(program, arguments, output: output, ownSession: false)).end()
    }

    private func start(
        _ program: String, _ arguments: [String], output: FileHandle, ownSession: Bool
    ) throws(PrivatePostgresFailure) -> ChildProcess {
        let path = Self.programs + "/" + program
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw PrivatePostgresFailure("\(path) is missing: install postgresql-15")
        }
        let become =
            owner.isAnother
            ? [
                "/usr/bin/setpriv", "--reuid=\(owner.user)", "--regid=\(owner.group)",
                "--clear-groups", "--no-new-privs", "--",
            ] : []
        // Nothing of ours is inherited: no PGHOST that misleads, no secret of the service.
        let child = ChildProcess.start(
            become + [path] + arguments,
            environment: ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"],
            output: output.fileDescriptor, errors: output.fileDescriptor,
            ownSession: ownSession)
        guard let child else { throw PrivatePostgresFailure("cannot run \(path)") }
        return child
    }
}
