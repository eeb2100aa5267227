import Countersign
import Foundation

@testable import CountersignMain

/// A program in Python that plays the other side of the service: a browser, or another implementation.
///
/// It takes commands over HTTP, as `commands.py` says.
struct Peer: Sendable {
    /// What the other side itself did not do, so that the service was never asked.
    struct Refusal: Error {
        /// Of a browser the name of its `DOMException`.
        let name: String
        let message: String
    }

    private let api: APIClient

    /// Runs a program while `body` talks to it.
    ///
    /// - Parameters:
    ///   - script: A file of the folder `python` beside this one.
    ///   - arguments: For the script, which gets a folder of its own as the last one.
    ///   - packages: A folder of Python packages beside Debian's.
    ///   - body: The test.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or that the program does not start or does not end well.
    static func run<Result>(
        _ script: String, _ arguments: [String], packages: String? = nil,
        _ body: (Peer) async throws -> Result
    ) async throws -> Result {
        // A short name: the browser binds sockets below it.
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "peer-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "python/\(script)")
        // Debian's Python, whatever else is on PATH; -B leaves nothing beside the sources.
        let process = try ServiceProcess(
            script,
            words: ["/usr/bin/env"] + (packages.map { ["PYTHONPATH=\($0)"] } ?? [])
                + ["/usr/bin/python3", "-B", file.path] + arguments + [folder],
            in: folder)
        do {
            let peer = Peer(
                api: try APIClient(
                    base: "http://127.0.0.1:\(try await process.listening())", key: nil))
            let result = try await body(peer)
            try await process.stop()
            return result
        } catch {
            // What is thrown here says less than the first error.
            try? await process.stop()
            throw Unexpected("\(error) \(process.text.suffix(2000))")
        }
    }

    /// Has a command done.
    ///
    /// - Returns: Its value.
    /// - Throws: ``Refusal``, or that there is no answer.
    @discardableResult
    func call(_ command: String, _ argument: JSON = [:]) async throws -> JSON {
        let answer = try await api.post("/\(command)", argument)
        if let name = answer.text("error", "name") {
            throw Refusal(name: name, message: answer.text("error", "message") ?? "")
        }
        guard let value = answer.json["value"] else {
            throw Unexpected("\(command) was answered \(answer.status)")
        }
        return value
    }

    /// What the launcher says about where something is; missing is a failed test, never a skipped one.
    static func environment(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
            throw Unexpected("\(name) is not set: ./countersign test sets it")
        }
        return value
    }
}

extension ServiceProcess {
    /// Ends it as an operator does.
    ///
    /// - Throws: ``Failure`` when it does not end, or not well.
    fileprivate func stop() async throws {
        signal(SIGTERM)
        guard try await ending() == .exited(0) else {
            throw Failure(description: "ended badly: \(text.suffix(2000))")
        }
    }
}
