import Countersign
import Evidence
import Postgres

extension Command {
    static let evidenceDetach = Command(
        name: "evidence detach",
        summary: "Detach the oldest month of evidence, when its retention is over (as "
            + "countersign_operator)",
        positionals: [.init(name: "MONTH", what: "as 2026-01")],
        settings: ["database.url", "development", "evidence"],
        required: ["database.url", "evidence.origin", "evidence.key_encryption_key"],
        check: { configuration throws(ConfigurationError) in try configuration.checkRetention() }
    ) { invocation in
        let month = invocation.positionals[0]
        guard month.wholeMatch(of: /2[0-9]{3}-(0[1-9]|1[0-2])/) != nil else {
            throw UsageError("MONTH is a year and a month, as 2026-01")
        }
        let days = invocation.configuration.evidence.retentionDays
        let result = try await invocation.configuration.administer { administration in
            try await administration.detachEvidence(of: month, retentionDays: days)
        }
        switch result {
        case .detached(let content):
            let name = month.replacing("-", with: "_")
            Console.out(
                "detached \(month): \(content.records) records. They are in the table "
                    + "countersign.evidence_\(name); keep that elsewhere before it is dropped")
        case .refused(let refusal): throw CommandFailure(refusal.rawValue)
        }
    }
}
