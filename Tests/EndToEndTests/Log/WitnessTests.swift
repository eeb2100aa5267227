import Countersign
import Crypto
import Evidence
import Foundation
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// A witness that shares nothing with us, as another process in another language.
@Suite struct `A witness` {
    private func withLog(_ body: (WitnessedLog, Peer) async throws -> Void) async throws {
        try await Peer.witness { peer in
            try await WitnessedLog.with(.generate()) { try await body($0, peer) }
        }
    }

    @Test func `cosigns the first checkpoint and each that follows`() async throws {
        try await withLog { log, peer in
            let witnesses = try await log.witnesses(peer)
            let key = witnesses.witnesses[0].key
            var (now, olds) = (ContinuousClock.now, [Int64(0)])
            for count in [3, 1, 300, 260] {
                let size = try await log.grow(count)
                await witnesses.look(at: now)
                now += .seconds(10)
                let seen = try await peer.seen()
                #expect(seen.size == size)
                // Each proof began where the witness was.
                #expect(seen.olds == olds)
                olds.append(size)
                // Kept byte for byte, and served.
                let kept = try await log.test.sql(
                    "SELECT line FROM countersign.log_cosignature WHERE size = \(size)")
                #expect(try kept.map { row in try row["line"] as String } == [seen.line])
                let served = try #require(try await log.reader.checkpoint())
                let note = try #require(SignedNote(decoding: served))
                #expect(String(decoding: served, as: UTF8.self).hasSuffix("\n" + seen.line))
                #expect(log.verifierKey.verifies(note))
                #expect(key.verifies(note))
                #expect(witnesses.standing.quorum == .met(size: size))
                let at = try #require(witnesses.standing.cosignedAt("w0"))
                #expect(key.verdict(on: note) == .signed(at: at))
                #expect(abs(systemTime().milliseconds - at.milliseconds) < 60_000)
            }
        }
    }

    @Test func `is asked again ten seconds after growth, and after a minute without`()
        async throws
    {
        try await withLog { log, peer in
            let witnesses = try await log.witnesses(peer)
            let begin = ContinuousClock.now
            func asked(after seconds: Int) async throws -> Int {
                await witnesses.look(at: begin + .seconds(seconds))
                return try await peer.seen().olds.count
            }
            #expect(try await asked(after: 0) == 0)
            try await log.grow(1)
            #expect(try await asked(after: 1) == 1)
            #expect(try await asked(after: 60) == 1)
            #expect(try await asked(after: 61) == 2)
            try await log.grow(1)
            #expect(try await asked(after: 70) == 2)
            #expect(try await asked(after: 71) == 3)
            try await peer.behave("status-500")
            try await log.grow(1)
            #expect(try await asked(after: 81) == 3)
            try await peer.behave("honest")
            #expect(try await asked(after: 90) == 3)
            #expect(try await asked(after: 91) == 4)
        }
    }

    @Test func `tells a log that has forgotten how far it was, and that is proved from there`()
        async throws
    {
        try await withLog { log, peer in
            let first = try await log.grow(5)
            await (try await log.witnesses(peer)).look(at: .now)
            let second = try await log.grow(300)
            await (try await log.witnesses(peer)).look(at: .now)
            let seen = try await peer.seen()
            #expect(seen.olds == [0, 0, first])
            #expect(seen.size == second)
            #expect(
                try await log.count("SELECT count(DISTINCT size) FROM countersign.log_cosignature")
                    == 2)
        }
    }

    @Test func `is never shown what was not published`() async throws {
        try await withLog { log, peer in
            let witnesses = try await log.witnesses(peer)
            let first = try await log.grow(3)
            try await log.grow(3, publishing: false)
            await witnesses.look(at: .now)
            #expect(try await peer.seen().size == first)
        }
    }

    @Test func `has its own cosignatures kept, and no others`() async throws {
        try await withLog { log, peer in
            try await peer.behave("with-others")
            let witnesses = try await log.witnesses(peer)
            let size = try await log.grow(3)
            await witnesses.look(at: .now)
            #expect(witnesses.standing.quorum == .met(size: size))
            let line = try await peer.seen().line
            let kept = try await log.test.sql("SELECT line FROM countersign.log_cosignature")
            #expect(try kept.map { row in try row["line"] as String } == [line])
        }
    }

    @Test func `has one cosignature of an answer kept, the newest`() async throws {
        try await withLog { log, peer in
            try await peer.behave("many-times")
            let witnesses = try await log.witnesses(peer)
            try await log.grow(3)
            await witnesses.look(at: .now)
            let kept = try await log.test.sql("SELECT cosigned_at FROM countersign.log_cosignature")
            #expect(kept.count == 1)
            #expect(
                try witnesses.standing.cosignedAt("w0")
                    == kept.first.map { row in
                        try row["cosigned_at"] as Instant
                    })
        }
    }

    @Test(arguments: [
        ("status-404", "unknown_log"), ("status-403", "unknown_key"),
        ("status-400", "bad_request"), ("status-500", "status"), ("redirect", "status"),
        ("garbage", "malformed"), ("empty", "malformed"), ("huge", "answer_too_large"),
        ("conflict-without-type", "malformed"), ("conflict-without-number", "malformed"),
        ("other-key", "other_key"), ("forged", "invalid"), ("other-note", "invalid"),
        ("slow", "timeout"), ("fast-clock", "clock"), ("slow-clock", "clock"),
    ])
    func `whose answer is no cosignature stops nothing, and is counted`(
        behaviour: String, outcome: String
    ) async throws {
        try await withLog { log, peer in
            let witnesses = try await log.witnesses(peer)
            try await peer.behave(behaviour)
            try await log.grow(3)
            #expect(try await witnesses.agree())
            #expect(witnesses.answers.value("w0", outcome) == 1)
            #expect(witnesses.standing.quorum == .missing)
            #expect(try await log.count("SELECT count(*) FROM countersign.log_cosignature") == 0)
        }
    }

    @Test func `that refuses the log's key or does not know the log is told apart`() async throws {
        try await Peer.witness { peer in
            let key = try Ed25519PrivateKey.generate()
            try await WitnessedLog.with(key) { log in
                let witnesses = try await log.witnesses(peer)
                try await log.grow(3)
                // Of the same name, and another key.
                let other = VerifierKey(
                    name: WitnessedLog.origin, kind: .ed25519,
                    publicKey: try Ed25519PrivateKey.generate().publicKey)
                try await peer.call("trust", ["key": .string(other.text)])
                #expect(try await witnesses.agree())
                #expect(witnesses.answers.value("w0", "unknown_key") == 1)
            }
        }
    }

    @Test func `is one of several, of which the policy takes so many`() async throws {
        try await Peer.witness { first in
            try await Peer.witness("other.example/witness") { second in
                try await WitnessedLog.with(.generate()) { log in
                    let all = try await log.witnesses(first, second, take: "all")
                    let any = try await log.witnesses(first, second, take: "any")
                    let size = try await log.grow(3)
                    #expect(all.standing.quorum == .unknown)
                    try await second.call("down")
                    await all.look(at: .now)
                    await any.look(at: .now)
                    #expect(all.standing.quorum == .missing)
                    #expect(any.standing.quorum == .met(size: size))
                    try await second.call("up")
                    await all.look(at: .now + .seconds(10))
                    #expect(all.standing.quorum == .met(size: size))
                    // The one that had cosigned was not asked again.
                    #expect(all.answers.value("w0", "cosigned") == 1)
                }
            }
        }
    }
}
