package import Countersign
import Foundation

/// Random numbers that can be had again. A test prints its seed, and says it when it fails.
package struct SeededGenerator: RandomNumberGenerator, CustomStringConvertible {
    /// The environment variable that makes every test of a run begin with this seed.
    package static let variable = "COUNTERSIGN_TEST_SEED"

    package let seed: UInt64
    private var state: UInt64

    /// Begins with a seed: the same numbers every time.
    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Begins with the seed in the environment, or with a new one.
    ///
    /// - Parameter test: What is printed beside it.
    /// - Throws: `InvalidValue` when the environment has no number there: nobody wants another seed then.
    package init(of test: String = #function) throws {
        let wanted = ProcessInfo.processInfo.environment[Self.variable]
        guard let seed = wanted.map({ UInt64($0) }) ?? UInt64.random(in: 0 ... .max) else {
            throw InvalidValue("seed", "\(Self.variable) is a number below 2^64.")
        }
        self.init(seed: seed)
        print("\(test): \(self)")
    }

    package var description: String { "\(Self.variable)=\(seed)" }

    // Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (SplitMix64).
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// One of the elements, of which there is at least one.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    /// A byte of some bytes, and another value for it.
    package mutating func alteration(of bytes: Bytes) -> (index: Int, byte: UInt8) {
        let index = Int.random(in: bytes.indices, using: &self)
        return (index, bytes[index] ^ UInt8.random(in: 1...255, using: &self))
    }
}
