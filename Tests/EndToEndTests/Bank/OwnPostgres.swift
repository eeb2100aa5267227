import Foundation
import Postgres

@testable import CountersignMain

/// Gives `body` a durable server of its own with a migrated database, or an empty one, and leaves nothing of it
/// behind.
func withOwnPostgres(
    isMigrated: Bool = true, _ body: (PrivatePostgres) async throws -> Void
) async throws {
    let folder = NSTemporaryDirectory() + "countersign-outage-" + UUID().uuidString
    let server = try PrivatePostgres(at: folder)
    var result = Result<Void, any Error>.success(())
    do {
        _ = try await server.start(.durable)
        if isMigrated {
            _ = try await Migrator.embedded.migrate(ConnectionInfo(server.url))
            _ = try await Migrator.state(isDevelopment: true, of: ConnectionInfo(server.url))
        }
        try await body(server)
    } catch {
        result = .failure(error)
    }
    try await server.stop()
    try server.remove()
    try? FileManager.default.removeItem(atPath: folder)
    try result.get()
}

/// Kills all processes of a server at once and without a word, as when the machine loses its power.
func kill(_ server: PrivatePostgres) async throws {
    for process in server.places.processesInside() { _ = Glibc.kill(process, SIGKILL) }
    try await until("Postgres is dead") { server.places.processesInside().isEmpty }
}

/// Runs a program to its end, such as one of Postgres's.
///
/// - Parameter words: Its path and arguments.
/// - Throws: ``Unexpected`` when it fails.
func runProgram(_ words: [String]) async throws {
    let process = Process()
    process.executableURL = URL(filePath: words[0])
    process.arguments = Array(words.dropFirst())
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // Read, so that it does not wait for somebody who does.
    _ = try output.fileHandleForReading.readToEnd()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        throw Unexpected("\(words[0]) ended with \(process.terminationStatus)")
    }
}
