import Countersign
import Testing

@testable import HTTP

@Suite struct `Metrics in Prometheus text` {
    private func text(_ metrics: Metrics) -> String {
        String(decoding: metrics.render(), as: UTF8.self)
    }

    @Test func `show counters with their labels`() {
        let metrics = Metrics()
        let counters = metrics.counters(
            "decisions_total", help: "Decisions.",
            labels: [.init("kind", ["transfer"]), .init("outcome", ["approved", "rejected"])])
        counters.increment("transfer", "approved")
        counters.increment("transfer", "approved")
        counters.increment("transfer", "rejected")
        let expected = """
            # HELP decisions_total Decisions.
            # TYPE decisions_total counter
            decisions_total{kind="transfer",outcome="approved"} 2
            decisions_total{kind="transfer",outcome="rejected"} 1

            """
        #expect(text(metrics) == expected)
    }

    @Test func `fold values outside the closed set into other`() {
        let metrics = Metrics()
        let counters = metrics.counters(
            "a_total", help: "A.", labels: [.init("outcome", ["approved"])])
        counters.increment("c-1001")
        counters.increment("c-1002")
        #expect(text(metrics).contains(#"a_total{outcome="other"} 2"#))
        #expect(!text(metrics).contains("c-100"))
    }

    @Test func `show a counter without labels from the start`() {
        let metrics = Metrics()
        _ = metrics.counters("a_total", help: "A.")
        #expect(text(metrics).hasSuffix("a_total 0\n"))
    }

    @Test func `add up the buckets of a histogram`() {
        let metrics = Metrics()
        let histograms = metrics.histograms(
            "a_seconds", help: "A.", buckets: [.milliseconds(10), .seconds(1)],
            labels: [.init("route", ["/a"])])
        for duration in [Duration.milliseconds(10), .milliseconds(11), .seconds(2)] {
            histograms.record(duration, "/a")
        }
        let expected = """
            # HELP a_seconds A.
            # TYPE a_seconds histogram
            a_seconds_bucket{route="/a",le="0.01"} 1
            a_seconds_bucket{route="/a",le="1.0"} 2
            a_seconds_bucket{route="/a",le="+Inf"} 3
            a_seconds_sum{route="/a"} 2.021
            a_seconds_count{route="/a"} 3

            """
        #expect(text(metrics) == expected)
    }

    @Test func `read gauges and outside counters when they are rendered`() {
        let metrics = Metrics()
        let cell = MetricCell()
        metrics.gauge("open", help: "Open.") { cell.value }
        metrics.counter("seen_total", help: "Seen.") { cell.value * 2 }
        cell.add(3)
        #expect(text(metrics).contains("# TYPE open gauge\nopen 3\n"))
        #expect(text(metrics).contains("# TYPE seen_total counter\nseen_total 6\n"))
    }

    @Test func `read a gauge for each value of a label, and for no other`() {
        let metrics = Metrics()
        metrics.gauges("age", help: "Age.", label: .init("who", ["a", "b"])) { $0 == "a" ? 7 : -1 }
        #expect(
            text(metrics)
                == "# HELP age Age.\n# TYPE age gauge\nage{who=\"a\"} 7\nage{who=\"b\"} -1\n")
    }

    @Test func `escape what a label value may not hold`() {
        let metrics = Metrics()
        let counters = metrics.counters("a_total", help: "A.", labels: [.init("l", ["a\"\\\n"])])
        counters.increment("a\"\\\n")
        #expect(text(metrics).contains(#"a_total{l="a\"\\\n"} 1"#))
    }

    @Test func `lose nothing when many tasks count at once`() async {
        let metrics = Metrics()
        let counters = metrics.counters("a_total", help: "A.", labels: [.init("l", ["x"])])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { counters.increment("x") } }
            }
        }
        #expect(counters.value("x") == 8000)
    }
}
