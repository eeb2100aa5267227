package import Countersign
internal import Synchronization

/// Counters, histograms and gauges, written as Prometheus text (exposition format 0.0.4).
///
/// Label values come from closed sets that are named when a metric is made; anything else is counted
/// as ``otherLabel``. So no id and no path can become a series, and memory is bounded.
package final class Metrics: Sendable {
    /// Stands for every label value that is not in the closed set.
    package static let otherLabel = "other"

    private let families = Locked<[@Sendable (inout String) -> Void]>([])

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

    /// A count that is kept elsewhere and read when the text is rendered.
    package func counter(_ name: String, help: String, _ read: @escaping @Sendable () -> Int) {
        add(name, help, "counter") { $0 += "\(name) \(read())\n" }
    }

    private func add(
        _ name: String, _ help: String, _ type: String,
        _ render: @escaping @Sendable (inout String) -> Void
    ) {
        families.withLock {
            $0.append { text in
                text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
                render(&text)
            }
        }
    }

    /// All metrics, in the order in which they were made.
    package func render() -> Bytes {
        var text = ""
        for family in families.withLock({ $0 }) { family(&text) }
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

/// Finds the series of a combination of label values.
struct SeriesIndex: Sendable {
    private let positions: [[String: Int]]
    /// The text between the braces for each series.
    let texts: [String]

    init(_ labels: [Metrics.Label]) {
        positions = labels.map { label in
            Dictionary(
                label.values.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }
        texts = labels.reduce([""]) { prefixes, label in
            prefixes.flatMap { prefix in
                label.values.map { value in
                    (prefix.isEmpty ? "" : prefix + ",")
                        + "\(label.name)=\"\(SeriesIndex.escaped(value))\""
                }
            }
        }
    }

    func position(of values: [String]) -> Int {
        precondition(values.count == positions.count, "one value for each label")
        var position = 0
        for (value, known) in zip(values, positions) {
            let place = known[value] ?? known[Metrics.otherLabel] ?? 0
            position = position * known.count + place
        }
        return position
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }
}

/// One number that many threads may raise.
final class MetricCell: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ amount: Int) { count.wrappingAdd(amount, ordering: .relaxed) }
}

/// Counters that share a name and differ in their labels.
package final class Counters: Sendable {
    private let name: String
    private let index: SeriesIndex
    private let cells: [MetricCell]

    init(name: String, labels: [Metrics.Label]) {
        self.name = name
        index = SeriesIndex(labels)
        cells = index.texts.map { _ in MetricCell() }
    }

    /// Adds one to the series with these label values, in the order in which the labels were named.
    package func increment(_ values: String...) { cells[index.position(of: values)].add(1) }

    /// What the series has counted so far.
    package func value(_ values: String...) -> Int { cells[index.position(of: values)].value }

    func render(into text: inout String) {
        for (cell, labels) in zip(cells, index.texts) where cell.value > 0 || labels.isEmpty {
            text +=
                labels.isEmpty ? "\(name) \(cell.value)\n" : "\(name){\(labels)} \(cell.value)\n"
        }
    }
}
