import Foundation
import Testing

@testable import CountersignMain

/// Each test has a server of its own: it needs the programs of Postgres and no database.
@Suite(.timeLimit(.minutes(5))) struct `A private Postgres` {
    @Test func `starts once, is found running, stops, and starts again with its data`() async throws
    {
        try await withServer { server in
            #expect(try await server.start(.disposable) == .started)
            #expect(try await server.start(.disposable) == .wasRunning)
            let process = try #require(server.places.recordedServer())
            #expect(server.places.isServer(process))
            try await server.stop()
            #expect(!server.places.isServer(process))
            try await server.stop()
            #expect(try await server.start(.disposable) == .started)
        }
    }

    @Test func `is started by one of several at once`() async throws {
        try await withServer { server in
            let starts = try await withThrowingTaskGroup(of: PrivatePostgres.Start.self) { group in
                for _ in 0..<4 { group.addTask { try await server.start(.disposable) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(starts.count { $0 == .started } == 1)
        }
    }

    @Test func `listens on no port, and lets only its user to its socket and data`() async throws {
        try await withServer { server in
            _ = try await server.start(.disposable)
            let process = try #require(server.places.recordedServer())
            for table in ["tcp", "tcp6"] {
                let text = try String(contentsOfFile: "/proc/net/\(table)", encoding: .utf8)
                let port = ":" + String(PrivatePostgresPlaces.port, radix: 16, uppercase: true)
                #expect(!text.contains(port + " "))
            }
            for folder in [server.places.data, server.places.socket] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            }
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(process)")
            #expect((owner[.ownerAccountID] as? NSNumber)?.intValue != 0)
        }
    }

    /// What a server keeps open of its starter's can block the starter for as long as it runs.
    @Test func `inherits nothing from the process that starts it`() async throws {
        try await withServer { server in
            let pipe = Pipe()
            _ = try await server.start(.disposable)
            try pipe.fileHandleForWriting.close()
            #expect(try pipe.fileHandleForReading.readToEnd() == nil)
        }
    }

    @Test func `comes back after it was killed`() async throws {
        try await withServer { server in
            _ = try await server.start(.disposable)
            for process in server.places.processesInside() { _ = kill(process, SIGKILL) }
            while !server.places.processesInside().isEmpty { await Task.yield() }
            #expect(server.places.exists(server.places.serverLock))
            #expect(try await server.start(.disposable) == .started)
        }
    }

    /// The number in a lock file that a crash left behind may be anybody's by now, such as ours.
    @Test func `does not take a stranger for its server`() async throws {
        try await withServer { server in
            _ = try await server.start(.disposable)
            let text = try String(contentsOfFile: server.places.serverLock, encoding: .utf8)
            try await server.stop()
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let stale = ["\(getpid())"] + lines.dropFirst().map(String.init)
            try stale.joined(separator: "\n").write(
                toFile: server.places.serverLock, atomically: true, encoding: .utf8)
            try await server.stop()
            #expect(try await server.start(.disposable) == .started)
        }
    }

    @Test func `refuses a folder that others can write to`() async throws {
        try await withServer { server in
            try server.places.createBase()
            try server.places.createSocketFolder()
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: server.places.socket)
            await #expect(throws: PrivatePostgresFailure.self) {
                try await server.start(.disposable)
            }
        }
    }

    @Test func `refuses a symbolic link in place of its folder`() async throws {
        try await withServer { server in
            try server.places.createBase()
            try server.places.createSocketFolder()
            try FileManager.default.removeItem(atPath: server.places.socket)
            try FileManager.default.createSymbolicLink(
                atPath: server.places.socket, withDestinationPath: server.places.base)
            await #expect(throws: PrivatePostgresFailure.self) {
                try await server.start(.disposable)
            }
        }
    }

    @Test func `does not delete the data of a running server`() async throws {
        try await withServer { server in
            _ = try await server.start(.disposable)
            #expect(throws: PrivatePostgresFailure.self) { try server.remove() }
        }
    }

    @Test(arguments: [
        "short", "with space", "quote'\"$(x)`", String(repeating: "long/", count: 30),
    ])
    func `has a socket path that is short and plain`(name: String) throws {
        let user = PrivatePostgresOwner(user: getuid(), group: getgid(), isAnother: false)
        let places = try PrivatePostgresPlaces(directory: "/home/x/" + name, owner: user)
        let path = places.socketLock
        #expect(path.utf8.count <= PrivatePostgresPlaces.socketPathBytesMax)
        #expect(path.wholeMatch(of: /[A-Za-z0-9\/._-]+/) != nil)
        #expect(places.socket.hasPrefix("/home/x/short/") == (name == "short"))
    }

    private func withServer(_ body: (PrivatePostgres) async throws -> Void) async throws {
        // The launcher ends the servers that it finds in its folder, should the tests be cut off.
        let place =
            ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_FOLDER"] ?? NSTemporaryDirectory()
        let folder = place + "/a server " + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let server = try PrivatePostgres(at: folder)
        do {
            try await body(server)
        } catch {
            try await clear(server, folder)
            throw error
        }
        try await clear(server, folder)
    }

    private func clear(_ server: PrivatePostgres, _ folder: String) async throws {
        try await server.stop()
        try server.remove()
        // Root's data is elsewhere, and the folder is only a name.
        if server.places.exists(folder) { try FileManager.default.removeItem(atPath: folder) }
    }
}
