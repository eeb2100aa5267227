import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport

@testable import CountersignMain

extension TestBank {
    /// Lets all that is recorded so far have happened in January 2019, as if the service had run then: every record
    /// is sealed anew with that time and linked anew, and the log begins again. Only a superuser with the service's
    /// key can do that; no instance may run.
    func backDate() async throws {
        var past = try Past(folder)
        let records = try await everything()
        var statements = [Self.prologue]
        for record in records { statements.append(try past.move(record)) }
        for (table, heads) in [("action", past.actions), ("credential", past.credentials)] {
            for (id, head) in heads {
                statements.append(
                    "UPDATE \(table) SET head = '\\x\(head.leafHash?.hex ?? "")' WHERE id = '\(id)'"
                )
            }
        }
        try await script((statements + Self.epilogue).joined(separator: ";\n"))
        try FileManager.default.removeItem(atPath: mirror)
        try FileManager.default.createDirectory(
            atPath: mirror, withIntermediateDirectories: false)
    }

    /// What opens the bodies of evidence.
    func keyEncryption() throws -> KeyEncryptionKey { try Past.keys(folder).1 }

    /// Every record as it is stored, with its body.
    func everything() async throws -> [StoredEvidence] {
        let (sealer, key) = try Past.keys(folder)
        let database = Database(DatabaseOptions(connection: superuser, size: 1))
        let store = PostgresEvidenceStore(
            database: database, keyEncryption: key,
            service: ServiceSubject(
                database: database, sealer: sealer, keyEncryption: key, entropy: .openSSL))
        do {
            let found = try await store.stored(
                EvidenceQuery(
                    actionID: nil, customerID: nil, credentialID: nil, kind: nil, from: nil,
                    to: nil, limit: 10_000, after: nil))
            await database.close()
            return found.found.map(\.record)
        } catch {
            await database.close()
            throw error
        }
    }

    private static let tables = [
        "evidence", "evidence_body", "action", "credential", "log_state", "log_leaf", "log_tile",
        "log_checkpoint", "log_cosignature", "log_timestamp", "log_key", "log_chain",
        "log_quorum", "log_shown",
    ]

    private static let prologue =
        """
        SET search_path = countersign;
        SET ROLE countersign_owner;
        CREATE TABLE evidence_2019_01 PARTITION OF evidence
            FOR VALUES FROM ('016806b5-bc00-0000-0000-000000000000')
            TO ('0168a65a-e000-0000-0000-000000000000');
        RESET ROLE;

        """ + tables.map { "ALTER TABLE \($0) DISABLE TRIGGER ALL" }.joined(separator: ";\n")

    private static let epilogue =
        [
            "TRUNCATE log_state, log_leaf, log_tile, log_checkpoint, log_cosignature, log_timestamp, log_quorum, log_shown",
            "UPDATE log_chain SET length = 0, link = ''",
        ] + tables.map { "ALTER TABLE \($0) ENABLE TRIGGER ALL" }
}

/// Records as they would have been made in January 2019.
private struct Past {
    private static let start = Instant(text: "2019-01-10T10:00:00Z")

    private let sealer: EvidenceSealer
    private let keyEncryption: KeyEncryptionKey
    private var at: Instant
    private(set) var actions: [String: ChainHead] = [:]
    private(set) var credentials: [String: ChainHead] = [:]

    init(_ folder: String) throws {
        (sealer, keyEncryption) = try Self.keys(folder)
        guard let start = Self.start else { throw Unexpected("no time") }
        at = start
    }

    static func keys(_ folder: String) throws -> (EvidenceSealer, KeyEncryptionKey) {
        let text = try String(contentsOfFile: folder + "/kek", encoding: .utf8)
        guard let bytes = Hex.decode(text), let key = KeyEncryptionKey(bytes) else {
            throw Unexpected("no key")
        }
        return (
            EvidenceSealer(log: "bank.example/log", keyEncryption: key, entropy: .openSSL), key
        )
    }

    /// The statements that put a record in the place of the one that there is.
    mutating func move(_ record: StoredEvidence) throws -> String {
        let sealed = try seal(record)
        if let action = sealed.action {
            actions[action.text] = ChainHead(
                length: (actions[action.text]?.length ?? 0) + 1, leafHash: sealed.leafHash)
        }
        if let credential = sealed.credential {
            credentials[credential.text] = ChainHead(
                length: (credentials[credential.text]?.length ?? 0) + 1, leafHash: sealed.leafHash)
        }
        let (old, new) = (record.id.text, sealed.id.text)
        let columns = [sealed.action?.text, sealed.subject.text, sealed.credential?.text]
            .map { $0.map { "'\($0)'" } ?? "NULL" }.joined(separator: ", ")
        return """
            DELETE FROM evidence WHERE id = '\(old)';
            DELETE FROM evidence_body WHERE evidence_id = '\(old)';
            INSERT INTO evidence (id, kind, action_id, subject_id, credential_id, leaf, body_commit, recorded_at)
            VALUES ('\(new)', '\(sealed.kind.rawValue)', \(columns), '\\x\(Hex.encode(sealed.leaf))',
                    '\\x\(sealed.bodyCommitment.hex)', '\(at.text)');
            INSERT INTO evidence_body VALUES ('\(new)', '\(sealed.bodySubject.text)',
                '\\x\(Hex.encode(sealed.salt))', '\\x\(Hex.encode(sealed.nonce))',
                '\\x\(Hex.encode(sealed.ciphertext))');
            UPDATE credential SET evidence_id = '\(new)' WHERE evidence_id = '\(old)';
            UPDATE action SET last_evidence_id = '\(new)' WHERE last_evidence_id = '\(old)';
            UPDATE log_key SET evidence_id = '\(new)' WHERE evidence_id = '\(old)'
            """
    }

    private mutating func seal(_ record: StoredEvidence) throws -> SealedEvidence {
        at = at + Seconds(1)
        guard let opened = record.open(with: keyEncryption),
            case .object(let members)? = JSON(recorded: opened.body),
            let stored = record.body, let leaf = EvidenceLeaf(decoding: record.leaf),
            let kind = EvidenceKind(rawValue: record.kind)
        else { throw Unexpected("\(record.kind) cannot be read") }
        let draft = EvidenceDraft(
            kind, action: record.action, credential: record.credential, policy: leaf.policy,
            outcome: leaf.outcome,
            body: .object(members.filter { $0.name != "attachment_digest" }),
            attachment: opened.attachment.flatMap { JSON(recorded: $0) })
        let heads = ChainHeads(
            actions: record.action.map { [$0: actions[$0.text] ?? .empty] } ?? [:],
            credentials: record.credential.map { [$0: credentials[$0.text] ?? .empty] } ?? [:])
        let sealed = sealer.seal(
            [draft], subject: stored.subject ?? record.subject, wrappedKey: stored.wrappedKey,
            at: at, heads: heads, toldOf: record.subject)
        guard let moved = sealed?.first else { throw Unexpected("\(record.kind) is not sealed") }
        return moved
    }
}
