import Countersign
import Foundation

/// A folder of test data outside the repository, which need not be there.
struct TestFiles {
    static let cases = TestFiles(variable: "COUNTERSIGN_CASES", fallback: "../shared/cases")
    static let vectors = TestFiles(variable: "COUNTERSIGN_VECTORS", fallback: "../shared/vectors")

    private let folder: URL

    private init(variable: String, fallback: String) {
        let packageRoot = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        folder =
            ProcessInfo.processInfo.environment[variable].map { URL(filePath: $0) }
            ?? packageRoot.appending(path: fallback)
    }

    /// The bytes of a file; `nil`, after printing a line that says so, when there is none.
    func contents(of file: String) -> Bytes? {
        let path = folder.appending(path: file).path
        guard let data = FileManager.default.contents(atPath: path) else {
            print("\(file): skipped, there is no \(path)")
            return nil
        }
        return Bytes(data)
    }

    static func json(_ bytes: some Collection<UInt8>) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(bytes))
    }
}
