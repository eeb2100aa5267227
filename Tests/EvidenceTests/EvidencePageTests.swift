import Countersign
import Evidence
import Foundation
import TestSupport
import Testing

@Suite(.onAThreadOfItsOwn) struct `The page about evidence` {
    private let page: String

    init() throws { page = try RepositoryFiles.text("docs/evidence-format.md") }

    @Test func `says of every kind what its body holds`() throws {
        let named = try section("Kinds").split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "|").first }.joined()
        for kind in EvidenceKind.allCases {
            #expect(named.contains("`\(kind.rawValue)`"), "\(kind.rawValue)")
        }
    }

    /// The part of the page below a heading.
    private func section(_ heading: String) throws -> String {
        let found = page.components(separatedBy: "\n#").first {
            $0.drop { $0 == "#" }.hasPrefix(" \(heading)\n")
        }
        return try #require(found, "\(heading)")
    }

    @Test func `names every input of a policy, and what a verdict says`() throws {
        let text = try section("The policy's decision")
        var state = Fixtures.state()
        state.isAssisted = true
        let names = Set(state.members.keys)
        #expect(names.count == 26)
        for name in names { #expect(text.contains("`\(name)`"), "\(name)") }
        // And no member that there is not: the first cells of the table.
        let cells = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "|").first.map(String.init) }
        let told = cells.flatMap { $0.split(separator: "`").map(String.init) }
            .filter { !$0.allSatisfy { ", ".contains($0) } }
        #expect(Set(told) == names)
        for name in ["hold", "reservations", "ceilings", "rule", "limit_before"] {
            #expect(text.contains("`\(name)`"), "\(name)")
        }
    }

    @Test func `maps each member of a signed message to the stored action`() throws {
        let rest = page.components(separatedBy: "| in `action`, under the kind |")
        try #require(rest.count == 2)
        let table = rest[1].components(separatedBy: "\n\n")[0]
        for kind in ActionKind.allCases {
            let content = try Fixtures.content(kind)
            for member in content.members.keys {
                #expect(table.contains("`\(member)`"), "\(kind.rawValue): \(member)")
            }
            guard case .object(let members) = content.json else { continue }
            for member in members where member.name != "payee" {
                #expect(table.contains("`\(member.name)`"), "\(kind.rawValue): \(member.name)")
            }
        }
    }

    @Test func `lists where the log is served otherwise than tlog-tiles has it`() throws {
        let text = try section("Tiles")
        for word in ["`auditor`", "`Cache-Control: no-store`", "not compressed", "404"] {
            #expect(text.contains(word), "\(word)")
        }
    }

    /// With the first and the second of the vectors, as it says.
    @Test func `shows commands that check a record, and what they print`() throws {
        let vectors = try RepositoryFiles.json("docs/evidence-vectors.json")
        guard case .array(let records)? = vectors["records"] else {
            throw InvalidValue("records", "The file holds no records.")
        }
        let tool = try OpenSSLTool()
        for (member, file, record) in [
            ("leaf", "leaf1", records[0]), ("leaf", "leaf", records[1]),
            ("body", "body", records[1]),
        ] {
            try tool.write(Bytes(try #require(record[member]?.text).utf8), to: file)
        }
        let salt = try #require(records[1]["salt"]?.text.flatMap { Hex.decode($0) })
        try tool.write(salt, to: "salt")
        let commands = try PageCommands(of: "docs/evidence-format.md", with: "cat salt body")
        #expect(try tool.shell(commands.script) == commands.output)
    }
}
