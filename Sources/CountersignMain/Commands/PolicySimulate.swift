import Countersign

extension Command {
    static let policySimulate = Command(
        name: "policy simulate",
        summary: "Decide the decisions of a period again under a draft, and show what changes",
        positionals: [.init(name: "FILE", what: "the draft, JSON")],
        options: ServiceAccess.options + [
            .init(
                name: "from", placeholder: "TIME", what: "the first decision's time, in UTC",
                isRequired: true),
            .init(
                name: "to", placeholder: "TIME", what: "the end of the period, in UTC",
                isRequired: true),
        ]
    ) { invocation in
        guard let from = invocation.option("from"), let to = invocation.option("to") else {
            throw UsageError("--from and --to are needed")
        }
        let client = try ServiceAccess.client(invocation)
        let report = try ServiceAccess.demand(
            await client.post(
                "/v1/policies/simulate",
                [
                    "document": try ServiceAccess.json(invocation.positionals[0]),
                    "from": .string(from), "to": .string(to),
                ]))
        for line in SimulationText.lines(report) { Console.out(line) }
    }
}

/// A dry run's report as people read it.
enum SimulationText {
    /// The lines of a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - incomplete: What to say when it is not about all decisions.
    /// - Returns: The lines.
    static func lines(
        _ report: JSON, incomplete: String = "the period holds more decisions"
    ) -> [String] {
        var lines = [
            "\(report["decided"]?.shown ?? "?") decisions, \(report["changed"]?.shown ?? "?") changed"
        ]
        if let undecidable = report["undecidable"], undecidable != .integer(0) {
            lines.append("\(undecidable.shown) decisions could not be decided again")
        }
        if report["complete"] == .bool(false) { lines.append(incomplete) }
        for name in ["outcomes", "rules"] {
            guard case .object(let members)? = report[name] else { continue }
            lines += members.map { "  \($0.name)  \(counts($0.value))" }
        }
        if case .array(let bands)? = report["amount_bands"] {
            lines += bands.map {
                "  from \($0["from"]?.text ?? "") \($0["currency"]?.text ?? "")  \(counts($0))"
            }
        }
        if case .array(let changes)? = report["changes"] {
            lines += changes.map { change in
                "  \(change["action_id"]?.text ?? "")  \(outcome(change["before"]))"
                    + " -> \(outcome(change["after"]))"
            }
        }
        return lines
    }

    private static func counts(_ json: JSON) -> String {
        "\(json["before"]?.shown ?? "?") -> \(json["after"]?.shown ?? "?")"
    }

    private static func outcome(_ json: JSON?) -> String {
        [json?["outcome"]?.text, json?["rule"]?.text].compactMap(\.self).joined(separator: " ")
    }
}
