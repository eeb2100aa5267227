/// Histograms of durations that share a name and buckets, and differ in their labels.
package final class Histograms: Sendable {
    /// From a health check to a request that waited for a lock.
    package static let requestBuckets: [Duration] = [
        .milliseconds(1), .microseconds(2500), .milliseconds(5), .milliseconds(10),
        .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
        .milliseconds(500), .seconds(1), .microseconds(2_500_000), .seconds(5), .seconds(10),
    ]

    private struct Series: Sendable {
        /// One more than there are bounds: the last takes what exceeds them all.
        let buckets: [MetricCell]
        let sumMicroseconds = MetricCell()
    }

    private let name: String
    private let bounds: [Duration]
    private let index: SeriesIndex
    private let series: [Series]

    init(name: String, buckets: [Duration], labels: [Metrics.Label]) {
        self.name = name
        bounds = buckets
        index = SeriesIndex(labels)
        series = index.texts.map { _ in
            Series(buckets: (0...buckets.count).map { _ in MetricCell() })
        }
    }

    /// Records one duration in the series with these label values.
    package func record(_ duration: Duration, _ values: String...) {
        let entry = series[index.position(of: values)]
        let bucket = bounds.firstIndex { duration <= $0 } ?? bounds.count
        entry.buckets[bucket].add(1)
        let (seconds, attoseconds) = duration.components
        entry.sumMicroseconds.add(Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
    }

    func render(into text: inout String) {
        for (entry, labels) in zip(series, index.texts) {
            let counts = entry.buckets.map(\.value)
            guard counts.contains(where: { $0 > 0 }) || labels.isEmpty else { continue }
            let prefix = labels.isEmpty ? "" : labels + ","
            let suffix = labels.isEmpty ? "" : "{\(labels)}"
            var total = 0
            for (count, bound) in zip(counts, bounds.map(Histograms.seconds) + ["+Inf"]) {
                total += count
                text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(total)\n"
            }
            let sum = Histograms.seconds(.microseconds(entry.sumMicroseconds.value))
            text += "\(name)_sum\(suffix) \(sum)\n\(name)_count\(suffix) \(total)\n"
        }
    }

    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return String(Double(seconds) + Double(attoseconds) / 1e18)
    }
}
