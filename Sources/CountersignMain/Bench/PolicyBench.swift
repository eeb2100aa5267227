import Countersign
import Crypto

/// What the rules of a policy cost the service, and how long a dry run takes.
///
/// Flows under the rules of version 1 and under every rule at once take turns, on the same customers, so
/// that whatever else the machine does meets both.
struct PolicyBench: Sendable {
    /// Decisions that the dry run decides again.
    static let decisions = 100_000
    /// Turns of each of the two.
    private static let turns = 4

    let bank: BenchBank
    /// The length of each turn.
    let seconds: Int

    /// Measures and prints.
    ///
    /// - Throws: ``CommandFailure`` when a flow failed, or the dry run did not decide all of them.
    func run() async throws {
        try await compareRules()
        try await dryRun()
    }

    // MARK: The rules

    /// One turn: what a flow took, and what it cost.
    private struct Turn {
        let approve: Double
        let cpu: Double
    }

    private func compareRules() async throws {
        var turns: [[Turn]] = [[], []]
        Console.out(BenchPhase.heading)
        for turn in 0..<(2 * Self.turns) {
            let every = turn % 2 == 1
            try await bank.database.run(Self.publish(every ? Self.everyRule : "{}"))
            // The first flows under a new version read and check its document.
            _ = await bank.load.run(.time(.seconds(1)))
            turns[turn % 2].append(try await measure(every ? "every rule" : "first rules"))
        }
        func ratio(_ value: (Turn) -> Double) -> String {
            fixed(median(turns[1].map(value)) / median(turns[0].map(value)), 2)
        }
        Console.out(
            """

            every rule / first rules, medians of \(Self.turns) turns each:
              median time of an approval  \(ratio(\.approve))
              CPU of service and Postgres \(ratio(\.cpu))

            """)
    }

    private func measure(_ name: String) async throws -> Turn {
        let mark = UsageMark(bank.participants)
        let result = await bank.load.run(.time(.seconds(seconds)))
        let usage = mark.used(bank.participants)
        try result.demandNoErrors()
        Console.out(
            BenchPhase(
                name: name, flows: result.flows, perSecond: result.perSecond, usage: usage
            ).line)
        return Turn(
            approve: Double(Percentiles(result.approve).p50),
            cpu: (usage.service + usage.postgres) / Double(max(1, result.flows)))
    }

    /// The next version: the newest one's own limits with these members over version 1.
    private static func publish(_ rules: String) -> String {
        """
        INSERT INTO countersign.policy (version, time_zone, active_from, document)
        SELECT newest.version + 1, first.time_zone, clock_timestamp(),
               convert_to((jsonb_set(convert_from(first.document, 'UTF8')::jsonb,
                   '{currencies,EUR,daily_max}', '"9999999999.00"') || '\(rules)'::jsonb)::text, 'UTF8')
          FROM countersign.policy first,
               (SELECT version FROM countersign.policy ORDER BY version DESC LIMIT 1) newest
         WHERE first.version = 1
        """
    }

    /// Every rule that a transfer can meet, each so wide that none refuses or holds a flow.
    private static let everyRule = """
        {"daily_window": "rolling_24h",
         "velocity": {"transfers_max": 10000, "window_s": 3600},
         "recovery": {"hold_s": 259200, "payee_age_s": 2592000, "held_approvals": "cancel"},
         "factors_above": {"EUR": [{"above": "40000.00", "kinds": ["passkey"]}]},
         "backup_eligible": {"transfer": {"allowed": true, "max": {"EUR": "300.00"}}},
         "signals": {"remote_access": {"refuse": true},
                     "new_device": {"max": {"EUR": "40000.00"}, "kinds": ["transfer"]},
                     "rooted": {"factors": ["passkey"]}},
         "name_check": {"match": {"max": {"EUR": "45000.00"}}, "no_match": {"hold_s": 3600}},
         "limit_change": {"delay_s": 43200, "single_max": {"EUR": "60000.00"}},
         "segments": {"young": {"velocity": {"transfers_max": 10000, "window_s": 3600}},
                      "private": {}}}
        """

    // MARK: The dry run

    private func dryRun() async throws {
        let period = try await bank.database.row(Self.multiplied, ["first", "last"])
        try await bank.database.settle()
        let begin = ContinuousClock.now
        let answer = try await bank.risk.post(
            "/v1/policies/simulate",
            [
                "document": try await draft(), "from": .string(period[0]),
                "to": .string(period[1]),
            ])
        let seconds = (ContinuousClock.now - begin).inSeconds
        guard answer.status == 200, answer.json["decided"] == .integer(Int64(Self.decisions)) else {
            throw CommandFailure("the dry run: \(answer.status) \(answer.problem ?? "")")
        }
        Console.out(
            "dry run of \(Self.decisions) decisions under every rule: \(fixed(seconds, 2)) s, "
                + "\(fixed(Double(Self.decisions) / seconds, 0)) decisions/s")
    }

    /// The newest version's document.
    private func draft() async throws -> JSON {
        let text = try await bank.database.row(
            """
            SELECT convert_from(document, 'UTF8') AS document FROM countersign.policy
             ORDER BY version DESC LIMIT 1
            """, ["document"])[0]
        guard let json = SignedJSON.decode(Bytes(text.utf8)) else {
            throw CommandFailure("the policy is no JSON")
        }
        return json
    }

    /// Copies of the newest decisions, a millisecond apart, a year ahead; their period.
    private static let multiplied = """
        WITH model AS MATERIALIZED (
            SELECT action_id, policy_version, inputs, outcome, row_number() OVER () AS n
              FROM (SELECT * FROM countersign.policy_decision ORDER BY decided_at DESC LIMIT 1000) d),
        copies AS (
            INSERT INTO countersign.policy_decision
                   (evidence_id, action_id, policy_version, decided_at, inputs, outcome)
            SELECT gen_random_uuid(), m.action_id, m.policy_version,
                   date_trunc('day', now()) + interval '1 year' + make_interval(secs => copy.number / 1000.0),
                   m.inputs, m.outcome
              FROM generate_series(0, \(decisions - 1)) AS copy (number)
              JOIN model m ON m.n = 1 + copy.number % (SELECT count(*) FROM model)
            RETURNING decided_at)
        SELECT to_char(min(decided_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS first,
               to_char(max(decided_at) AT TIME ZONE 'UTC' + interval '1 second',
                       'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last FROM copies
        """
}
