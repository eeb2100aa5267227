import Countersign
import Evidence
import Postgres

extension Command {
    static let evidenceVerify = Command(
        name: "evidence verify",
        summary: "Check every record and every customer's signature again, from raw bytes (as "
            + "countersign_auditor)",
        options: evidenceFilters, settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        try await EvidenceReader.use(invocation) { reader in
            let tally = try await reader.verify()
            if tally.isDevelopment {
                Console.out(
                    "this installation is for development: policies and payees need no people")
            }
            Console.out(
                "\(tally.records) records, \(tally.signatures) signatures verified, "
                    + "\(tally.remarks) to look at, \(tally.erased) erased, "
                    + "\(tally.detached) detached, \(tally.faults) faults")
            guard tally.faults == 0 else { throw CommandFailure("the evidence is not intact") }
        }
    }
}

extension EvidenceReader {
    /// What `evidence verify` found.
    struct Tally {
        var records = 0
        var signatures = 0
        var remarks = 0
        /// Records whose bodies went with their customer.
        var erased = 0
        /// Records that are kept elsewhere with their month.
        var detached: Int64 = 0
        var faults = 0
        var isDevelopment = false

        /// Counts a fault, and says whose it is.
        mutating func count(_ fault: EvidenceFault, of record: String) {
            faults += 1
            Console.out("\(record): \(fault.rawValue)")
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
        let months = try await detached.months()
        let verifier = EvidenceVerifier(
            keyEncryption: keyEncryption, erasures: try await erasures())
        var audit = EvidenceAudit(verifier: verifier, migrated: Migration.policies)
        // A filter leaves enrolments and links of chains out, so only the whole is checked for them.
        let isWhole = filter.action == nil && filter.customer == nil && filter.kind == nil
        var tally = Tally()
        var chained: [StoredEvidence] = []
        try await forEach { found in
            let record = found.record
            // A month that was attached again holds what was kept of it, too.
            if let last = chained.last, last.id == record.id, last.leaf == record.leaf { return }
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
                tally.count(error, of: "\(record.id) \(record.kind)")
            }
        }
        guard isWhole else { return tally }
        try await finish(&tally, audit, chained, months)
        return tally
    }

    /// What only the whole shows.
    private func finish(
        _ tally: inout Tally, _ audit: EvidenceAudit, _ records: [StoredEvidence],
        _ months: DetachedMonths
    ) async throws {
        tally.isDevelopment = audit.installation == .development
        if audit.installation == .unstated {
            tally.faults += 1
            Console.out(
                "no record says whether this installation is for development: run "
                    + "countersign migrate")
        }
        tally.detached = months.records
        for month in months.months {
            guard let kept = month.content.kept else { continue }
            if try await detached.kept(of: month.name) != kept {
                tally.count(.kept, of: month.name)
            }
        }
        // Whoever takes the record of a detaching away leaves what was kept behind.
        if try await detached.kept() != months.kept { tally.count(.kept, of: "evidence_kept") }
        let chains = EvidenceChains(records)
        let elsewhere = try await detached.leaves(chains.missing, of: months)
        for id in chains.broken(detached: elsewhere) { tally.count(.chain, of: id.text) }
        guard try await detached.months().months == months.months else {
            throw CommandFailure("a month was detached meanwhile: run this again")
        }
    }
}
