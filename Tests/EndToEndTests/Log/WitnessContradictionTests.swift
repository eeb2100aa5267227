import Countersign
import Crypto
import Evidence
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// A second database, whose log has the same name and key and another history.
@Suite struct `A log that is another than a witness has seen` {
    /// A log that a witness has cosigned at that size of records, then another one.
    private func withAnother(
        _ body: (WitnessedLog, LogWitnesses, Peer) async throws -> Void
    ) async throws {
        try await Peer.witness { peer in
            let key = try Ed25519PrivateKey.generate()
            try await WitnessedLog.with(key) { log in
                try await log.grow(20)
                #expect(try await log.witnesses(peer).agree())
            }
            try await WitnessedLog.with(key) { log in
                try await body(log, try await log.witnesses(peer), peer)
            }
        }
    }

    /// Whether the sequencer signs, given time.
    private func signs(_ log: WitnessedLog, _ witnesses: LogWitnesses) async throws -> Bool {
        let before = try await log.count("SELECT count(*) FROM countersign.log_checkpoint")
        let sequencer = await log.sequencer(witnesses)
        let task = Task { await sequencer.run() }
        try await log.record(1)
        try await Task.sleep(for: .seconds(2))
        task.cancel()
        await task.value
        return try await log.count("SELECT count(*) FROM countersign.log_checkpoint") > before
    }

    @Test func `is not signed when it is empty`() async throws {
        try await withAnother { log, witnesses, _ in
            let isSigned = try await signs(log, witnesses)
            #expect(!isSigned)
            #expect(witnesses.answers.value("w0", "larger") > 0)
        }
    }

    @Test(arguments: [(5, "larger"), (20, "inconsistent"), (40, "inconsistent")])
    func `is not signed, whatever its size`(count: Int, outcome: String) async throws {
        try await withAnother { log, witnesses, peer in
            let cosigned = try await peer.seen()
            try await log.grow(count)
            #expect(try await !signs(log, witnesses))
            #expect(witnesses.answers.value("w0", outcome) > 0)
            // The witness keeps to what it has seen.
            #expect(try await peer.seen().size == cosigned.size)
            #expect(try await log.count("SELECT count(*) FROM countersign.log_cosignature") == 0)
        }
    }

    @Test func `is signed as long as no witness says so`() async throws {
        try await withAnother { log, witnesses, peer in
            try await peer.call("down")
            #expect(try await signs(log, witnesses))
        }
    }

    @Test func `stops being signed when it is found, until that witness cosigns again`()
        async throws
    {
        try await Peer.witness { peer in
            try await WitnessedLog.with(.generate()) { log in
                let witnesses = try await log.witnesses(peer)
                #expect(try await signs(log, witnesses))
                try await peer.behave("larger")
                await witnesses.look(at: .now + .seconds(10))
                #expect(witnesses.standing.isContradicted)
                #expect(try await !signs(log, witnesses))
                // That it is silent now does not take back what it said.
                try await peer.call("down")
                #expect(try await !signs(log, witnesses))
                witnesses.standing.forget()
                #expect(try await !signs(log, witnesses))
                try await peer.behave("honest")
                try await peer.call("up")
                #expect(try await signs(log, witnesses))
                #expect(!witnesses.standing.isContradicted)
            }
        }
    }

    @Test func `is no other when a second instance has shown more of it`() async throws {
        try await Peer.witness { peer in
            try await WitnessedLog.with(.generate()) { log in
                let witnesses = try await log.witnesses(peer)
                try await log.grow(3)
                let old = WitnessLink.Shown(try #require(try await log.testimony.published()))
                let newer = try await log.grow(300)
                let other = try await log.witnesses(peer)
                #expect(try await other.agree())
                let outcome = await witnesses.link.show(old, to: witnesses.witnesses[0], after: 0)
                guard case .cosigned(newer, _) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
            }
        }
    }
}

@Suite struct `What is known of witnesses` {
    private let begin = ContinuousClock.now

    @Test func `alarms when one has been silent for five minutes, and every five again`() {
        let standing = WitnessStanding(["w0"], alarmAfter: .seconds(300))
        func fail(after seconds: Int) -> WitnessStanding.Notice {
            standing.note(.failed(.timeout), of: "w0", at: begin + .seconds(seconds))
        }
        #expect(fail(after: 0) == .failed)
        #expect(fail(after: 299) == .none)
        #expect(fail(after: 300) == .silent)
        #expect(fail(after: 310) == .none)
        #expect(fail(after: 600) == .silent)
        let cosigned = WitnessLink.Outcome.cosigned(size: 3, at: Instant(milliseconds: 0))
        #expect(standing.note(cosigned, of: "w0", at: begin + .seconds(610)) == .none)
        #expect(fail(after: 620) == .failed)
        #expect(
            standing.note(.contradicted(.larger), of: "w0", at: begin + .seconds(630))
                == .contradicted)
    }

    @Test func `alarms when the policy's quorum was missing for five minutes`() throws {
        let keys = try ["a", "b"].map { name in
            VerifierKey(
                name: name, kind: .cosignature,
                publicKey: try Ed25519PrivateKey.generate().publicKey)
        }
        let policy = try TrustPolicy(
            text: Bytes(
                "witness w0 \(keys[0].text)\nwitness w1 \(keys[1].text)\ngroup g all w0 w1\nquorum g\n"
                    .utf8))
        let standing = WitnessStanding(["w0", "w1"], alarmAfter: .seconds(300))
        func judge(after seconds: Int) -> Bool {
            standing.judge(3, by: policy, at: begin + .seconds(seconds))
        }
        #expect(!judge(after: 0))
        #expect(judge(after: 300))
        let cosigned = WitnessLink.Outcome.cosigned(size: 3, at: Instant(milliseconds: 0))
        _ = standing.note(cosigned, of: "w0", at: begin)
        #expect(judge(after: 600))
        // Of another size.
        _ = standing.note(.cosigned(size: 2, at: Instant(milliseconds: 0)), of: "w1", at: begin)
        #expect(judge(after: 900))
        #expect(standing.quorum == .missing)
        _ = standing.note(cosigned, of: "w1", at: begin)
        #expect(!judge(after: 1200))
        #expect(standing.quorum == .met(size: 3))
    }
}
