import Countersign
import Crypto
import Evidence
import Postgres

extension Command {
    static let evidenceFsck = Command(
        name: "evidence fsck",
        summary: "Make the log again from its records and compare all that is stored (as "
            + "countersign_auditor)",
        options: [
            .init(name: "from", placeholder: "N", what: "only from this position on"),
            .init(name: "to", placeholder: "N", what: "only before this position"),
            .init(
                name: "key", placeholder: "VERIFIER_KEY",
                what: "the log's verifier key of today; without it, that of log.key"),
        ],
        settings: ["database.url", "development", "evidence.origin", "log"],
        required: ["database.url", "evidence.origin"]
    ) { invocation in
        let keys = try fsckKeys(invocation)
        var range: Range<Int64>?
        let from = try position(invocation, "from") ?? 0
        let end = try position(invocation, "to")
        if from > 0 || end != nil {
            guard from < end ?? .max else { throw UsageError("--from is not before --to") }
            range = from..<(end ?? .max)
        }
        let trust = FsckTrust(
            keys: keys, witnesses: try invocation.configuration.witnessPolicy(),
            anchors: try invocation.configuration.timestampAnchors(),
            policies: invocation.configuration.log.timestampPolicies)
        try await invocation.configuration.withDatabase(statementDeadline: Configuration.patience) {
            try await fsck(PostgresLogAudit(database: $0), range, trust)
        }
    }

    /// Whose signatures are believed.
    private struct FsckTrust {
        let keys: [VerifierKey]
        let witnesses: TrustPolicy?
        let anchors: [Certificate]
        let policies: [String]
    }

    private static func fsck(
        _ audit: PostgresLogAudit, _ range: Range<Int64>?, _ trust: FsckTrust
    ) async throws {
        let size: Int64
        var testimony: PostgresLogAudit.Testimony?
        do {
            size = try await audit.check(range, keys: trust.keys)
            if range == nil {
                testimony = try await audit.checkTestimony(
                    witnesses: trust.witnesses, anchors: trust.anchors,
                    policies: trust.policies)
            }
        } catch let fault as LogFault {
            throw CommandFailure(
                "the log is not intact: position \(fault.position): \(fault.what.rawValue)")
        }
        // A log that was never begun agrees with everything.
        guard size > 0 else { throw CommandFailure("the log has no checkpoint of anything yet") }
        Console.out(
            "positions \(range?.lowerBound ?? 0) to \(size): records, positions, tiles, roots and "
                + "signatures agree")
        guard let testimony else { return }
        Console.out(
            "\(testimony.cosignatures) cosignatures and \(testimony.timestamps) timestamps are as they were "
                + "recorded; \(testimony.verifiedCosignatures) and \(testimony.verifiedTimestamps) were verified"
        )
        try await demandComplete(audit, size)
    }

    /// How many records without a position are named.
    private static let straysMax = 100

    private static func demandComplete(_ audit: PostgresLogAudit, _ size: Int64) async throws {
        let found = try await audit.completeness(of: size)
        Console.out(
            "of the checkpoint's records \(found.unsequenced) are in no position, \(found.missing) "
                + "are gone, \(found.altered) have another leaf")
        // Named before it fails: whoever looks into it begins with these.
        let strays = try await audit.strays(limit: straysMax)
        for stray in strays {
            Console.out("record \(stray.text) has no position, and no batch would give it one")
        }
        if strays.count == straysMax { Console.out("and maybe more") }
        guard found == .init(unsequenced: 0, missing: 0, altered: 0), strays.isEmpty else {
            throw CommandFailure("the log is not complete")
        }
    }

    private static func fsckKeys(_ invocation: Invocation) throws -> [VerifierKey] {
        if let text = invocation.option("key") {
            guard let key = VerifierKey(text: text), key.kind == .ed25519 else {
                throw UsageError("--key is not a verifier key of Ed25519")
            }
            return [key]
        }
        guard let signer = try invocation.configuration.logSigner() else {
            throw UsageError("--key is missing, and so is log.key")
        }
        return signer.keys.map(\.verifierKey)
    }

    private static func position(
        _ invocation: Invocation, _ name: String
    ) throws(UsageError) -> Int64? {
        guard let text = invocation.option(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw UsageError("--\(name) is not a position")
        }
        return number
    }
}
