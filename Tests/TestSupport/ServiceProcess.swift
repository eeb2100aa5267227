import Foundation

/// One process of the program `countersign`, as an operator runs it.
package final class ServiceProcess: Sendable {
    /// How a process ended.
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// What went wrong, with the end of the log.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let process: Process
    private let name: String
    /// The file that takes standard output and standard error.
    package let log: String

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - name: Names the log; two processes of one folder have two names.
    ///   - arguments: The command with its flags.
    ///   - environment: Names beside those of this process, of which ours and libpq's are taken out.
    ///   - folder: Takes the log.
    /// - Throws: When the program or the log cannot be opened.
    package init(
        _ name: String, _ arguments: [String], environment: [String: String] = [:],
        in folder: String
    ) throws {
        self.name = name
        log = "\(folder)/\(name).log"
        process = Process()
        process.executableURL = try Self.program()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("COUNTERSIGN_") && !$0.key.hasPrefix("PG") }
            .merging(environment) { $1 }
        guard FileManager.default.createFile(atPath: log, contents: nil),
            let handle = FileHandle(forWritingAtPath: log)
        else { throw Failure(description: "cannot write \(log)") }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        try handle.close()
    }

    /// The program beside this test, of the same build.
    private static func program() throws -> URL {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let beside = URL(filePath: own).deletingLastPathComponent()
        let built = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: ".build/debug")
        for folder in [beside, built] {
            let file = folder.appending(path: "countersign")
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        }
        throw Failure(description: "the program countersign is not built")
    }

    package var isRunning: Bool { process.isRunning }

    package func signal(_ number: Int32) {
        if process.isRunning { _ = kill(process.processIdentifier, number) }
    }

    /// Waits until it has ended by itself, or by a signal that was sent.
    ///
    /// - Throws: ``Failure`` when it lives on for two minutes; then it is killed.
    package func ending() async throws -> Ending {
        do {
            try await until("\(name) ends") { !self.process.isRunning }
        } catch {
            signal(SIGKILL)
            throw error
        }
        return process.terminationReason == .exit
            ? .exited(process.terminationStatus)
            : .killed(signal: process.terminationStatus)
    }

    /// Waits until a server tells that it listens.
    ///
    /// - Returns: Its port.
    /// - Throws: ``Failure`` with the end of its log.
    package func listening() async throws -> UInt16 {
        try await until("\(name) starts") {
            self.port != nil || !self.process.isRunning
        }
        guard let port else { throw Failure(description: "\(name) has ended: \(lastLines)") }
        return port
    }

    /// Waits until the log has an event.
    package func logged(_ event: String) async throws {
        try await until("\(name) logs \(event)") { self.hasLogged(event) }
    }

    package func hasLogged(_ event: String) -> Bool { text.contains("\"event\":\"\(event)\"") }

    /// What it has written.
    package var text: String {
        FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private var port: UInt16? {
        text.firstMatch(of: /"event":"service.started","port":([0-9]+)/).flatMap { UInt16($0.1) }
    }

    private var lastLines: String {
        text.split(separator: "\n").suffix(3).joined(separator: " | ")
    }
}

/// Waits until something is so, and looks again and again.
///
/// - Throws: ``ServiceProcess/Failure`` when it is not so after two minutes, which no good run takes.
package func until(
    _ what: String, _ isSo: () async throws -> Bool
) async throws {
    for _ in 0..<12_000 {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw ServiceProcess.Failure(description: "waited in vain until \(what)")
}
