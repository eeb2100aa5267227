import Countersign
import Foundation

/// What to measure.
struct BenchPlan: Sendable, Equatable {
    var connections = 16
    /// The length of each phase.
    var seconds = 10
    /// So many flows and the service's memory meanwhile, instead of the comparison with `pgbench`.
    var flows: Int?
    /// What the rules of a policy cost, and the dry run, instead of the comparison with `pgbench`.
    var policies = false
    /// What the log costs, how late it is, and how long a bundle takes, instead of the comparison with
    /// `pgbench`.
    var log = false

    /// Seconds of flows that are not counted: every session prepares and plans its statements.
    var warmUp: Int { min(5, max(2, seconds / 2)) }
}

/// One benchmark from the first process that it starts to the last that it ends.
struct BenchRun: Sendable {
    let plan: BenchPlan
    let home: DemoHome
    private let processes: Processes
    private let server: PrivatePostgres

    init(_ plan: BenchPlan, home: DemoHome) throws {
        self.plan = plan
        self.home = home
        processes = Processes(
            executable: try Processes.ownExecutable(), folder: home.run,
            environment: ProcessInfo.processInfo.environment)
        server = try PrivatePostgres(at: home.directory)
    }

    /// Measures and prints; whatever happens, nothing keeps running and no data stays.
    ///
    /// - Throws: ``CommandFailure`` when a flow failed, or memory was not flat.
    func run() async throws {
        let signals = await signalStream([SIGINT, SIGTERM, SIGHUP])
        await Processes.endLeftovers(in: home.run)
        try home.clear()
        let watch = Task {
            // Without its servers everything under way fails at once.
            for await _ in signals { return await processes.endAll() }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await measure()) } catch { result = .failure(error) }
        watch.cancel()
        await processes.endAll()
        try await server.stop()
        try server.remove()
        try result.get()
    }

    private func measure() async throws {
        sayWhatIsMeasured()
        let bank = try await BenchBank.open(
            home: home, processes: processes, lanes: plan.connections)
        let warmUp = await bank.load.run(.time(.seconds(plan.warmUp)))
        try warmUp.demandNoErrors()
        try await bank.database.settle()
        if plan.policies {
            try await PolicyBench(bank: bank, seconds: plan.seconds).run()
        } else if plan.log {
            try await LogBench(bank: bank, seconds: plan.seconds).run()
        } else if let flows = plan.flows {
            try await watchMemory(bank, flows)
        } else {
            try await compare(bank)
        }
        Console.out("load of the last minute: \(ProcessTimes.load)")
    }

    private func sayWhatIsMeasured() {
        #if DEBUG
            Console.error("this is a DEBUG build: its numbers say nothing about the service")
            let build = "debug"
        #else
            let build = "release"
        #endif
        let customers = plan.connections * BenchBank.customersPerLane
        Console.out(
            """
            \(plan.connections) connections, each with \(BenchBank.customersPerLane) customers of its \
            own (\(customers)); create, sign (P-256), approve, over HTTP keep-alive
            service: \(build) build, default pool, delivery off (no core.url); Postgres: private, \
            durable, default settings
            machine: \(ProcessInfo.processInfo.activeProcessorCount) cores for service, Postgres and \
            load generator together; load of the last minute \(ProcessTimes.load)

            """)
    }
}

// MARK: - The comparison

extension BenchRun {
    private func compare(_ bank: BenchBank) async throws {
        let pgbench = try await Pgbench(bank, home: home, processes: processes)
        // Warm, and a guess at how many flows take as long as a phase shall.
        _ = try await pgbench.run(.flow, times: 50 * plan.connections)
        let pace = try await pgbench.run(.flow, times: 50 * plan.connections)
        let flows = max(100, Int(pace.perSecond) * plan.seconds)
        Console.out(BenchPhase.heading)
        let before = try await baseline("before", bank, pgbench, flows)
        let (service, result) = try await serve(bank)
        let after = try await baseline("after", bank, pgbench, flows)
        Console.out("\nservice:")
        result.lines.forEach { Console.out($0) }
        Console.out("")
        BenchRatio(
            service: service, pgbench: [before.flows, after.flows],
            generation: [before.generation, after.generation]
        ).lines.forEach { Console.out($0) }
        try result.demandNoErrors()
    }

    /// `pgbench` on the service's statements, then on the making of their parameters alone.
    private func baseline(
        _ when: String, _ bank: BenchBank, _ pgbench: Pgbench, _ count: Int
    ) async throws -> (flows: Double, generation: Double) {
        let approvals = try await bank.database.approvals()
        let flows = try await phase("pgbench, \(when)", bank) {
            try await pgbench.run(.flow, times: count)
        }
        let approved = try await bank.database.approvals() - approvals
        // A refusal is a returned status, which pgbench takes for success.
        guard approved == flows.flows else {
            throw CommandFailure("\(approved) of pgbench's \(flows.flows) flows were approved")
        }
        let generation = try await phase("  making parameters only", bank) {
            try await pgbench.run(.generation, times: 4 * count)
        }
        return (flows.perSecond, generation.perSecond)
    }

    private func phase(
        _ name: String, _ bank: BenchBank, _ work: () async throws -> PgbenchResult
    ) async throws -> PgbenchResult {
        try await bank.database.run("CHECKPOINT")
        let mark = UsageMark(bank.participants)
        let result = try await work()
        Console.out(
            BenchPhase(
                name: name, flows: result.flows, perSecond: result.perSecond,
                usage: mark.used(bank.participants)
            ).line)
        return result
    }

    private func serve(_ bank: BenchBank) async throws -> (Double, LoadResult) {
        let approvals = try await bank.database.approvals()
        try await bank.database.run("CHECKPOINT")
        let resident = ProcessTimes.residentKiB(of: bank.participants.service) ?? 0
        let mark = UsageMark(bank.participants)
        let result = await bank.load.run(.time(.seconds(plan.seconds)))
        Console.out(
            BenchPhase(
                name: "service", flows: result.flows, perSecond: result.perSecond,
                usage: mark.used(bank.participants)
            ).line)
        let after = ProcessTimes.residentKiB(of: bank.participants.service) ?? 0
        Console.out("  service's memory: \(resident) KiB before, \(after) KiB after")
        let approved = try await bank.database.approvals() - approvals
        guard approved == result.flows else {
            throw CommandFailure("\(approved) of \(result.flows) answered flows are stored")
        }
        return (result.perSecond, result)
    }
}

// MARK: - The long run

extension BenchRun {
    private func watchMemory(_ bank: BenchBank, _ flows: Int) async throws {
        let approvals = try await bank.database.approvals()
        Console.out("resident memory of the service:")
        let mark = UsageMark(bank.participants)
        let result = await bank.load.run(
            .flows(flows, every: max(1, flows / 10), process: bank.participants.service))
        Console.out("\n" + BenchPhase.heading)
        Console.out(
            BenchPhase(
                name: "service", flows: result.flows, perSecond: result.perSecond,
                usage: mark.used(bank.participants)
            ).line)
        result.lines.forEach { Console.out($0) }
        guard let verdict = MemoryVerdict(result.memory) else {
            throw CommandFailure("the service's memory was not seen often enough")
        }
        Console.out(verdict.line)
        try result.demandNoErrors()
        let approved = try await bank.database.approvals() - approvals
        guard approved == flows, result.flows == flows else {
            throw CommandFailure("\(result.flows) flows were answered, \(approved) are stored")
        }
        guard verdict.isFlat else { throw CommandFailure("the service's memory is not flat") }
    }
}
