package import Countersign

/// Counters, histograms and gauges, written as Prometheus text (exposition format 0.0.4).
///
/// Label values come from closed sets that are named when a metric is made; anything else is counted
/// as ``otherLabel``. So no id and no path can become a series, and memory is bounded.
package final class Metrics: Sendable {
    /// Stands for every label value that is not in the closed set.
    package static let otherLabel = "other"

    private struct Family: Sendable {
        let name: String
        let render: @Sendable (inout String) -> Void
    }

    private let families = Locked<[Family]>([])

    package init() {}

    /// A set of counters, one for each combination of label values.
    ///
    /// The name by convention ends in `_total`; the help is one line.
    package func counters(_ name: String, help: String, labels: [Label] = []) -> Counters {
        let counters = Counters(name: name, labels: labels)
        add(name, help, "counter") { counters.render(into: &$0) }
        return counters
    }

    /// A set of histograms over fixed buckets, one for each combination of label values.
    ///
    /// The name by convention ends in `_seconds`; buckets are upper bounds, rising, and one without
    /// bound is added.
    package func histograms(
        _ name: String, help: String, buckets: [Duration] = Histograms.requestBuckets,
        labels: [Label] = []
    ) -> Histograms {
        let histograms = Histograms(name: name, buckets: buckets, labels: labels)
        add(name, help, "histogram") { histograms.render(into: &$0) }
        return histograms
    }

    /// A number that is read when the text is rendered, such as connections in use.
    package func gauge(_ name: String, help: String, _ read: @escaping @Sendable () -> Int) {
        add(name, help, "gauge") { $0 += "\(name) \(read())\n" }
    }

    /// Numbers that are read when the text is rendered, one for each value of a label.
    package func gauges(
        _ name: String, help: String, label: Label, _ read: @escaping @Sendable (String) -> Int
    ) {
        let known = zip(SeriesIndex([label]).texts, label.values).filter { $1 != Self.otherLabel }
        add(name, help, "gauge") { text in
            for (series, value) in known { text += "\(name){\(series)} \(read(value))\n" }
        }
    }

    /// A count that is kept elsewhere and read when the text is rendered.
    package func counter(_ name: String, help: String, _ read: @escaping @Sendable () -> Int) {
        add(name, help, "counter") { $0 += "\(name) \(read())\n" }
    }

    private func add(
        _ name: String, _ help: String, _ type: String,
        _ render: @escaping @Sendable (inout String) -> Void
    ) {
        let family = Family(name: name) { text in
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
            render(&text)
        }
        let isNew = families.withLock { families in
            defer { families.append(family) }
            return !families.contains { $0.name == name }
        }
        precondition(isNew, "a metric has one name: \(name)")
    }

    /// All metrics, in the order in which they were made.
    package func render() -> Bytes {
        var text = ""
        for family in families.withLock({ $0 }) { family.render(&text) }
        return Bytes(text.utf8)
    }

    /// The media type of ``render()``.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// A label and its closed set of values.
    package struct Label: Sendable {
        package let name: String
        package let values: [String]

        package init(_ name: String, _ values: [String]) {
            self.name = name
            self.values = values.contains(otherLabel) ? values : values + [otherLabel]
        }
    }
}
