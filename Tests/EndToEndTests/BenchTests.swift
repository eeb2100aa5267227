import Countersign
import Postgres
import Testing

@testable import CountersignMain

@Suite struct `Percentiles of latencies` {
    @Test func `are values that were measured, by nearest rank`() {
        let percentiles = Percentiles((1...100).reversed())
        #expect(percentiles.p50 == 50)
        #expect(percentiles.p95 == 95)
        #expect(percentiles.p99 == 99)
        #expect(percentiles.max == 100)
    }

    @Test func `of few samples are the last ones`() {
        let percentiles = Percentiles([7, 3])
        #expect(percentiles.p50 == 3)
        #expect(percentiles.p95 == 7)
        #expect(percentiles.p99 == 7)
        #expect(Percentiles([5]).p50 == 5)
        #expect(Percentiles([]).max == 0)
    }
}

@Suite struct `What the kernel says of a process` {
    /// The name of the process is as bad as a name can be.
    private let stat = "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 3 1 20 0 5 0 99 0 0"

    @Test func `is read behind its name`() throws {
        let times = try #require(ProcessTimes(stat: stat))
        #expect(times.parent == 7)
        #expect(times.own == 120)
        #expect(times.ofEndedChildren == 4)
    }

    @Test func `is nothing when it has ended`() {
        #expect(ProcessTimes(stat: "") == nil)
        #expect(ProcessTimes(stat: "42 (a) S 7") == nil)
    }

    @Test func `leaves out the time in which the machine was idle or waited for a disk`() {
        let text = "cpu  1 2 4 1000 2000 8 16 32 5000 6000\ncpu0 9 9 9 9 9 9 9 9 9 9\n"
        #expect(ProcessTimes.busyTicks(stat: text) == 63)
        #expect(ProcessTimes.busyTicks(stat: "") == 0)
    }

    @Test func `leaves what others used when the participants are taken off`() {
        let usage = Usage(elapsed: 10, service: 4, postgres: 5, client: 1, machine: 15)
        #expect(usage.others == 0.5)
    }
}

@Suite struct `A script for pgbench` {
    private let statement = Statement(
        "s", .read, Bytes("-- What it does: $1\nSELECT f($1, $2)\n  AS x;\n".utf8))

    @Test func `has the statement with variables for its parameters`() throws {
        #expect(
            try PgbenchScript.command(statement, [":a", "NULL"], into: "p_")
                == "SELECT f(:a, NULL)\n  AS x \\gset p_\n")
    }

    @Test func `is refused when the statement takes other parameters`() {
        #expect(throws: CommandFailure.self) {
            try PgbenchScript.command(statement, [":a"], into: "p_")
        }
        #expect(throws: CommandFailure.self) {
            try PgbenchScript.command(statement, [":a", ":b", ":c"], into: "p_")
        }
    }

    @Test func `of a flow has the four statements of the service, one after another`() throws {
        let script = try PgbenchScript.flow(customers: 50)
        let steps = [
            "bench.flow(", "FROM clock", "countersign.create_action(", "FROM clock CROSS JOIN",
            "countersign.approve_action(",
        ]
        var rest = script[...]
        for step in steps {
            let found = try #require(rest.firstRange(of: step), "\(step)")
            rest = rest[found.upperBound...]
        }
        #expect(script.split(separator: "\n").count { $0.contains("\\gset") } == 5)
        #expect(!script.contains("$"))
        #expect(script.contains("random(0, 49)"))
    }

    @Test func `is believed only with a whole report`() throws {
        let report = """
            number of transactions actually processed: 2000
            number of failed transactions: 3 (0.150%)
            latency average = 21.1 ms
            tps = 378.25 (without initial connection time)
            """
        let result = try #require(PgbenchResult(report: report))
        #expect(result.flows == 2000)
        #expect(result.failed == 3)
        #expect(result.perSecond == 378.25)
        #expect(PgbenchResult(report: "pgbench: error: connection refused") == nil)
    }
}

@Suite struct `The report of a benchmark` {
    @Test func `has both ratios, with and without the making of parameters`() {
        let ratio = BenchRatio(service: 300, pgbench: [300, 500], generation: [2000, 2000])
        #expect(ratio.asMeasured == 0.75)
        #expect(abs(ratio.pgbenchWithoutGeneration - 500) < 0.001)
        #expect(abs(ratio.withoutGeneration - 0.6) < 0.001)
        #expect(ratio.lines[0].hasSuffix("0.75  (300 / 400)"))
        #expect(ratio.lines[1].hasSuffix("0.60  (300 / 500)"))
        #expect(ratio.lines[2].contains("1.67"))
    }

    @Test func `counts costs for a thousand flows`() {
        let usage = Usage(elapsed: 10, service: 2, postgres: 4, client: 1, machine: 12)
        let line = BenchPhase(name: "service", flows: 4000, perSecond: 400, usage: usage).line
        #expect(
            line.split(separator: " ") == ["service", "400", "0.500", "1.000", "0.250", "0.50"])
    }

    @Test func `names errors by kind`() {
        var result = LoadResult()
        result.errors = ["create 409 idempotency-in-flight": 2, "approve: timeout": 1]
        #expect(
            result.lines.suffix(3) == [
                "errors: 3", "  1 × approve: timeout", "  2 × create 409 idempotency-in-flight",
            ])
    }

    @Test func `says that memory is flat when the last half did not grow`() throws {
        let kib = [20_000, 35_000, 36_000, 36_500, 36_400]
        let samples = kib.enumerated().map { MemorySample(flows: $0.offset * 100, kib: $0.element) }
        let verdict = try #require(MemoryVerdict(samples))
        #expect(verdict.growthKiB == 400)
        #expect(verdict.flows == 200)
        #expect(verdict.isFlat)
        #expect(MemoryVerdict(Array(samples.prefix(2))) == nil)
    }

    @Test func `says so when it grew`() throws {
        let samples = (0...10).map { MemorySample(flows: $0 * 10_000, kib: 30_000 + $0 * 820) }
        let verdict = try #require(MemoryVerdict(samples))
        #expect(verdict.growthKiB == 4100)
        #expect(!verdict.isFlat)
    }
}

@Suite struct `The callers of a benchmark` {
    @Test func `look answers through for the text behind a member's name`() {
        let answer = Bytes(
            #"{"action":{"id":"a-1","x":"\"id\":\""},"challenge":{"id":"c-1"}}"#.utf8)
        #expect(Caller.text(after: #""challenge":{"id":""#, in: answer) == "c-1")
        #expect(Caller.text(after: #""action":{"id":""#, in: answer) == "a-1")
        #expect(Caller.text(after: #""nothing":""#, in: answer) == nil)
    }
}
