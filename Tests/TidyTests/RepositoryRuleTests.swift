import Foundation
import Testing

/// Rules about everything that is not Swift.
@Suite struct `The repository` {
    @Test func `has only the agreed entries at its top`() throws {
        let agreed: Set<String> = [
            "Package.swift", "Package.resolved", "Sources", "Tests", "sql", "docs", "README.md",
            "countersign", "LICENSE",
        ]
        #expect(try Repository.topLevel().filter { !agreed.contains($0) } == [])
    }

    @Test func `has one script, and CI calls it`() throws {
        let scripts = Repository.files.filter { $0.text.hasPrefix("#!") }.map(\.path)
        #expect(scripts.sorted() == [".ci/run", "countersign"])
        let ci = try #require(TextFile(path: ".ci/run"))
        #expect(ci.lines.contains("exec ./countersign test"))
        for path in scripts {
            let file = Repository.root.appending(path: path).path
            #expect(FileManager.default.isExecutableFile(atPath: file), "\(path)")
        }
    }

    @Test(arguments: Repository.files)
    func `leaves nothing to do later`(file: TextFile) {
        // The third usual mark is a code of ISO 4217, which tests use.
        let marks = ["TODO", "FIXME"]
        let places = file.lines.enumerated().filter { line in
            marks.contains { line.element.hasWord($0) }
        }
        if file.target != "TidyTests" {
            #expect(places.map { "\(file.path):\($0.offset + 1)" } == [])
        }
    }

    /// Nothing is fetched while building or testing, apart from what the launcher installs: Debian
    /// packages, and one package of Python that is pinned by its hash.
    @Test(arguments: Repository.files)
    func `names no package registry`(file: TextFile) {
        let registries = [
            "pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com", "crates.io", "rubygems.org",
            "proxy.golang.org", "repo.maven.apache.org", "repo1.maven.org", "ghcr.io", "docker.io",
            "swiftpackageindex.com", ".package(url:",
        ]
        if file.target != "TidyTests" {
            #expect(registries.filter { file.text.contains($0) } == [])
        }
    }

    @Test(arguments: Repository.queries)
    func `says at the top of a query what its rows mean`(file: TextFile) {
        #expect(file.text.hasPrefix("-- "))
    }

    @Test(arguments: Repository.migrations)
    func `says at the top of a migration what it is for`(file: TextFile) {
        #expect(file.text.hasPrefix("-- "))
        let name = file.path.split(separator: "/").last ?? ""
        #expect(name.wholeMatch(of: /V[0-9]{4}_[a-z0-9_]+\.sql/) != nil)
    }

    @Test(arguments: Repository.files.filter { $0.path.hasSuffix(".sql") })
    func `keeps SQL files short`(file: TextFile) {
        #expect(file.lineCount <= 600)
    }

    @Test func `has a README of one screen and a half`() throws {
        let readme = try #require(TextFile(path: "README.md"))
        #expect(readme.lineCount <= 120)
    }

    @Test(arguments: Repository.documents)
    func `has links that lead somewhere`(file: TextFile) {
        let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
        let broken = links(in: file.text).filter { link in
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let target = parts[0].isEmpty ? file.path : resolve(String(parts[0]), from: folder)
            guard Repository.exists(target) else { return true }
            guard parts.count == 2, let document = TextFile(path: target) else { return false }
            return !anchors(of: document.text).contains(String(parts[1]))
        }
        #expect(broken == [])
    }

    /// The targets of Markdown links within the repository.
    private func links(in text: String) -> [String] {
        text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
            .filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
    }

    private func resolve(_ link: String, from folder: String) -> String {
        var parts = folder.split(separator: "/").map(String.init)
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }

    /// The anchors that headings get: lower case, without punctuation, hyphens for spaces.
    private func anchors(of text: String) -> Set<String> {
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                    .replacing(" ", with: "-")
            })
    }
}
