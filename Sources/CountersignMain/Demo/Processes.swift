import Countersign
import Crypto
import Dispatch
import Foundation

/// Processes of this program that another one starts: the demo, and end-to-end tests.
///
/// Each is ended by its ID, whatever happens; what outlives a killed starter is ended by the next.
actor Processes {
    /// What a command that ran to its end left behind.
    struct Output: Sendable {
        let status: Int32
        /// Standard output and error, without line feeds at the end.
        let text: String
    }

    private let executable: String
    private let folder: String
    private let environment: [String: String]
    private var started: [(name: String, process: Process)] = []
    private var isEnding = false

    /// - Parameters:
    ///   - executable: The program `countersign`.
    ///   - folder: Takes each server's log, `NAME.log`, and the list of process IDs.
    ///   - environment: What they inherit, but for settings of ours, which come by file and flag, and
    ///     those of libpq, which could mislead.
    init(executable: String, folder: String, environment: [String: String]) {
        self.executable = executable
        self.folder = folder
        self.environment = environment.filter { name, _ in
            !name.hasPrefix("COUNTERSIGN_") && !name.hasPrefix("PG")
        }
    }

    /// The file of this process's own program.
    static func ownExecutable() throws(CommandFailure) -> String {
        do {
            return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        } catch {
            throw CommandFailure("this program cannot find its own file")
        }
    }

    /// Starts a server that writes structured events to its log.
    ///
    /// - Returns: The port that it listens on, once it does.
    /// - Throws: ``CommandFailure`` with the end of its log.
    func serve(_ name: String, _ arguments: [String]) async throws -> Int {
        let log = logFile(name)
        let manager = FileManager.default
        guard
            manager.createFile(
                atPath: log, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: log)
        else { throw CommandFailure("cannot write \(log)") }
        let process = try launch(name, arguments, output: handle)
        for _ in 0..<1500 where process.isRunning {
            if let port = listeningPort(log) { return port }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CommandFailure("\(name) does not start: \(lastLines(log))")
    }

    /// Runs a command of this program, or another program, to its end.
    func run(_ arguments: [String], with program: String? = nil) async throws -> Output {
        let pipe = Pipe()
        let process = try launch(
            arguments.first ?? "", arguments, output: pipe, program: program)
        let reader = pipe.fileHandleForReading
        let data = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var data: Data?
                // A pipe that cannot be read has nothing to say; the status tells.
                do { data = try reader.readToEnd() } catch {}
                process.waitUntilExit()
                continuation.resume(returning: data ?? Data())
            }
        }
        started.removeAll { $0.process === process }
        return Output(
            status: process.terminationStatus,
            text: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    /// The ID of a server that was started under that name; `nil` when there is none.
    func id(of name: String) -> Int32? {
        started.first { $0.name == name }?.process.processIdentifier
    }

    /// Checks that every server that was started still runs.
    ///
    /// - Throws: ``CommandFailure`` that names one that has ended by itself.
    func requireServers() throws(CommandFailure) {
        guard let ended = started.first(where: { !$0.process.isRunning }) else { return }
        throw CommandFailure("\(ended.name) has ended; its log is \(logFile(ended.name))")
    }

    /// Ends all that still run, and starts nothing more: asks, waits, and then does not ask.
    ///
    /// - Parameter tries: How often to look, every 20 ms, before it does not ask any more.
    func endAll(tries: Int = 500) async {
        isEnding = true
        for (signal, tries) in [(SIGTERM, tries), (SIGKILL, 250)] {
            for (_, process) in started.reversed() where process.isRunning {
                _ = kill(process.processIdentifier, signal)
            }
            for _ in 0..<tries where started.contains(where: { $0.process.isRunning }) {
                await pause(.milliseconds(20))
            }
        }
        started = []
    }

    /// Ends what an earlier starter of this folder left running because it was killed.
    static func endLeftovers(in folder: String) async {
        let ids = contents(of: folder + "/processes").split(separator: "\n").compactMap {
            Int32($0)
        }
        // A number alone may be anybody's by now; every process of ours names the folder.
        func isOurs(_ id: Int32) -> Bool {
            contents(of: "/proc/\(id)/cmdline").contains(folder + "/")
        }
        for (signal, tries) in [(SIGTERM, 250), (SIGKILL, 50)] {
            for id in ids where isOurs(id) { _ = kill(id, signal) }
            for _ in 0..<tries where ids.contains(where: isOurs) {
                await pause(.milliseconds(20))
            }
        }
    }

    func logFile(_ name: String) -> String { "\(folder)/\(name).log" }

    private func launch(
        _ name: String, _ arguments: [String], output: Any, program: String? = nil
    ) throws(CommandFailure) -> Process {
        guard !isEnding else { throw CommandFailure("\(name) is not started any more") }
        let process = Process()
        process.executableURL = URL(filePath: program ?? executable)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do { try process.run() } catch {
            throw CommandFailure("\(name) cannot be started")
        }
        started.append((name, process))
        record()
        return process
    }

    /// Keeps the IDs where the next start finds them, should this process be killed.
    private func record() {
        let ids = started.map { "\($0.process.processIdentifier)\n" }.joined()
        // Without the list only the cleaning up after a `kill -9` is lost.
        do { try ids.write(toFile: folder + "/processes", atomically: true, encoding: .utf8) } catch
        {}
    }

    /// The port in the event that tells that a server listens.
    private func listeningPort(_ log: String) -> Int? {
        for line in Self.contents(of: log).split(separator: "\n") {
            guard let event = SignedJSON.decode(Bytes(line.utf8)),
                event["event"]?.text == LogEvent.serviceStarted.rawValue,
                case .integer(let port) = event["port"]
            else { continue }
            return Int(port)
        }
        return nil
    }

    private func lastLines(_ log: String) -> String {
        let lines = Self.contents(of: log).split(separator: "\n").suffix(3)
        return lines.isEmpty ? "its log is empty" : lines.joined(separator: " | ")
    }

    private static func contents(of path: String) -> String {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return "" }
    }
}
