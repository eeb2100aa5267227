import Foundation
import Testing

/// The files of this checkout, as far as rules about them are tested.
enum Repository {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All text files below the agreed top-level entries, in the order of their paths.
    static let files: [TextFile] =
        ["Sources", "Tests", "sql", "docs"].flatMap(below) + topLevelFiles

    static let swift = files.filter { $0.path.hasSuffix(".swift") }
    static let sources = swift.filter { $0.path.hasPrefix("Sources/") }
    static let domain = sources.filter { $0.target == "Countersign" }
    static let documents = files.filter { $0.path.hasSuffix(".md") }
    static let migrations = files.filter { $0.path.hasPrefix("sql/migrations/") }
    static let queries = files.filter { $0.path.hasPrefix("sql/queries/") }

    /// What stands at the top, without dotfiles.
    static func topLevel() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    private static let topLevelFiles = ["README.md", "Package.swift", "countersign", ".ci/run"]
        .compactMap { TextFile(path: $0) }

    /// A symbolic link to a folder is not followed, so `sql` is not read twice.
    private static func below(_ folder: String) -> [TextFile] {
        let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        return (paths?.compactMap { $0 as? String } ?? []).sorted().compactMap {
            TextFile(path: folder + "/" + $0)
        }
    }
}

/// One file of the checkout.
struct TextFile: CustomTestStringConvertible, Sendable {
    /// From the root of the checkout.
    let path: String
    let text: String

    /// `nil` for a folder and for what is not UTF-8.
    init?(path: String) {
        do {
            let url = Repository.root.appending(path: path)
            text = try String(contentsOf: url, encoding: .utf8)
        } catch {
            return nil
        }
        self.path = path
    }

    var testDescription: String { path }
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    /// The length as `wc -l` counts.
    var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }
    /// The second part of the path: `HTTP` of `Sources/HTTP/Request.swift`.
    var target: String {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : ""
    }
    /// Lines of Swift with comments and the insides of strings blanked out.
    var code: [Substring] {
        SwiftCode(text).blanked.split(separator: "\n", omittingEmptySubsequences: false)
    }
    /// The modules that a Swift file imports.
    var imports: [String] {
        code.compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), words.count > index + 1,
                words[..<index].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) })
            else { return nil }
            return words[words.count - 1].split(separator: ".").first.map(String.init)
        }
    }

    /// `path:line` of each line of code that matches.
    func places(_ matches: (Substring) -> Bool) -> [String] {
        code.enumerated().filter { matches($0.element) }.map { "\(path):\($0.offset + 1)" }
    }
}

private let accessLevels: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private",
]

extension Substring {
    /// Whether the line has that word, bounded by what cannot be part of a name.
    func hasWord(_ word: String) -> Bool {
        var rest = self[...]
        while let found = rest.range(of: word) {
            let before =
                found.lowerBound == startIndex ? " " : self[index(before: found.lowerBound)]
            let after = found.upperBound == endIndex ? " " : self[found.upperBound]
            if !before.isPartOfName && !after.isPartOfName { return true }
            rest = rest[found.upperBound...]
        }
        return false
    }
}

extension Character {
    fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
