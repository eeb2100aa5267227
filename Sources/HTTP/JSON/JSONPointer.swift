import Countersign

/// Where in a JSON document something stands. Source: RFC 6901.
package struct JSONPointer: Hashable, Sendable {
    private var steps: [String] = []

    /// The whole document.
    package static let root = JSONPointer()

    /// The member of that name of the object that this points at.
    package func member(_ name: String) -> JSONPointer {
        var pointer = self
        pointer.enter(name)
        return pointer
    }

    /// The element of the array that this points at, counted from 0.
    package func element(_ index: Int) -> JSONPointer { member(String(index)) }

    /// Such as `/transfer/amount`; empty for the whole document.
    package var text: String { steps.map { "/" + JSON.pointerStep($0) }.joined() }

    mutating func enter(_ step: String) { steps.append(step) }

    mutating func leave() { steps.removeLast() }
}
