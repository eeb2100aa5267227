package import Countersign
import Foundation

/// Runs the `openssl` program in a temporary folder that is deleted with this value: the other
/// implementation for what this project only verifies and never makes.
package final class OpenSSLTool: Sendable {
    private let folder: URL

    package init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-openssl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("left behind: \(folder.path)")
        }
    }

    /// Runs one command whose arguments are separated by spaces; throws when it fails.
    package func run(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }

    /// Runs commands as `sh` does in the folder, up to the first that fails.
    ///
    /// - Returns: What they print.
    /// - Throws: `InvalidValue` with what was printed, when one failed.
    package func shell(_ script: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-eu", "-c", script]
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let printed = String(
            decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw InvalidValue("script", "A command failed: \(printed)")
        }
        return printed
    }

    package func read(_ file: String) throws -> Bytes {
        Bytes(try Data(contentsOf: folder.appending(path: file)))
    }

    package func write(_ bytes: Bytes, to file: String) throws {
        try Data(bytes).write(to: folder.appending(path: file))
    }
}
