import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The checker of fault runs finds what it is there for.
@Suite struct `A replay of the log` {
    /// What somebody changes, how it is put back, and what is said of it.
    private struct Change {
        let statement: String
        let undoing: String
        let fault: String
    }

    private static let last = "(SELECT max(position) FROM log_leaf)"
    private static let lastRecord =
        "(SELECT evidence_id FROM log_leaf WHERE position = \(last))"
    private static let linked = """
        (SELECT id FROM evidence WHERE leaf_member(leaf, 'aseq') = '2' ORDER BY id LIMIT 1)
        """
    private static let older = "(SELECT min(size) FROM log_checkpoint WHERE size > 0)"

    private static let changes = [
        Change(
            statement: "UPDATE log_leaf SET position = position + 1 WHERE position = \(last)",
            undoing: "UPDATE log_leaf SET position = position - 1 WHERE position = \(last)",
            fault: "I4: position"),
        Change(
            statement: "UPDATE log_leaf SET evidence_id = gen_random_uuid() WHERE position = 3",
            undoing:
                "UPDATE log_leaf SET evidence_id = (SELECT id FROM kept WHERE position = 3) WHERE position = 3",
            fault: "I4: 2 records or positions"),
        Change(
            statement: "UPDATE log_checkpoint SET root = sha256('x') WHERE size = \(older)",
            undoing: """
                UPDATE log_checkpoint c SET root = k.root FROM kept_roots k WHERE k.size = c.size
                """, fault: "I5: another root"),
        // Each later checkpoint has it, and the older ones claim to have seen it.
        Change(
            statement: "UPDATE evidence SET xid = '3' WHERE id = \(lastRecord)",
            undoing:
                "UPDATE evidence e SET xid = k.xid FROM kept k WHERE k.id = e.id",
            fault: "I6: the checkpoint"),
        Change(
            statement: """
                UPDATE evidence SET leaf = convert_to(regexp_replace(convert_from(leaf, 'UTF8'),
                       '"aprev":"..', '"aprev":"zz'), 'UTF8') WHERE id = \(linked)
                """,
            undoing: "UPDATE evidence e SET leaf = k.leaf FROM kept k WHERE k.id = e.id",
            fault: "I13: action"),
    ]

    @Test func `names each invariant that is broken`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let client = InsistentClient(Shift(instance))
            let paid = [
                try await client.pay(from: customer, key: "k-1"),
                try await client.pay(from: customer, key: "k-2"),
            ]
            try await bank.audit(paid)
            try await bank.expectMirror()
            _ = try await instance.process.ended()
            #expect(try await faults(bank) == [])
            try await bank.script(
                """
                SET search_path = countersign;
                CREATE TABLE kept AS SELECT l.position, e.id, e.xid, e.leaf
                  FROM evidence e JOIN log_leaf l ON l.evidence_id = e.id;
                CREATE TABLE kept_roots AS SELECT size, root FROM log_checkpoint
                """)
            for change in Self.changes {
                try await run(change.statement, bank)
                let found = try await faults(bank)
                #expect(found.contains { $0.hasPrefix(change.fault) }, "\(change.fault) \(found)")
                try await run(change.undoing, bank)
            }
            try await expectOrder(bank, paid)
            try await expectFork(bank)
            #expect(try await faults(bank) == [])
        }
    }

    /// I7: the second is said to have been acknowledged before the first was begun.
    private func expectOrder(_ bank: TestBank, _ paid: [Acknowledged]) async throws {
        let spans = paid.compactMap(\.span)
        let turned = [
            Span(begin: spans[0].begin, end: spans[0].end, id: spans[1].id),
            Span(begin: spans[1].begin, end: spans[1].end, id: spans[0].id),
        ]
        #expect(try await faults(bank, spans: spans) == [])
        #expect(
            try await faults(bank, spans: turned)
                == ["I7: \(spans[1].id) stands after \(spans[0].id)"])
    }

    /// I5: a note with the log's own signature over another tree, of a size that there is and of one that there is
    /// not.
    private func expectFork(_ bank: TestBank) async throws {
        let pem = try String(contentsOfFile: bank.folder + "/log.pem", encoding: .utf8)
        let key = try Ed25519PrivateKey(pem: pem)
        let size = Int64(try await bank.count("SELECT size FROM countersign.log_state"))
        for size in [size, size - 1] {
            let fork = Checkpoint(origin: "bank.example/log", size: size, root: sha256([7]))
            let note = try #require(
                try SignedNote.note(signing: fork.text, as: bank.logKey()) { try key.sign($0) })
            let found = try await faults(bank, notes: [note.encoded])
            #expect(found.contains("I5: the published checkpoint of \(size) is not stored"))
            let mirrored = try #require(bank.mirrored())
            let both = try await faults(bank, notes: [note.encoded, mirrored])
            #expect(both.contains { $0.hasPrefix("I5: a fork") }, "\(both)")
        }
        #expect(
            try await faults(bank, notes: [Bytes("no note".utf8)])
                == ["I5: a note that is not signed was published"])
    }

    private func faults(
        _ bank: TestBank, notes: Set<Bytes> = [], spans: [Span] = []
    ) async throws -> [String] {
        var replay = try await LogReplay(bank)
        try await replay.check(notes: notes, spans: spans)
        return replay.faults
    }

    private func run(_ statement: String, _ bank: TestBank) async throws {
        let tables = ["evidence", "log_leaf", "log_checkpoint"]
        try await bank.script(
            """
            SET session_replication_role = replica;
            SET search_path = countersign;
            \(tables.map { "ALTER TABLE \($0) DISABLE TRIGGER ALL" }.joined(separator: "; "));
            \(statement)
            """)
    }
}
