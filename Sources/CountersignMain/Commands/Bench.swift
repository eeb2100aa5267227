import Foundation

extension Command {
    /// The service's speed against that of its own statements, or its memory over many flows.
    static let bench = Command(
        name: "bench",
        summary: "Measure approvals per second, beside pgbench on the same statements",
        options: [
            .init(
                name: "connections", placeholder: "N",
                what: "connections of callers, and clients of pgbench: 1 to 128 (default 16)"),
            .init(
                name: "seconds", placeholder: "S",
                what: "the length of each phase: 1 to 3600 (default 10)"),
            .init(
                name: "flows", placeholder: "F",
                what: "instead: play so many flows, and check that no memory is kept"),
            .init(
                name: "verifiers", placeholder: nil,
                what: "instead: CPU per verification, beside OpenSSL's bare EVP_DigestVerify"),
            .init(
                name: "policies", placeholder: nil,
                what: "instead: what every rule costs, beside the first ones, and a dry run"),
            .init(
                name: "log", placeholder: nil,
                what: "instead: what the log costs approvals, its lag, and bundles"),
            .init(
                name: "dir", placeholder: "DIR",
                what: "the folder of its database (default .countersign/bench of the checkout)"),
        ]
    ) { invocation in
        if invocation.has("verifiers") { return try VerifierBench().run() }
        let project = ProcessInfo.processInfo.environment[ReservedNames.project]
        let home = try DemoHome(
            invocation.option("dir") ?? (project ?? ".") + "/.countersign/bench", project: project)
        try await BenchRun(try BenchPlan(invocation), home: home).run()
    }
}

extension BenchPlan {
    /// Reads the command's options.
    fileprivate init(_ invocation: Invocation) throws(UsageError) {
        self.init()
        func number(
            _ name: String, _ range: ClosedRange<Int>
        ) throws(UsageError) -> Int? {
            guard let text = invocation.option(name) else { return nil }
            guard let value = Int(text), range.contains(value) else {
                throw UsageError(
                    "--\(name) is no number from \(range.lowerBound) to \(range.upperBound)",
                    command: .bench)
            }
            return value
        }
        connections = try number("connections", 1...128) ?? connections
        seconds = try number("seconds", 1...3600) ?? seconds
        policies = invocation.has("policies")
        log = invocation.has("log")
        flows = try number("flows", 10...100_000_000)
    }
}
