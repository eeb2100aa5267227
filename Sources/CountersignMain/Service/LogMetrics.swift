import Countersign
import HTTP
import Postgres
import Synchronization

/// What an operator sees of the log.
final class LogMetrics: Sendable {
    private let size = Atomic<Int>(0)
    private let failures: Counters
    private let refusals: Counters
    private let lag: Histograms
    private let waited = Atomic<Int>(-1)
    private let lastMirrored = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter metrics: Where the numbers are shown.
    init(_ metrics: Metrics) {
        lag = metrics.histograms(
            "countersign_log_lag_seconds",
            help:
                "From the time of the oldest record of a batch until its checkpoint was published.",
            buckets: [100, 250, 500, 750, 1000, 1500, 2500, 5000, 10_000].map { .milliseconds($0) })
        failures = metrics.counters(
            "countersign_log_failures_total", help: "Rounds of the sequencer that failed.")
        refusals = metrics.counters(
            "countersign_log_refusals_total",
            help: "Rounds in which this log was not what is held of it outside: page somebody.")
        metrics.gauge(
            "countersign_log_size", help: "Positions given by this instance's last batch."
        ) { [weak self] in self?.size.load(ordering: .relaxed) ?? 0 }
        metrics.gauge(
            "countersign_log_waiting_seconds",
            help: "For how long the oldest record has waited that is in no batch; -1 when unknown."
        ) { [weak self] in self?.waited.load(ordering: .relaxed) ?? -1 }
        metrics.gauge(
            "countersign_log_mirror_age_seconds",
            help: "Since the mirror was last brought up to date; -1 before the first time."
        ) { [weak self] in
            self?.lastMirrored.withLock { $0 }.map { Int((.now - $0).inSeconds) } ?? -1
        }
    }

    func failed() { failures.increment() }

    /// Whoever leads, and whether anybody does: nothing is sequenced where this grows.
    func waiting(seconds: Int?) { waited.store(seconds ?? -1, ordering: .relaxed) }

    /// The log is another than what is held at that place, and somebody is paged.
    func mismatched(_ anchor: StaticString) {
        refusals.increment()
        Log.event(.logMismatch, .code("anchor", anchor), .logRunbook)
    }

    func mirrored(at now: ContinuousClock.Instant) { lastMirrored.withLock { $0 = now } }

    func sequenced(_ batch: PostgresLog.Batch, at now: Instant) {
        size.store(Int(batch.size), ordering: .relaxed)
        guard let oldest = batch.oldest else { return }
        lag.record(.milliseconds(max(0, now.milliseconds - oldest.milliseconds)))
    }
}

extension Metrics {
    /// The age in seconds of something of each of several, by a time that they stated; -1 before the first.
    func ages(
        _ name: String, help: String, label: Label,
        _ read: @escaping @Sendable (String) -> Instant?
    ) {
        gauges(name, help: help, label: label) { one in
            read(one).map { Int((systemTime().milliseconds - $0.milliseconds) / 1000) } ?? -1
        }
    }
}
