import Foundation
import Glibc
import Postgres
import Testing

/// A server of a test's own, for what would disturb other tests on a shared one.
struct PrivateServer: Sendable {
    /// The superuser's connection string.
    let connection: ConnectionInfo
    private let folder: String
    private let programs: String

    private struct CannotRun: Error {
        let command: String
        let output: String
    }

    /// Makes a server for `body` and removes it afterwards.
    static func with<Result>(_ body: (PrivateServer) async throws -> Result) async throws -> Result
    {
        let server = try await PrivateServer()
        do {
            let result = try await body(server)
            await server.remove()
            return result
        } catch {
            await server.remove()
            throw error
        }
    }

    private init() async throws {
        programs = try PrivateServer.findPrograms()
        folder = "/tmp/countersign-postgres-\(getpid())-\(UUID().uuidString)"
        connection = try ConnectionInfo("host=\(folder) port=5432 user=postgres dbname=postgres")
        try await run(["initdb", "-D", folder, "-A", "trust", "-U", "postgres", "--no-sync"])
        try await start()
    }

    func start() async throws {
        let options = "-c listen_addresses='' -c unix_socket_directories=\(folder) -c fsync=off"
        try await run(["pg_ctl", "-D", folder, "-o", options, "-l", "\(folder)/log", "-w", "start"])
    }

    /// Ends the server as if it had been killed.
    func kill() async throws {
        try await run(["pg_ctl", "-D", folder, "-m", "immediate", "-w", "stop"])
    }

    private func remove() async {
        do {
            try await kill()
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            Issue.record("\(folder) is left behind: \(error)")
        }
    }

    private static func findPrograms() throws -> String {
        let root = "/usr/lib/postgresql"
        for version in try FileManager.default.contentsOfDirectory(atPath: root).sorted().reversed()
        {
            let folder = "\(root)/\(version)/bin"
            if FileManager.default.isExecutableFile(atPath: "\(folder)/initdb") { return folder }
        }
        throw CannotRun(command: "initdb", output: "not found below \(root)")
    }

    /// Runs one of Postgres's programs, as the user `postgres` when this is root.
    private func run(_ command: [String]) async throws {
        let process = Process()
        let line = ["\(programs)/\(command[0])"] + command.dropFirst()
        // Foundation waits until a descriptor that it passes on is closed, and the server that
        // `pg_ctl` leaves running would inherit it.
        let closing = """
            for fd in /proc/self/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && eval "exec $n>&-"; done
            exec "$@"
            """
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments =
            ["-c", closing, "bash"]
            + (geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] : []) + line
        process.currentDirectoryURL = URL(filePath: "/tmp")
        // A file and no pipe: the server inherits it and would keep a pipe open.
        let output = "/tmp/countersign-output-\(UUID().uuidString)"
        try Data().write(to: URL(filePath: output))
        defer { _ = unsafe unlink(output) }
        let handle = try #require(FileHandle(forWritingAtPath: output))
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        // Not `waitUntilExit`: the other tests need the thread.
        try await withCheckedThrowingContinuation { (task: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in task.resume() }
            do { try process.run() } catch { task.resume(throwing: error) }
        }
        guard process.terminationStatus == 0 else {
            let text = try String(contentsOfFile: output, encoding: .utf8)
            throw CannotRun(command: command[0], output: text)
        }
    }
}
