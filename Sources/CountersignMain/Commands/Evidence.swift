import Countersign
import Crypto
import Evidence
import Foundation
import Postgres

extension Command {
    /// Of whatever reads evidence or writes some.
    static let evidenceSettings = ["database.url", "development", "evidence"]
    static let evidenceRequired = [
        "database.url", "evidence.origin", "evidence.key_encryption_key",
    ]
    static let evidenceFilters: [Option] = [
        .init(name: "action", placeholder: "ID", what: "only of this action"),
        .init(name: "customer", placeholder: "ID", what: "only of this customer"),
        .init(name: "kind", placeholder: "KIND", what: "only of this kind"),
    ]

    static let evidenceList = Command(
        name: "evidence list", summary: "List evidence, newest last (as countersign_auditor)",
        options: evidenceFilters,
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        try await EvidenceReader.use(invocation) { reader in
            try await reader.store.record(reader.query, by: .list)
            try await reader.forEach { found in
                let record = found.record
                let about = record.action?.text ?? record.credential?.text ?? "-"
                let kind = record.kind.padding(toLength: 20, withPad: " ", startingAt: 0)
                Console.out("\(record.id)  \(record.recordedAt.text)  \(kind)  \(about)")
            }
        }
    }

    static let evidenceShow = Command(
        name: "evidence show", summary: "Show one record with everything that proves it",
        positionals: [.init(name: "ID", what: "the record")],
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        guard let id = ID<Countersign.Evidence>(invocation.positionals[0]) else {
            throw UsageError("ID is not an ID of evidence")
        }
        try await EvidenceReader.use(invocation) { reader in
            guard let found = try await reader.store.stored(id) else {
                throw CommandFailure("there is no such record")
            }
            try await reader.store.record(id, by: .show)
            let record = reader.store.opened(found)
            let body = record.body.map { String(decoding: $0.encoded, as: UTF8.self) }
            Console.out("kind       \(record.kind)")
            Console.out("at         \(record.at.text)")
            Console.out("customer   \(record.customerID?.text ?? "-")")
            Console.out("leaf       \(String(decoding: record.leaf, as: UTF8.self))")
            Console.out("leaf_hash  \(record.leafHash.hex)")
            Console.out("body       \(body ?? "-")")
        }
    }
}

/// Reads evidence for the commands, page by page.
struct EvidenceReader {
    let store: PostgresEvidenceStore
    let detached: PostgresDetachedMonths
    let keyEncryption: KeyEncryptionKey
    let filter: (action: ID<Action>?, customer: CustomerID?, kind: String?)

    static func use(
        _ invocation: Invocation, _ body: (EvidenceReader) async throws -> Void
    ) async throws {
        var action: ID<Action>?
        if let text = invocation.option("action") {
            guard let id = ID<Action>(text) else { throw UsageError("--action is not an ID") }
            action = id
        }
        var customer: CustomerID?
        if let text = invocation.option("customer") {
            do throws(InvalidValue) { customer = try CustomerID(text) } catch {
                throw UsageError("--customer is not a customer's ID")
            }
        }
        let (sealer, keyEncryption) = try invocation.configuration.evidenceKeys()
        let filter = (action, customer, invocation.option("kind"))
        try await invocation.configuration.withDatabase(statementDeadline: Configuration.patience) {
            database in
            let service = ServiceSubject(
                database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: .openSSL)
            try await body(
                EvidenceReader(
                    store: PostgresEvidenceStore(
                        database: database, keyEncryption: keyEncryption, service: service),
                    detached: PostgresDetachedMonths(
                        database: database, keyEncryption: keyEncryption),
                    keyEncryption: keyEncryption, filter: filter))
        }
    }

    /// What the options ask for.
    var query: EvidenceQuery {
        EvidenceQuery(
            actionID: filter.action, customerID: filter.customer, credentialID: nil,
            kind: filter.kind, from: nil, to: nil, limit: 500, after: nil)
    }

    func forEach(_ body: (PostgresEvidenceStore.Found) throws -> Void) async throws {
        try await forEach(query, body)
    }

    func forEach(
        _ query: EvidenceQuery, _ body: (PostgresEvidenceStore.Found) throws -> Void
    ) async throws {
        var query = query
        while true {
            let (found, hasMore) = try await store.stored(query)
            for record in found { try body(record) }
            guard hasMore, let last = found.last else { return }
            query.after = last.record.id
        }
    }
}
