import Countersign
import Crypto
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain
@testable import Evidence

/// The log of a bank with more than a hundred records, in which somebody with all rights and all keys changes
/// something; `evidence fsck` and `evidence verify` say where, and it is put back.
struct TamperedLog {
    private let bank: TestBank
    private let records: [StoredEvidence]
    private let key: KeyEncryptionKey

    private static let tables = ["evidence", "evidence_body", "log_leaf"]
    private static let row = 50

    init(_ bank: TestBank) async throws {
        self.bank = bank
        let instance = try await bank.serve()
        let customers = try await bank.customers(2, at: instance)
        let progress = Progress()
        try await progress.rush(customers, payments: 12, through: [Shift(instance)])
        try await bank.audit(await progress.acknowledged)
        _ = try await instance.process.ended()
        let positions = try await bank.sql(
            "SELECT evidence_id::text AS id FROM countersign.log_leaf ORDER BY position"
        ).map { row -> String in try row["id"] }
        #expect(positions.count >= 100)
        let stored = Dictionary(
            uniqueKeysWithValues: try await bank.everything().map { ($0.id.text, $0) })
        records = positions.compactMap { stored[$0] }
        #expect(records.count == positions.count)
        key = try bank.keyEncryption()
        for table in Self.tables {
            try await bank.sql(
                "CREATE TABLE public.kept_\(table) AS SELECT * FROM countersign.\(table)")
        }
    }

    /// What somebody does, and where it must be found: at that position or the one after it.
    private struct Tampering {
        let statements: String
        let position: Int
    }

    func judge(_ one: Case) async throws -> Judgement {
        guard let op = one.input("op")?.text, let tampering = try await tampering(op) else {
            return .deviating("unread")
        }
        if let found = try await findings() { return .deviating("already \(found)") }
        try await run(tampering.statements)
        let found = try await findings()
        try await putBack()
        guard let found else { return .deviating("not found") }
        guard let position = found.position else { return .deviating(found.text) }
        return (tampering.position...tampering.position + 1).contains(position)
            ? .asExpected : .deviating("found at \(position): \(found.text)")
    }

    private func tampering(_ op: String) async throws -> Tampering? {
        let fifty = records[Self.row].id.text
        switch op {
        case "DELETE row 50": return Tampering(statements: delete([Self.row]), position: Self.row)
        case "DELETE all rows of action 7":
            var actions: [ID<Action>] = []
            for case let action? in records.map(\.action) where !actions.contains(action) {
                actions.append(action)
            }
            let rows = records.indices.filter { records[$0].action == actions[7] }
            return Tampering(statements: delete(rows), position: rows[0])
        case "INSERT a second row with seq 50":
            return Tampering(
                statements: """
                    ALTER TABLE log_leaf DROP CONSTRAINT log_leaf_pkey;
                    INSERT INTO log_leaf VALUES (50, gen_random_uuid(), sha256('x'))
                    """, position: Self.row)
        case "INSERT a copy of row 50 between 60 and 61":
            let copy = String(fifty.dropLast(12)) + "0123456789ab"
            return Tampering(
                statements: """
                    INSERT INTO evidence (id, xid, kind, action_id, subject_id, credential_id, leaf,
                                          body_commit, recorded_at)
                    SELECT '\(copy)', s.xid, f.kind, f.action_id, f.subject_id, f.credential_id, f.leaf,
                           f.body_commit, s.recorded_at
                      FROM evidence f, evidence s
                     WHERE f.id = '\(fifty)' AND s.id = '\(records[60].id.text)'
                    """, position: Self.row)
        case let op where op.hasPrefix("UPDATE row 50 SET "):
            return try update(
                String(op.dropFirst("UPDATE row 50 SET ".count).prefix { $0 != " " }))
        default: return nil
        }
    }

    private func delete(_ rows: [Int]) -> String {
        let ids = rows.map { "'\(records[$0].id.text)'" }.joined(separator: ", ")
        return "DELETE FROM evidence WHERE id IN (\(ids))"
    }

