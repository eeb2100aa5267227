import Countersign

extension Command {
    static let policyShadow = Command(
        name: "policy shadow",
        summary: "Evaluate a draft beside the policy in force from now on, without effect",
        positionals: [.init(name: "FILE", what: "the draft, JSON")],
        options: ServiceAccess.options + [
            .init(
                name: "until", placeholder: "TIME",
                what: "its end, in UTC; at most 30 days from now", isRequired: true),
            .init(
                name: "label", placeholder: "TEXT", what: "what to call it", isRequired: true),
        ]
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let answer = try ServiceAccess.demand(
            await client.post(
                "/v1/policies/shadows",
                [
                    "document": try ServiceAccess.json(invocation.positionals[0]),
                    "until": .string(invocation.option("until") ?? ""),
                    "label": .string(invocation.option("label") ?? ""),
                ]))
        Console.out(ShadowText.line(answer["shadow"] ?? .null))
    }

    static let policyShadowList = Command(
        name: "policy shadow list", summary: "Show the drafts that are or were evaluated so",
        options: ServiceAccess.options
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        var query = ""
        var count = 0
        while true {
            let page = try ServiceAccess.demand(
                await client.get("/v1/policies/shadows" + query))
            guard case .array(let shadows)? = page["shadows"] else { break }
            for shadow in shadows { Console.out(ShadowText.line(shadow)) }
            count += shadows.count
            guard let cursor = page["next_cursor"]?.text else { break }
            query = "?cursor=\(cursor)"
        }
        if count == 0 { Console.out("no shadow") }
    }

    static let policyShadowShow = Command(
        name: "policy shadow show", summary: "Show what one of them has found so far",
        positionals: [.init(name: "ID", what: "its ID")], options: ServiceAccess.options
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let id = try ShadowText.id(invocation.positionals[0])
        let answer = try ServiceAccess.demand(await client.get("/v1/policies/shadows/\(id)"))
        let report = answer["report"] ?? .null
        Console.out(ShadowText.line(answer["shadow"] ?? .null))
        let isForgotten = answer["shadow"]?["forgotten_at"]?.text != nil
        let incomplete = isForgotten ? "its verdicts are forgotten" : "more may come"
        for line in SimulationText.lines(report, incomplete: incomplete) { Console.out(line) }
    }

    static let policyShadowEnd = Command(
        name: "policy shadow end", summary: "End one of them before its time",
        positionals: [.init(name: "ID", what: "its ID")], options: ServiceAccess.options
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let id = try ShadowText.id(invocation.positionals[0])
        let answer = try ServiceAccess.demand(
            await client.delete("/v1/policies/shadows/\(id)"))
        Console.out(ShadowText.line(answer["shadow"] ?? .null))
    }
}

/// Shadows as people read them.
private enum ShadowText {
    /// The ID as it goes into a path.
    static func id(_ text: String) throws(UsageError) -> String {
        guard let id = ID<Shadow>(text) else { throw UsageError("ID is not an ID") }
        return id.text
    }

    static func line(_ shadow: JSON) -> String {
        func text(_ name: String) -> String { shadow[name]?.text ?? "" }
        let end = shadow["ended_at"]?.text.map { "ended \($0) by \(text("ended_by"))" }
        return "shadow \(text("id"))  \(text("state"))  \(text("label"))  by "
            + "\(text("started_by")) at \(text("started_at")), "
            + (end ?? "until \(text("until"))")
    }
}
