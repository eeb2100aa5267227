import Foundation

/// One phase of a benchmark, as it is printed.
struct BenchPhase: Sendable, Equatable {
    let name: String
    let flows: Int
    let perSecond: Double
    let usage: Usage

    /// Rate, and what a thousand flows cost each participant.
    var line: String {
        func cost(_ seconds: Double) -> String { fixed(seconds * 1000 / Double(max(1, flows)), 3) }
        return "  \(padded(name, 28)) \(padded(fixed(perSecond, 0), -9))"
            + " \(padded(cost(usage.service), -9)) \(padded(cost(usage.postgres), -9))"
            + " \(padded(cost(usage.client), -9)) \(padded(fixed(usage.others, 2), -9))"
    }

    static let heading = """
          phase                          flows/s   CPU seconds per 1,000 flows    others'
                                                   service  Postgres    client      cores
        """
}

/// How the service compares with its own statements without it.
struct BenchRatio: Sendable, Equatable {
    /// Flows per second of the service.
    let service: Double
    /// Flows per second of `pgbench`, before and after.
    let pgbench: [Double]
    /// Parameters made per second by `pgbench` alone, before and after.
    let generation: [Double]

    /// Against what `pgbench` really reached.
    var asMeasured: Double { service / mean(pgbench) }

    /// Against what it would reach if parameters cost nothing: 1/(1/flows − 1/generations).
    var withoutGeneration: Double { service / pgbenchWithoutGeneration }

    var pgbenchWithoutGeneration: Double { 1 / (1 / mean(pgbench) - 1 / mean(generation)) }

    var lines: [String] {
        [
            "ratio service / pgbench, which also makes its parameters:      "
                + "\(fixed(asMeasured, 2))  (\(fixed(service, 0)) / \(fixed(mean(pgbench), 0)))",
            "ratio service / pgbench, the making of parameters subtracted:  "
                + "\(fixed(withoutGeneration, 2))  (\(fixed(service, 0)) / "
                + "\(fixed(pgbenchWithoutGeneration, 0)))",
            "pgbench after / before: \(fixed((pgbench.last ?? 0) / (pgbench.first ?? 1), 2))"
                + " — as far as this is from 1, the machine was not steady",
        ]
    }

    private func mean(_ values: [Double]) -> Double {
        values.reduce(0, +) / Double(max(1, values.count))
    }
}

extension LoadResult {
    var perSecond: Double { Double(flows) / max(elapsed.inSeconds, 0.001) }

    /// Latencies as the caller saw them, then what went wrong.
    var lines: [String] {
        let rows: [(String, [Int64])] = [
            ("flow (with signing)", flow), ("create", create), ("approve", approve),
        ]
        let latencies = rows.map { name, samples in
            let p = Percentiles(samples)
            return "  \(padded(name, 22))"
                + [p.p50, p.p95, p.p99, p.max]
                .map { padded(fixed(Double($0) / 1000, 2), -9) }.joined()
        }
        return ["  \(padded("latency in ms", 22))      p50      p95      p99      max"] + latencies
            + ["errors: \(errorCount)"]
            + errors.sorted { $0.key < $1.key }.map { "  \($0.value) × \($0.key)" }
    }
}

extension MemoryVerdict {
    var line: String {
        "memory of the last half: \(growthKiB >= 0 ? "+" : "")\(growthKiB) KiB over \(flows) flows; "
            + (isFlat ? "flat" : "NOT FLAT") + " (bound \(Self.growthKiBMax) KiB)"
    }
}

/// A number with so many decimals, the same in every locale.
func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite else { return "—" }
    return String(format: "%.\(decimals)f", value)
}

/// Text of at least `width` characters: to the left, or to the right when it is negative.
func padded(_ text: String, _ width: Int) -> String {
    let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? spaces + text : text + spaces
}
