import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The shell stands in for the program.
@Suite struct `Processes that the demo starts` {
    @Test func `that are commands are run to their end, and both outputs are kept`() async throws {
        try await withProcesses { processes, _ in
            let output = try await processes.run(["-c", "echo one; echo two >&2; exit 3"])
            #expect(output.status == 3)
            #expect(output.text == "one\ntwo")
        }
    }

    @Test func `get neither settings nor what misleads libpq from the environment`() async throws {
        try await withProcesses { processes, _ in
            let output = try await processes.run(["-c", "env"])
            let names = output.text.split(separator: "\n").map { $0.prefix { $0 != "=" } }
            #expect(names.contains("KEPT"))
            #expect(!names.contains("PGHOST") && !names.contains("COUNTERSIGN_RP_ID"))
        }
    }

    @Test func `that are servers tell their port, and are ended`() async throws {
        try await withProcesses { processes, _ in
            #expect(try await processes.serve("server", server(endless)) == 7)
            try await processes.requireServers()
            await processes.endAll()
            await #expect(throws: CommandFailure.self) { try await processes.run(["-c", "true"]) }
        }
    }

    @Test func `are ended when they do not want to`() async throws {
        try await withProcesses { processes, folder in
            _ = try await processes.serve("server", server("trap '' TERM; " + endless))
            let id = try #require(ids(in: folder).first)
            await processes.endAll(tries: 10)
            #expect(!isRunning(id))
        }
    }

    @Test func `that end by themselves are missed`() async throws {
        try await withProcesses { processes, _ in
            _ = try await processes.serve("server", server("sleep 3"))
            await #expect(throws: CommandFailure.self) {
                while true {
                    try await processes.requireServers()
                    await Task.yield()
                }
            }
        }
    }

    @Test func `that do not start say why`() async throws {
        try await withProcesses { processes, _ in
            let failure = await #expect(throws: CommandFailure.self) {
                try await processes.serve("server", ["-c", "echo no port >&2; exit 1"])
            }
            #expect(failure?.explanation.contains("no port") == true)
        }
    }

    @Test func `are ended by the next one when their starter was killed`() async throws {
        try await withProcesses { processes, folder in
            // The folder in the arguments is how they are told from others with the same number.
            _ = try await processes.serve("ours", server(endless) + ["\(folder)/"])
            _ = try await processes.serve("another", server(endless))
            let ids = ids(in: folder)
            #expect(ids.count == 2)
            await Processes.endLeftovers(in: folder)
            #expect(ids.map(isRunning) == [false, true])
        }
    }

    /// Leaves nothing behind for long when the shell is killed.
    private let endless = "while :; do sleep 0.1; done"

    private func server(_ then: String) -> [String] {
        ["-c", #"echo '{"event":"service.started","port":7}' >&2; "# + then]
    }

    private func ids(in folder: String) -> [Int32] {
        (FileManager.default.contents(atPath: folder + "/processes") ?? Data())
            .split(separator: UInt8(ascii: "\n"))
            .compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }

    /// A process that has ended and was not yet looked at has no command line.
    private func isRunning(_ id: Int32) -> Bool {
        FileManager.default.contents(atPath: "/proc/\(id)/cmdline")?.isEmpty == false
    }

    private func withProcesses(_ body: (Processes, String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-processes-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false)
        let processes = Processes(
            executable: "/bin/sh", folder: folder.path,
            environment: ["KEPT": "1", "PGHOST": "elsewhere", "COUNTERSIGN_RP_ID": "x"])
        do {
            try await body(processes, folder.path)
        } catch {
            await processes.endAll()
            throw error
        }
        await processes.endAll()
        try FileManager.default.removeItem(at: folder)
    }
}
