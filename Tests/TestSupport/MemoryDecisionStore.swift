package import Countersign
import Foundation

/// A store in memory that compares and swaps as the database's functions do.
///
/// It knows one customer. What a test wants to be true it writes into the ``MemoryWorld``; what a
/// test wants to go wrong it puts into ``MemoryWorld/faults``.
package final class MemoryDecisionStore: DecisionStore, @unchecked Sendable {
    // Sendable: `world` is touched only in `locked`.
    private let lock = NSLock()
    private var world: MemoryWorld

    package init(_ world: MemoryWorld) { self.world = world }

    /// Reads or changes the world, alone.
    package func locked<Value>(
        _ body: (inout MemoryWorld) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(&world)
    }

    /// Changes the world.
    package func change(_ body: (inout MemoryWorld) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        body(&world)
    }

    /// The world as it is now.
    package var now: MemoryWorld {
        lock.lock()
        defer { lock.unlock() }
        return world
    }

    package func load(
        action: ID<Action>, challenge: ID<Challenge>?, credential: CredentialReference?
    ) async throws(StoreFailure) -> DecisionContext? {
        try locked { world throws(StoreFailure) in
            world.loads += 1
            return world.context(action, challenge, credential)
        }
    }

    package func commit(
        _ ruling: Ruling, on context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        try locked { world throws(StoreFailure) in
            world.rulings.append(ruling)
            switch world.nextFault() {
            case nil: return world.write(ruling, context)
            case .lostRace: return .lostRace
            case .tampered: return .tampered
            case .unavailable: throw .unavailable
            case .answerLost(let written):
                if written { _ = world.write(ruling, context) }
                throw .outcomeUnknown
            }
        }
    }

    package func barrier() async throws(StoreFailure) {
        try locked { world throws(StoreFailure) in
            world.barriers += 1
            if world.barrierFails { throw .unavailable }
        }
    }
}

/// What goes wrong with one write.
package enum MemoryFault: Sendable {
    case lostRace
    case tampered
    case unavailable
    /// The answer to the commit is lost, which was written or was not.
    case answerLost(written: Bool)
}
