import Foundation
import Testing

/// The tables of `docs/webauthn.md` that say where a rule is kept and which test fails without it.
@Suite struct `The tables of checks` {
    private struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        /// A path and a word that must stand in that file.
        let places: [String]
        let tests: [String]
        var testDescription: String { rule }
    }

    private static let rows: [Row] = (TextFile(path: "docs/webauthn.md")?.lines ?? [])
        .map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        .filter { $0.count == 4 && $0[2].hasPrefix("`") }
        .map { Row(rule: $0[1], places: quoted($0[2]), tests: quoted($0[3])) }

    private static let functions: Set<String> = {
        let lines: [Substring] = Repository.swift.filter { $0.path.hasPrefix("Tests/") }
            .reduce(into: []) { $0 += $1.lines }
        return Set(lines.compactMap(functionName))
    }()

    /// What stands between the backticks of a declaration.
    private static func functionName(_ line: Substring) -> String? {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        return parts.count >= 3 && parts[0].hasSuffix("func ") ? String(parts[1]) : nil
    }

    private static func quoted(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    @Test func `are found`() {
        #expect(Self.rows.count > 50)
    }

    @Test(arguments: rows)
    private func `name files, functions and tests that exist`(row: Row) throws {
        try #require(row.places.count == 2)
        let path = row.places[0]
        let file = try #require(TextFile(path: path) ?? TextFile(path: "Sources/" + path))
        #expect(file.lines.contains { $0.hasWord(row.places[1]) })
        try #require(!row.tests.isEmpty)
        for test in row.tests { #expect(Self.functions.contains(test)) }
    }
}
