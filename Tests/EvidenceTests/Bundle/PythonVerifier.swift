import Countersign
import Foundation

/// Runs `docs/verify-bundle.py` in a folder of its own, which is deleted with this value.
final class PythonVerifier: Sendable {
    static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/verify-bundle.py").standardizedFileURL
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: folder) } catch {
            print("left behind: \(folder.path)")
        }
    }

    /// Whether it takes the bundle, and what it says.
    ///
    /// - Parameters:
    ///   - bundle: The file.
    ///   - policy: Whom it believes.
    ///   - authority: The text of its third file, certificates of timestamp authorities.
    /// - Returns: That it exits with 0, and all that it prints.
    /// - Throws: When there is no Python, or no room for files.
    func run(
        _ bundle: Bytes, _ policy: Bytes, authority: String? = nil
    ) throws -> (isValid: Bool, text: String) {
        let name = UUID().uuidString
        let contents = [bundle, policy] + (authority.map { [Bytes($0.utf8)] } ?? [])
        let files = contents.enumerated().map { index, bytes in
            (folder.appending(path: "\(name)-\(index)"), bytes)
        }
        for (file, bytes) in files { try Data(bytes).write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-B", Self.script.path] + files.map(\.0.path)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        for (file, _) in files { try FileManager.default.removeItem(at: file) }
        return (process.terminationStatus == 0, String(decoding: text, as: UTF8.self))
    }
}