    /// A change of a column as this schema has it: of the record at position 50, or of the first one after it
    /// whose body has such a member.
    private func update(_ column: String) throws -> Tampering? {
        let id = records[Self.row].id.text
        switch column {
        case "seq":
            return Tampering(
                statements: "UPDATE log_leaf SET position = 100000 WHERE position = 50",
                position: Self.row)
        case "user_id":
            return Tampering(
                statements: "UPDATE evidence SET subject_id = gen_random_uuid() WHERE id = '\(id)'",
                position: Self.row)
        case "prev_hash":
            guard
                let row = records.indices.dropFirst(Self.row).first(where: { row in
                    EvidenceLeaf(decoding: records[row].leaf)?.action?.previous.isEmpty == false
                })
            else { return nil }
            return Tampering(
                statements: """
                    UPDATE evidence SET leaf = convert_to(regexp_replace(convert_from(leaf, 'UTF8'),
                           '"aprev":"..', '"aprev":"00'), 'UTF8') WHERE id = '\(records[row].id.text)'
                    """, position: row)
        case "payee_iban": return try body(Cast.knownAccount, "NL91ABNA0417164300")
        case "payee_name": return try body(Cast.knownName, "Mallory")
        case "signature", "public_key": return try body("\"\(column)\":\"", "\"\(column)\":\"A")
        default: return nil
        }
    }

    /// A body in which one text is another one, encrypted under the customer's own key.
    private func body(_ old: String, _ new: String) throws -> Tampering? {
        for row in records.indices.dropFirst(Self.row) {
            let record = records[row]
            guard let plain = record.openBody(with: key), let body = record.body,
                let dataKey = key.unwrap(body.wrappedKey, for: body.subject ?? record.subject)
            else { continue }
            let text = String(decoding: plain, as: UTF8.self)
            guard text.contains(old) else { continue }
            let changed = Bytes(text.replacing(old, with: new, maxReplacements: 1).utf8)
            let nonce = EntropySource.openSSL(12)
            let sealed = dataKey.seal(changed, of: record.id, nonce: nonce)
            return Tampering(
                statements: """
                    UPDATE evidence_body SET nonce = '\\x\(Hex.encode(nonce))',
                           ciphertext = '\\x\(Hex.encode(sealed))'
                     WHERE evidence_id = '\(record.id.text)'
                    """, position: row)
        }
        return nil
    }

    /// What the program finds, and the first position that it names; `nil` when it finds nothing.
    private func findings() async throws -> (position: Int?, text: String)? {
        let fsck = try await bank.run(["evidence", "fsck"], as: "countersign_auditor")
        if fsck.0 != .exited(0) {
            let named = fsck.1.firstMatch(of: /position ([0-9]+)/).flatMap { Int($0.1) }
            return (named ?? copied(fsck.1), fsck.1)
        }
        let verify = try await bank.run(["evidence", "verify"], as: "countersign_auditor")
        guard verify.0 != .exited(0) else { return nil }
        return (records.firstIndex { verify.1.contains($0.id.text) }, verify.1)
    }

    /// The position of the record of which the one that `fsck` names is a copy.
    private func copied(_ text: String) -> Int? {
        text.firstMatch(of: /record ([0-9a-f-]{36}) has no position/).flatMap { found in
            records.firstIndex { $0.id.text.dropLast(12) == found.1.dropLast(12) }
        }
    }

    private func run(_ statements: String) async throws {
        try await bank.script(
            """
            SET session_replication_role = replica;
            SET search_path = countersign;
            \(Self.tables.map { "ALTER TABLE \($0) DISABLE TRIGGER ALL" }.joined(separator: "; "));
            \(statements)
            """)
    }

    private func putBack() async throws {
        let columns =
            "id, xid, kind, action_id, subject_id, credential_id, leaf, body_commit, recorded_at"
        try await run(
            """
            DELETE FROM evidence;
            DELETE FROM evidence_body;
            DELETE FROM log_leaf;
            INSERT INTO evidence (\(columns)) SELECT \(columns) FROM public.kept_evidence;
            INSERT INTO evidence_body SELECT * FROM public.kept_evidence_body;
            INSERT INTO log_leaf SELECT * FROM public.kept_log_leaf;
            ALTER TABLE log_leaf DROP CONSTRAINT IF EXISTS log_leaf_pkey;
            ALTER TABLE log_leaf ADD PRIMARY KEY (position)
            """)
    }
}
