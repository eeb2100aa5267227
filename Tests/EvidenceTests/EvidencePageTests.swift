import Countersign
import Evidence
import TestSupport
import Testing

@Suite struct `The page about evidence` {
    private let page: String

    init() throws { page = try RepositoryFiles.text("docs/evidence-format.md") }

    @Test func `says of every kind what its body holds`() throws {
        let table = try #require(page.split(separator: "\n## Kinds\n").last)
            .prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let named = table.compactMap { $0.split(separator: "|").first }.joined()
        for kind in EvidenceKind.allCases {
            #expect(named.contains("`\(kind.rawValue)`"), "\(kind.rawValue)")
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
