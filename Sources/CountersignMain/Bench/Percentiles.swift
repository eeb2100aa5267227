/// Exact percentiles of all samples, by nearest rank: every one is a value that was measured.
struct Percentiles: Sendable, Equatable {
    /// In microseconds.
    let p50: Int64
    let p95: Int64
    let p99: Int64
    /// The longest.
    let max: Int64

    /// - Parameter samples: In microseconds, in any order; none give zeros.
    init(_ samples: [Int64]) {
        let sorted = samples.sorted()
        func rank(_ percent: Int) -> Int64 {
            // The smallest value that at least so many percent of the samples do not exceed.
            guard let last = sorted.last else { return 0 }
            let position = (sorted.count * percent + 99) / 100
            return position >= sorted.count ? last : sorted[Swift.max(0, position - 1)]
        }
        p50 = rank(50)
        p95 = rank(95)
        p99 = rank(99)
        max = sorted.last ?? 0
    }
}

extension Duration {
    /// Whole microseconds, rounded down.
    var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }

    /// As a fraction of seconds, for rates.
    var inSeconds: Double { Double(microseconds) / 1_000_000 }
}

/// The value in the middle of some, or between the two in the middle; there is at least one.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
