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
