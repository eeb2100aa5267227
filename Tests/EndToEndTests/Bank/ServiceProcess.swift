import Foundation

@testable import CountersignMain

/// One process of the program `countersign`, as an operator runs it, or of a program beside it.
final class ServiceProcess: Sendable {
    /// How a process ended.
    enum Ending: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// What went wrong, with the end of the log.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let name: String
    /// The file that takes standard output and standard error.
    let log: String
    private let child: ChildProcess
    private let status = ExitStatusCell()

    /// The system's number of it.
    var id: Int32 { child.id }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - name: Names the log; two processes of one folder have two names.
    ///   - arguments: The command with its flags.
    ///   - folder: Takes the log.
    /// - Throws: ``Failure`` when it cannot be started.
    convenience init(_ name: String, _ arguments: [String], in folder: String) throws {
        try self.init(name, words: [Self.program().path] + arguments, in: folder)
    }

    /// Starts any program that tells its port as the service does.
    ///
    /// - Parameters:
    ///   - name: As above.
    ///   - words: The program's path and its arguments.
    ///   - folder: As above.
    /// - Throws: ``Failure`` when it cannot be started.
    init(_ name: String, words: [String], in folder: String) throws {
        self.name = name
        log = "\(folder)/\(name).log"
        guard FileManager.default.createFile(atPath: log, contents: nil),
            let output = FileHandle(forWritingAtPath: log)
        else { throw Failure(description: "cannot write \(log)") }
        // What this process was told by its environment is not meant for the service.
        let environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("COUNTERSIGN_") && !$0.key.hasPrefix("PG") }
            .map { "\($0.key)=\($0.value)" }
        guard
            let child = ChildProcess.start(
                words, environment: environment, output: output.fileDescriptor,
                errors: output.fileDescriptor, ownSession: false)
        else { throw Failure(description: "\(name) cannot be started") }
        try output.close()
        self.child = child
        Task.detached { [status] in status.set(await child.end()) }
    }

    /// The program beside this test, of the same build.
    static func program() throws -> URL {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let file = URL(filePath: own).deletingLastPathComponent().appending(path: "countersign")
        guard FileManager.default.isExecutableFile(atPath: file.path) else {
            throw Failure(description: "the program countersign is not built")
        }
        return file
    }

    var isRunning: Bool { status.value == nil }

    func signal(_ number: Int32) {
        if isRunning { _ = kill(child.id, number) }
    }

    /// Waits until it has ended by itself, or by a signal that was sent.
    ///
    /// - Throws: ``Failure`` when it lives on for 90 s; then it is killed.
    func ending() async throws -> Ending {
        do {
            try await until("\(name) ends") { !isRunning }
        } catch {
            signal(SIGKILL)
            throw error
        }
        let status = status.value ?? 0
        return status < 128 ? .exited(status) : .killed(signal: status - 128)
    }

    /// Asks it to end as an operator does, and waits for that.
    func ended() async throws -> Ending {
        signal(SIGTERM)
        return try await ending()
    }

    /// Waits until a server tells that it listens.
    ///
    /// - Returns: Its port.
    /// - Throws: ``Failure`` with the end of its log.
    func listening() async throws -> UInt16 {
        try await until("\(name) starts") {
            port != nil || !isRunning
        }
        guard let port else { throw Failure(description: "\(name) has ended: \(lastLines)") }
        return port
    }

    /// Waits until the log has an event.
    func logged(_ event: String) async throws {
        try await until("\(name) logs \(event)") { hasLogged(event) }
    }

    func hasLogged(_ event: String) -> Bool { text.contains("\"event\":\"\(event)\"") }

    /// What it has written.
    var text: String {
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
/// - Throws: ``ServiceProcess/Failure`` when it is not so after 90 s, which no good run takes.
func until(
    _ what: String, _ isSo: () async throws -> Bool
) async throws {
    for _ in 0..<9000 {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw ServiceProcess.Failure(description: "waited in vain until \(what)")
}

/// How a process ended, once it has.
private final class ExitStatusCell: @unchecked Sendable {
    // Sendable: the value is touched only under the lock.
    private let lock = NSLock()
    private var status: Int32?

    var value: Int32? { lock.withLock { status } }

    func set(_ status: Int32) { lock.withLock { self.status = status } }
}
