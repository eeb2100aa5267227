internal import Synchronization

/// One number that many threads may raise.
final class MetricCell: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ amount: Int) { count.wrappingAdd(amount, ordering: .relaxed) }
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
