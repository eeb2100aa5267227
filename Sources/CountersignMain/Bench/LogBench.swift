import Countersign
import Foundation

/// What the log costs approvals, how soon a record is in a published checkpoint, and how long a bundle takes.
///
/// The sequencer runs and rests by turns: while it rests, the benchmark holds its lead.
struct LogBench: Sendable {
    /// Turns of each of the two.
    private static let turns = 6
    /// Bundles that are asked for, one after another.
    private static let bundles = 200

    let bank: BenchBank
    /// The length of each turn.
    let seconds: Int

    /// The least that is aimed at: approvals with the sequencer for each without; seconds of lag and milliseconds of
    /// a bundle, for 99 %.
    private static let aims = (ratio: 0.95, lag: 1.5, bundle: 50.0)

    /// Measures and prints.
    ///
    /// - Throws: ``CommandFailure`` when a flow failed, a bundle was not made, or an aim was missed.
    func run() async throws {
        let (ratio, lag) = try await compare()
        let bundle = try await timeBundles()
        let missed = [
            (
                "the sequencer costs approvals more than \(fixed(1 - Self.aims.ratio, 2))",
                ratio < Self.aims.ratio
            ),
            ("the lag is \(Self.aims.lag) s or more", lag >= Self.aims.lag),
            ("a bundle takes \(Self.aims.bundle) ms or more", bundle >= Self.aims.bundle),
        ].filter(\.1).map(\.0)
        guard missed.isEmpty else {
            throw CommandFailure("aims missed: \(missed.joined(separator: "; "))")
        }
        Console.out("every aim is met")
    }

    /// - Returns: The ratio of approvals, and the seconds within which 99 % of the batches were published.
    private func compare() async throws -> (ratio: Double, lag: Double) {
        var turns: [[Double]] = [[], []]
        var lags = LagBuckets()
        Console.out(BenchPhase.heading)
        for turn in 0..<(2 * Self.turns) {
            guard turn % 2 == 1 else {
                try await bank.database.holdingLead {
                    turns[0].append(try await measure("sequencer resting"))
                }
                continue
            }
            try await caughtUp()
            let before = LagBuckets(metrics: try await bank.metrics())
            turns[1].append(try await measure("sequencer running"))
            lags.add(LagBuckets(metrics: try await bank.metrics()), since: before)
        }
        let ratio = median(turns[1]) / median(turns[0])
        Console.out(
            """

            approvals per second with the sequencer / without, medians of \(Self.turns) turns each: \
            \(fixed(ratio, 2))
            from the oldest record of a batch to its published checkpoint, \(lags.count) batches under \
            full load: at most \(lags.bound(0.5)) s for half, \(lags.bound(0.99)) s for 99 %

            """)
        return (ratio, Double(lags.bound(0.99)) ?? .infinity)
    }

    private func measure(_ name: String) async throws -> Double {
        _ = await bank.load.run(.time(.seconds(1)))
        let mark = UsageMark(bank.participants)
        let result = await bank.load.run(.time(.seconds(seconds)))
        try result.demandNoErrors()
        Console.out(
            BenchPhase(
                name: name, flows: result.flows, perSecond: result.perSecond,
                usage: mark.used(bank.participants)
            ).line)
        return result.perSecond
    }

    /// Waits until everything is in a published checkpoint.
    private func caughtUp() async throws {
        for _ in 0..<600 {
            let left = try await bank.database.row(
                """
                SELECT ((SELECT count(*) FROM countersign.evidence)
                        - (SELECT published FROM countersign.log_state))::text AS n
                """, ["n"])
            if left == ["0"] { return }
            await pause(.milliseconds(100))
        }
        throw CommandFailure("the sequencer does not catch up")
    }

    /// - Returns: The milliseconds within which 99 % of the bundles came.
    private func timeBundles() async throws -> Double {
        try await caughtUp()
        let ids = try await bank.database.column(
            """
            SELECT evidence_id::text AS id FROM countersign.decision WHERE outcome = 'approved'
             ORDER BY decided_at DESC LIMIT \(Self.bundles)
            """, "id")
        var times: [Double] = []
        var largest = 0
        for id in ids {
            let begin = ContinuousClock.now
            let answer = try await bank.auditor.get("/v1/evidence/\(id)/bundle")
            times.append((ContinuousClock.now - begin).inSeconds * 1000)
            guard answer.status == 200 else {
                throw CommandFailure("a bundle: \(answer.status) \(answer.problem ?? "")")
            }
            largest = max(largest, answer.body.count)
        }
        times.sort()
        let slow = times[times.count * 99 / 100]
        Console.out(
            "\(times.count) bundles over HTTP: \(fixed(times[times.count / 2], 1)) ms median, "
                + "\(fixed(slow, 1)) ms for 99 %; the largest \(largest) bytes")
        return slow
    }
}

/// How many batches were published within each bound of the histogram of lags.
private struct LagBuckets {
    /// By bound, each with all that are below it too.
    private var counts: [(bound: String, count: Int)] = []

    init() {}

    /// Reads the exposition format of Prometheus.
    init(metrics: String) {
        counts = metrics.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("countersign_log_lag_seconds_bucket{"),
                let bound = line.split(separator: "\"").dropFirst().first,
                let count = line.split(separator: " ").last.flatMap({ Int($0) })
            else { return nil }
            return (String(bound), count)
        }
    }

    var count: Int { counts.last?.count ?? 0 }

    mutating func add(_ after: LagBuckets, since before: LagBuckets) {
        counts = after.counts.enumerated().map { index, bucket in
            let earlier = before.counts.indices.contains(index) ? before.counts[index].count : 0
            let own = counts.indices.contains(index) ? counts[index].count : 0
            return (bucket.bound, own + bucket.count - earlier)
        }
    }

    /// The smallest bound below which this share is.
    func bound(_ share: Double) -> String {
        counts.first { Double($0.count) >= share * Double(count) && count > 0 }?.bound ?? "?"
    }
}
