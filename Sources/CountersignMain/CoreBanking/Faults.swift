import Foundation

/// What goes wrong at core banking, on purpose: one fault for each of the first orders that come.
///
/// Sendable, unchecked: the list is touched only under the lock.
final class Faults: @unchecked Sendable {
    /// One thing that goes wrong.
    enum Fault: Equatable, Sendable {
        /// Nothing, to let an order through.
        case none
        /// 500 before anything was looked at.
        case failBefore
        /// 500 although the order was decided.
        case failAfter
        /// The answer comes this many milliseconds after the decision.
        case delay(milliseconds: Int)
        /// The process dies after the decision and before the answer, as by `kill -9`.
        case die

        /// Reads `none`, `fail-before`, `fail-after`, `delay=<milliseconds>` or `die`.
        init?(_ text: some StringProtocol) {
            switch text {
            case "none": self = .none
            case "fail-before": self = .failBefore
            case "fail-after": self = .failAfter
            case "die": self = .die
            default:
                guard text.hasPrefix("delay="), let milliseconds = Int(text.dropFirst(6)),
                    (0...600_000).contains(milliseconds)
                else { return nil }
                self = .delay(milliseconds: milliseconds)
            }
        }
    }

    private let lock = NSLock()
    private var waiting: [Fault]

    init(_ faults: [Fault]) { waiting = faults.reversed() }

    /// Reads a list separated by commas; `nil` when an entry is unknown.
    convenience init?(list: String) {
        var faults: [Fault] = []
        for text in list.split(separator: ",") {
            guard let fault = Fault(text) else { return nil }
            faults.append(fault)
        }
        self.init(faults)
    }

    /// The fault of the next order.
    func next() -> Fault { lock.withLock { waiting.popLast() ?? .none } }
}
