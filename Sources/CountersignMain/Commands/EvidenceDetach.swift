import Countersign
import Evidence
import Postgres

extension Command {
    static let evidenceDetach = Command(
        name: "evidence detach",
        summary: "Detach the oldest month of evidence, when its retention is over (as "
            + "countersign_operator)",
        positionals: [.init(name: "MONTH", what: "as 2026-01")],
        settings: evidenceSettings, required: evidenceRequired,
        check: { configuration throws(ConfigurationError) in try configuration.checkRetention() }
    ) { invocation in
        let month = invocation.positionals[0]
        guard month.wholeMatch(of: /2[0-9]{3}-(0[1-9]|1[0-2])/) != nil else {
            throw UsageError("MONTH is a year and a month, as 2026-01")
        }
        let days = invocation.configuration.evidence.retentionDays
        // A month has more records than a statement of the service may read.
        let result = try await invocation.configuration.administer(within: .seconds(600)) {
            try await detach(month, days, $0)
        }
        switch result {
        case .detached(let content):
            let kept = content.kept?.records ?? 0
            let name = month.replacing("-", with: "_")
            Console.out(
                "detached \(month): \(content.records) records. They are in the table "
                    + "countersign.evidence_\(name); keep that elsewhere before it is dropped. "
                    + "\(kept) of them, on which later ones rest, stay here too")
        case .refused(let refusal): throw CommandFailure(refusal.rawValue)
        }
    }

    private static let attempts = 5
    /// As long as whatever queued up behind an attempt needs to be done.
    private static let attemptPause = Duration.seconds(2)

    private static func detach(
        _ month: String, _ days: Int, _ administration: Administration
    ) async throws -> Administration.Detaching {
        var result = try await administration.detachEvidence(of: month, retentionDays: days)
        for _ in 1..<attempts where result == .refused(.busy) {
            await pause(attemptPause)
            result = try await administration.detachEvidence(of: month, retentionDays: days)
        }
        return result
    }
}
