/// How long a load goes on.
enum LoadLimit: Sendable {
    /// Flows that begin within this time.
    case time(Duration)
    /// So many flows; the memory of `process` is looked at whenever another `every` have begun.
    case flows(Int, every: Int, process: Int32)
}

/// What a load saw.
struct LoadResult: Sendable {
    /// From the beginning of the first flow to the end of the last.
    var elapsed = Duration.zero
    /// Microseconds of each flow that came to its end, and of its two requests.
    var flow: [Int64] = []
    var create: [Int64] = []
    var approve: [Int64] = []
    /// How many flows failed, by what went wrong.
    var errors: [String: Int] = [:]
    /// The memory of the service as the flows went on.
    var memory: [MemorySample] = []

    var flows: Int { flow.count }
    var errorCount: Int { errors.values.reduce(0, +) }

    /// - Throws: ``CommandFailure`` that names what went wrong.
    func demandNoErrors() throws(CommandFailure) {
        guard errorCount > 0 else { return }
        let kinds = errors.map { "\($0.value) × \($0.key)" }.sorted()
        throw CommandFailure("flows failed: \(kinds.joined(separator: "; "))")
    }

    fileprivate mutating func add(_ times: FlowTimes) {
        flow.append(times.flow)
        create.append(times.create)
        approve.append(times.approve)
    }

    fileprivate mutating func merge(_ other: LoadResult) {
        flow += other.flow
        create += other.create
        approve += other.approve
        errors.merge(other.errors, uniquingKeysWith: +)
    }
}

/// Callers that each go through their own customers, as fast as the service answers.
struct Load: Sendable {
    /// One caller's connection and its customers; no two callers share a customer.
    struct Lane: Sendable {
        let caller: Caller
        let customers: [BenchCustomer]
    }

    let lanes: [Lane]

    /// Drives all lanes at once until the limit is reached.
    ///
    /// - Parameter limit: When to stop beginning flows.
    /// - Returns: What was seen, when the last flow has ended.
    func run(_ limit: LoadLimit) async -> LoadResult {
        let begin = ContinuousClock.now
        let end: ContinuousClock.Instant?
        let gate: FlowGate?
        switch limit {
        case .time(let duration): (end, gate) = (begin + duration, nil)
        case .flows(let count, let every, let process):
            (end, gate) = (nil, FlowGate(limit: count, every: every, process: process))
        }
        var result = await withTaskGroup(of: LoadResult.self) { group in
            for lane in lanes { group.addTask { await lane.run(until: end, gate) } }
            var all = LoadResult()
            for await part in group { all.merge(part) }
            return all
        }
        result.elapsed = .now - begin
        result.memory = await gate?.samples ?? []
        return result
    }
}

extension Load.Lane {
    fileprivate func run(until end: ContinuousClock.Instant?, _ gate: FlowGate?) async -> LoadResult
    {
        var result = LoadResult()
        var next = 0
        while await gate?.admit() ?? true {
            if let end, ContinuousClock.now >= end { break }
            let customer = customers[next % customers.count]
            next += 1
            do throws(FlowError) {
                result.add(try await caller.flow(of: customer))
            } catch {
                result.errors[error.kind, default: 0] += 1
                if error.isUnanswered { break }
            }
        }
        return result
    }
}

/// Lets a number of flows begin, and looks at the service's memory now and then.
private actor FlowGate {
    private let limit: Int
    private let every: Int
    private let process: Int32
    private var begun = 0
    private(set) var samples: [MemorySample] = []

    init(limit: Int, every: Int, process: Int32) {
        self.limit = limit
        self.every = every
        self.process = process
    }

    func admit() -> Bool {
        // The last sample is taken when the last flow has begun, not when it has ended.
        if begun % every == 0, samples.last?.flows != begun,
            let kib = ProcessTimes.residentKiB(of: process)
        {
            let sample = MemorySample(flows: begun, kib: kib)
            samples.append(sample)
            Console.out("  " + sample.line)
        }
        guard begun < limit else { return false }
        begun += 1
        return true
    }
}
