import Countersign
import Testing

@testable import HTTP

@Suite struct `Parts of a message` {
    @Test func `header names compare without regard to case`() {
        let headers: HeaderFields = ["Content-Type": "a", "X": "1", "x": "2"]
        #expect(headers.first("content-type") == "a")
        #expect(headers.all("X") == ["1", "2"])
        #expect(headers.only("x") == nil)
        #expect(headers.only("CONTENT-TYPE") == "a")
        #expect(headers.first("content") == nil)
        // Only ASCII has case here: the Kelvin sign is no k.
        #expect(HeaderFields([.init(name: "\u{212A}", value: "1")]).first("k") == nil)
    }

    @Test func `setting a header replaces all of its name`() {
        var headers: HeaderFields = ["a": "1", "A": "2", "b": "3"]
        headers.set("a", "4")
        #expect(headers.all("a") == ["4"])
        #expect(headers.first("b") == "3")
    }

    @Test func `a query is decoded once, with plus as a space`() {
        let query = Query(decoding: "a=1&b=x%20y+z&a=2&c&d=&e=f=g&%C3%A4=%2B&&")
        #expect(query?.all("a") == ["1", "2"])
        #expect(query?.first("b") == "x y z")
        #expect(query?.first("c") == "")
        #expect(query?.first("d") == "")
        #expect(query?.first("e") == "f=g")
        #expect(query?.first("ä") == "+")
        #expect(query?.parameters.count == 7)
        #expect(query?.first("z") == nil)
        #expect(Query(decoding: "") == Query())
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%00", "a=%FF", "%C3=1", "a=1&b=%"])
    func `a query that cannot be decoded is none`(_ text: String) {
        #expect(Query(decoding: text) == nil)
    }

    @Test func `a request id is 1 to 64 harmless characters`() {
        #expect(Correlation.isRequestID("a"))
        #expect(Correlation.isRequestID(String(repeating: "Z", count: 64)))
        #expect(Correlation.isRequestID("A-z_0.9"))
        for bad in ["", String(repeating: "Z", count: 65), "a b", "a/b", "ä", "a\n"] {
            #expect(!Correlation.isRequestID(bad))
        }
    }

    @Test func `a traceparent has four parts, none of them void`() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let parent = "00f067aa0ba902b7"
        #expect(Correlation.isTraceparent("00-\(trace)-\(parent)-01"))
        #expect(Correlation.isTraceparent("cc-\(trace)-\(parent)-00"))
        let zeros = String(repeating: "0", count: 32)
        for bad in [
            "", "00-\(trace)-\(parent)", "ff-\(trace)-\(parent)-01", "00-\(zeros)-\(parent)-01",
            "00-\(trace)-\(zeros.prefix(16))-01", "00-\(trace.uppercased())-\(parent)-01",
            "00-\(trace)-\(parent)-01-x", "00-\(trace)-\(parent)-0g", "00-\(trace)1-\(parent)-01",
        ] {
            #expect(!Correlation.isTraceparent(bad), "\(bad)")
        }
    }

    @Test func `reason phrases exist for the statuses of the contract`() {
        for status in [200, 201, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 423, 429, 503] {
            #expect(StatusText.phrase(for: status) != "Status")
        }
    }
}

@Suite struct `The phases of a connection` {
    private let start = ContinuousClock.now
    private let limits = ServerLimits()

    @Test func `a request has one deadline, from its first byte`() {
        var phase = ConnectionPhase(isTLS: false, at: start, limits: limits)
        #expect(phase == .idle)
        #expect(!phase.isOverdue(at: start + .seconds(3600)))
        phase.bytesArrived(at: start, limits: limits)
        #expect(phase == .reading(until: start + limits.readDeadline))
        phase.bytesArrived(at: start + .seconds(5), limits: limits)
        #expect(phase == .reading(until: start + limits.readDeadline))
        #expect(!phase.isOverdue(at: start + limits.readDeadline - .seconds(1)))
        #expect(phase.isOverdue(at: start + limits.readDeadline))
    }

    @Test func `a handler has none, its answer has`() {
        var phase = ConnectionPhase.reading(until: start)
        phase.requestCompleted()
        #expect(phase == .handling)
        #expect(!phase.isOverdue(at: start + .seconds(3600)))
        #expect(phase.isAnswering)
        phase.replyStarted(at: start, limits: limits)
        #expect(phase.isAnswering)
        #expect(phase.isOverdue(at: start + limits.writeDeadline))
        phase.replyCompleted()
        #expect(phase.isIdle)
    }

    @Test func `a handshake has one, which only its end stops`() {
        var phase = ConnectionPhase(isTLS: true, at: start, limits: limits)
        phase.bytesArrived(at: start + .seconds(1), limits: limits)
        #expect(phase == .handshaking(until: start + limits.handshakeDeadline))
        #expect(phase.isOverdue(at: start + limits.handshakeDeadline))
        phase.handshakeCompleted()
        #expect(phase.isIdle)
        phase.bytesArrived(at: start, limits: limits)
        phase.handshakeCompleted()
        #expect(phase == .reading(until: start + limits.readDeadline))
    }

    @Test func `deadlines are looked at often enough`() {
        #expect(limits.tickInterval == .seconds(1))
        var short = ServerLimits()
        short.readDeadline = .milliseconds(200)
        #expect(short.tickInterval == .milliseconds(50))
        short.readDeadline = .milliseconds(1)
        #expect(short.tickInterval == .milliseconds(10))
    }
}
