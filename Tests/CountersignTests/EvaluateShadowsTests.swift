import Countersign
import Synchronization
import TestSupport
import Testing

/// Decisions in memory; of each shadow those that it has not decided.
private final class MemoryShadowQueue: ShadowQueue {
    struct State: Sendable {
        var undecided: [ID<Shadow>: [RecordedVerdict]] = [:]
        /// Shadows about which every question fails.
        var broken: Set<ID<Shadow>> = []
        /// Decisions that another instance is quicker with.
        var taken: Set<ID<Evidence>> = []
        var advanced: [ID<Shadow>] = []
        var limits: Set<Int> = []
        var reaches: [ShadowReach] = []
    }

    let state: Mutex<State>
    private let shadows: [ID<Shadow>]

    /// - Parameter counts: How many decisions each shadow has to decide.
    init(_ counts: [Int]) {
        shadows = counts.indices.map { ID(rawValue: UInt128($0 + 1)) }
        var state = State()
        for (shadow, count) in zip(shadows, counts) {
            state.undecided[shadow] = (0..<count).map { Self.decision($0) }
        }
        self.state = Mutex(state)
    }

    static func decision(_ number: Int) -> RecordedVerdict {
        RecordedVerdict(
            evidence: ID(rawValue: UInt128(number + 1)), action: ID(rawValue: 1),
            outcome: .allowed, content: nil, state: [])
    }

    func left(_ shadow: Int) -> Int {
        state.withLock { $0.undecided[shadows[shadow]]?.count ?? 0 }
    }

    func fail(_ shadow: Int) { state.withLock { _ = $0.broken.insert(shadows[shadow]) } }

    /// The places of the shadows that were advanced, in their order.
    var advanced: [Int] {
        state.withLock { state in state.advanced.map { shadows.firstIndex(of: $0) ?? -1 } }
    }

    func incomplete() async throws(StoreFailure) -> [EvaluatedShadow] {
        shadows.map { EvaluatedShadow(id: $0, policy: nil) }
    }

    func undecided(
        by shadow: ID<Shadow>, limit: Int, reach: ShadowReach
    ) async throws(StoreFailure) -> [RecordedVerdict] {
        let found: [RecordedVerdict]? = state.withLock { state in
            state.limits.insert(limit)
            state.reaches.append(reach)
            return state.broken.contains(shadow) ? nil : state.undecided[shadow]
        }
        guard let found else { throw .internalFailure(code: "broken") }
        return Array(found.prefix(limit))
    }

    func record(
        _ verdicts: [ShadowVerdict], of shadow: ID<Shadow>
    ) async throws(StoreFailure) -> Set<ID<Evidence>> {
        let decided = Set(verdicts.map(\.evidence))
        return state.withLock { state in
            state.undecided[shadow]?.removeAll { decided.contains($0.evidence) }
            return decided.subtracting(state.taken)
        }
    }

    func advance(_ shadow: ID<Shadow>) async throws(StoreFailure) {
        state.withLock { $0.advanced.append(shadow) }
    }
}

@Suite struct `Evaluating shadows` {
    private let told = Recorded()

    /// What was reported.
    private final class Recorded: Sendable {
        private let verdicts = Mutex<[ShadowVerdict]>([])

        var all: [ShadowVerdict] { verdicts.withLock { $0 } }

        func add(_ verdict: ShadowVerdict) { verdicts.withLock { $0.append(verdict) } }
    }

    private func evaluate(_ queue: MemoryShadowQueue) -> EvaluateShadows {
        EvaluateShadows(queue: queue) { [told] in told.add($0) }
    }

    @Test func `decides everything, and moves on`() async throws {
        let queue = MemoryShadowQueue([3, 0])
        #expect(try await evaluate(queue)(.whole) == false)
        #expect(queue.left(0) == 0 && queue.advanced == [0, 1])
        #expect(told.all.map(\.word) == ["undecidable", "undecidable", "undecidable"])
    }

    @Test func `goes on with the others when one is wrong, and says so`() async {
        let queue = MemoryShadowQueue([2, 2, 2])
        queue.fail(1)
        await #expect(throws: StoreFailure.internalFailure(code: "broken")) {
            try await evaluate(queue)(.recent)
        }
        #expect([0, 1, 2].map { queue.left($0) } == [0, 2, 0])
        #expect(queue.advanced == [0, 2])
        #expect(told.all.count == 4)
    }

    @Test(arguments: [-1, 0, 1])
    func `asks for batches, and again as long as one is full`(difference: Int) async throws {
        let count = EvaluateShadows.batchMax + difference
        let queue = MemoryShadowQueue([count])
        #expect(try await evaluate(queue)(.whole) == false)
        #expect(queue.left(0) == 0 && told.all.count == count && queue.advanced == [0])
        let (limits, looks) = queue.state.withLock { ($0.limits, $0.reaches.count) }
        #expect(limits == [EvaluateShadows.batchMax])
        #expect(looks == (difference < 0 ? 1 : 2))
    }

    @Test func `gives the next one its turn when one has very much to do`() async throws {
        let turn = EvaluateShadows.batchMax * EvaluateShadows.batchesMax
        let queue = MemoryShadowQueue([turn + 1, 1])
        #expect(try await evaluate(queue)(.whole) == true)
        // Not done, so it is not moved on.
        #expect(queue.left(0) == 1 && queue.left(1) == 0 && queue.advanced == [1])
        #expect(try await evaluate(queue)(.whole) == false)
        #expect(queue.left(0) == 0 && queue.advanced == [1, 0, 1])
    }

    @Test func `reports only what no other instance has recorded`() async throws {
        let queue = MemoryShadowQueue([3])
        let taken = MemoryShadowQueue.decision(1).evidence
        queue.state.withLock { $0.taken = [taken] }
        _ = try await evaluate(queue)(.whole)
        #expect(told.all.count == 2 && !told.all.map(\.evidence).contains(taken))
    }

    @Test(arguments: [ShadowReach.whole, .recent])
    func `looks as far back as it is told`(reach: ShadowReach) async throws {
        let queue = MemoryShadowQueue([1, 1])
        _ = try await evaluate(queue)(reach)
        #expect(queue.state.withLock { $0.reaches } == [reach, reach])
    }
}
