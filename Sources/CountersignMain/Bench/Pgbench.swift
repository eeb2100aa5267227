import Countersign
import Foundation

/// Runs `pgbench` against the benchmark's database, as the role of the service.
struct Pgbench: Sendable {
    private let processes: Processes
    private let clients: Int
    private let flowScript: String
    private let generationScript: String
    private let arguments: [String]

    private static let program = PrivatePostgresTools.programs + "/pgbench"

    /// Makes the schema that generates parameters, and writes the scripts.
    ///
    /// - Throws: ``CommandFailure``; there must be an approved action to take as the model.
    init(_ bank: BenchBank, home: DemoHome, processes: Processes) async throws {
        guard FileManager.default.isExecutableFile(atPath: Self.program) else {
            throw CommandFailure("\(Self.program) is missing: install postgresql-15")
        }
        self.processes = processes
        clients = bank.load.lanes.count
        flowScript = home.run + "/flow.pgbench"
        generationScript = home.run + "/generation.pgbench"
        try await bank.database.run(RecordedFlow.schema)
        let perLane = BenchBank.customersPerLane
        try home.write(try PgbenchScript.flow(customers: perLane), to: flowScript)
        try home.write(PgbenchScript.generation(customers: perLane), to: generationScript)
        let names = [
            "client", "fingerprint", "answer", "signature", "digest", "amounts", "caps", "windows",
        ]
        let values = try await bank.database.row(RecordedFlow.constants, names)
        let constants =
            zip(names, values).map { "\($0)=\($1)" }
            + ["route=POST /v1/actions", "open_max=10", "dimensions={day:EUR}"]
        arguments =
            ["-n", "-M", "prepared", "-c", String(clients)]
            + ["-j", String(min(clients, ProcessInfo.processInfo.activeProcessorCount))]
            + constants.flatMap { ["-D", $0] }
            + [try bank.database.base.url(as: "countersign_service")]
    }

    /// What each phase runs.
    enum Script: Sendable {
        case flow
        /// Only the making of a flow's parameters.
        case generation
    }

    /// Runs a script so many times in all, spread evenly over the clients.
    ///
    /// A number and not a time, which `pgbench` takes by SIGALRM: that signal is blocked in all that a
    /// thread of Swift's starts.
    func run(_ script: Script, times: Int) async throws -> PgbenchResult {
        let each = max(1, (times + clients - 1) / clients)
        let file = script == .flow ? flowScript : generationScript
        let output = try await processes.run(
            ["-f", file, "-t", String(each)] + arguments, with: Self.program)
        guard output.status == 0, let result = PgbenchResult(report: output.text),
            result.failed == 0, result.flows == each * clients
        else { throw CommandFailure("pgbench failed: \(output.text.suffix(600))") }
        return result
    }
}
