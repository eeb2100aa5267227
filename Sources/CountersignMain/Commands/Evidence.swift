import Countersign
import Crypto
import Evidence
import Foundation
import Postgres

extension Command {
    private static let evidenceSettings = ["database.url", "development", "evidence"]
    private static let evidenceRequired = [
        "database.url", "evidence.origin", "evidence.key_encryption_key",
    ]
    private static let filters: [Option] = [
        .init(name: "action", placeholder: "ID", what: "only of this action"),
        .init(name: "customer", placeholder: "ID", what: "only of this customer"),
        .init(name: "kind", placeholder: "KIND", what: "only of this kind"),
    ]

    static let evidenceList = Command(
        name: "evidence list", summary: "List evidence, newest last (as countersign_auditor)",
        options: filters,
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

    static let evidenceVerify = Command(
        name: "evidence verify",
        summary: "Check every record and every customer's signature again, from raw bytes (as "
            + "countersign_auditor)",
        options: filters, settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        try await EvidenceReader.use(invocation) { reader in
            let tally = try await reader.verify()
            if tally.isDevelopment {
                Console.out(
                    "this installation is for development: policies and payees need no people")
            }
            Console.out(
                "\(tally.records) records, \(tally.signatures) signatures verified, "
                    + "\(tally.remarks) to look at, \(tally.erased) erased, \(tally.faults) faults")
            guard tally.faults == 0 else { throw CommandFailure("the evidence is not intact") }
        }
    }
}

/// Reads evidence for the commands, page by page.
struct EvidenceReader {
    let store: PostgresEvidenceStore
    private let keyEncryption: KeyEncryptionKey
    private let filter: (action: ID<Action>?, customer: CustomerID?, kind: String?)

    /// What `evidence verify` found.
    struct Tally {
        var records = 0
        var signatures = 0
        var remarks = 0
        /// Records whose bodies went with their customer.
        var erased = 0
        var faults = 0
        var isDevelopment = false
    }

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
        let database = try invocation.configuration.makePatientDatabase()
        let service = ServiceSubject(
            database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: .openSSL)
        let reader = EvidenceReader(
            store: PostgresEvidenceStore(
                database: database, keyEncryption: keyEncryption, service: service),
            keyEncryption: keyEncryption,
            filter: (action, customer, invocation.option("kind")))
        do {
            try await body(reader)
            await database.close()
        } catch {
            await database.close()
            throw error
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

    private func forEach(
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

    /// Who was erased: read before anything else, since a record is older than what tells of its erasure.
    private func erasures() async throws -> Erasures {
        var told: [StoredEvidence] = []
        try await forEach(
            EvidenceQuery(
                actionID: nil, customerID: nil, credentialID: nil,
                kind: EvidenceKind.subjectErased.rawValue, from: nil, to: nil, limit: 500,
                after: nil)
        ) { told.append($0.record) }
        return Erasures(reading: told, with: keyEncryption)
    }

    /// Checks each record by itself, and the chains when everything is read.
    func verify() async throws -> Tally {
        let verifier = EvidenceVerifier(
            keyEncryption: keyEncryption, erasures: try await erasures())
        var audit = EvidenceAudit(verifier: verifier, migrated: Migration.policies)
        // A filter leaves enrolments and links of chains out, so only the whole is checked for them.
        let isWhole = filter.action == nil && filter.customer == nil && filter.kind == nil
        var tally = Tally()
        var chained: [StoredEvidence] = []
        try await forEach { found in
            let record = found.record
            tally.records += 1
            chained.append(record.withoutBody)
            do throws(EvidenceFault) {
                switch try isWhole ? audit.check(record) : verifier.verify(record) {
                case .intact: break
                case .erased: tally.erased += 1
                case .signatureVerified: tally.signatures += 1
                case .remarkable(let remark):
                    tally.remarks += 1
                    Console.out("\(record.id) \(record.kind): \(remark.rawValue)")
                }
            } catch {
                tally.faults += 1
                Console.out("\(record.id) \(record.kind): \(error.rawValue)")
            }
        }
        if isWhole {
            tally.isDevelopment = audit.installation == .development
            if audit.installation == .unstated {
                tally.faults += 1
                Console.out(
                    "no record says whether this installation is for development: run "
                        + "countersign migrate")
            }
            for id in EvidenceVerifier.brokenLinks(in: chained) {
                tally.faults += 1
                Console.out("\(id): \(EvidenceFault.chain.rawValue)")
            }
        }
        return tally
    }
}
