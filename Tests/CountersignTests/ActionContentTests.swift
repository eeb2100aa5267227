import Countersign
import TestSupport
import Testing

/// Columns and messages hold the same members: both are read by these rules.
@Suite struct `Members of an action` {
    private func code(_ kind: ActionKind, _ members: [String: String]) -> String? {
        refusal { () throws(InvalidValue) in try ActionContent(kind: kind, members: members) }
    }

    @Test(arguments: ActionKind.allCases)
    func `are read as they were written`(kind: ActionKind) throws {
        let content = try Fixtures.content(kind)
        #expect(try ActionContent(kind: kind, members: content.members) == content)
        #expect(content.members.values.allSatisfy { !$0.isEmpty })
    }

    @Test(arguments: ActionKind.allCases)
    func `are all needed, and no more are taken`(kind: ActionKind) throws {
        let members = try Fixtures.content(kind).members
        for name in members.keys {
            var fewer = members
            fewer[name] = nil
            #expect(code(kind, fewer) == "members", "\(name)")
        }
        #expect(code(kind, members.merging(["purpose": ""]) { $1 }) == "members")
        for other in ActionKind.allCases where other != kind {
            #expect(code(other, members) == "members")
        }
    }

    /// What would be normalised was not what is stored: somebody else wrote it.
    @Test(arguments: [
        (ActionKind.transfer, "amount", "120"), (.transfer, "amount", "120.0"),
        (.contactChange, "old_value_digest", "00"), (.contactChange, "old_value_digest", "x"),
        (.contactChange, "old_value_digest", String(repeating: "AB", count: 32)),
    ])
    func `are refused in another spelling`(kind: ActionKind, name: String, value: String) throws {
        let members = try Fixtures.content(kind).members
        #expect(code(kind, members.merging([name: value]) { $1 }) == "members")
    }

    @Test func `with canonically equivalent texts are different`() throws {
        let composed = try Fixtures.transfer(reference: "\u{E9}")
        let decomposed = try Fixtures.transfer(reference: "e\u{301}")
        #expect(composed != decomposed)
        #expect(try ActionContent(kind: .transfer, members: decomposed.members) == decomposed)
    }
}
