import Foundation
import Postgres

@testable import CountersignMain

/// Gives `body` a durable server of its own with a migrated database, and leaves nothing of it behind.
func withOwnPostgres(_ body: (PrivatePostgres) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "countersign-outage-" + UUID().uuidString
    let server = try PrivatePostgres(at: folder)
    var result = Result<Void, any Error>.success(())
    do {
        _ = try await server.start(.durable)
        _ = try await Migrator.embedded.migrate(ConnectionInfo(server.url))
        _ = try await Migrator.state(isDevelopment: true, of: ConnectionInfo(server.url))
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
