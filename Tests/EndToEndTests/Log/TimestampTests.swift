import Countersign
import Crypto
import Evidence
import Foundation
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// An authority made of the openssl program, as another process.
@Suite struct `A timestamp authority` {
    private func withLog(
        _ body: (WitnessedLog, Peer) async throws -> Void
    ) async throws {
        try await Peer.authority { peer in
            try await WitnessedLog.with(.generate()) { try await body($0, peer) }
        }
    }

    private func kept(_ log: WitnessedLog) async throws -> [(size: Int64, response: Bytes)] {
        try await log.test.sql(
            "SELECT size, response FROM countersign.log_timestamp ORDER BY size"
        ).map { row in (try row["size"], try row["response"]) }
    }

    @Test func `stamps the note that the log alone has signed, and anybody can verify it`()
        async throws
    {
        try await withLog { log, peer in
            let timestamps = try await log.timestamps(peer)
            let size = try await log.grow(3)
            let note = try #require(try await log.testimony.published()).encoded
            await timestamps.look(at: .now)
            let stored = try await kept(log)
            #expect(stored.map(\.size) == [size])
            let response = try #require(stored.first).response
            let anchors = timestamps.link.anchors
            let proven = try TimestampToken.verify(
                response: response, over: note, anchors: anchors)
            #expect(abs(systemTime().milliseconds - proven.at.milliseconds) < 60_000)
            #expect(proven.authority == "CN=good")
            #expect(timestamps.standing.stampedAt(timestamps.authorities[0].name) == proven.at)
            // As an auditor does, without us.
            let openssl = try OpenSSLTool()
            try openssl.write(note, to: "note")
            try openssl.write(response, to: "reply")
            try openssl.write(
                Bytes(try #require(try await peer.call("root").text).utf8), to: "ca.pem")
            try openssl.run("ts -verify -data note -in reply -CAfile ca.pem")
            let audit = PostgresLogAudit(database: await log.test.open(as: .auditor, size: 1))
            let testimony = try await audit.checkTestimony(
                witnesses: nil, anchors: anchors, policies: [])
            #expect(testimony.timestamps == 1 && testimony.verifiedTimestamps == 1)
            #expect(throws: TimestampFault.imprint) {
                try TimestampToken.verify(response: response, over: note + [10], anchors: anchors)
            }
            #expect(throws: TimestampFault.signer) {
                try TimestampToken.verify(response: response, over: note, anchors: [])
            }
        }
    }

    @Test func `is believed in every byte that counts`() async throws {
        try await withLog { log, peer in
            let timestamps = try await log.timestamps(peer)
            try await log.grow(3)
            let note = try #require(try await log.testimony.published()).encoded
            await timestamps.look(at: .now)
            let response = try #require(try await kept(log).first).response
            let proven = try TimestampToken.verify(
                response: response, over: note, anchors: timestamps.link.anchors)
            var believed: [Int] = []
            var generator = try SeededGenerator()
            for place in response.indices {
                var changed = response
                changed[place] ^= UInt8.random(in: 1...255, using: &generator)
                let found = try? TimestampToken.verify(
                    response: changed, over: note, anchors: timestamps.link.anchors)
                // What is still believed says the same.
                if let found {
                    believed.append(place)
                    #expect(found == proven, "\(generator)")
                }
            }
            // Nobody signs whether it was granted or granted with changes, nor the versions and names of
            // algorithms around the signature, which OpenSSL takes from the key: some 20 bytes of 1,500.
            #expect(believed.count < 40, "\(believed), \(generator)")
        }
    }

    @Test func `is asked each minute when the log has grown, and not otherwise`() async throws {
        try await withLog { log, peer in
            let timestamps = try await log.timestamps(peer)
            let begin = ContinuousClock.now
            func asked(after seconds: Int) async throws -> Int64 {
                await timestamps.look(at: begin + .seconds(seconds))
                return try await peer.stamped()
            }
            #expect(try await asked(after: 0) == 0)
            let first = try await log.grow(1)
            #expect(try await asked(after: 1) == 1)
            #expect(try await asked(after: 100) == 1)
            let second = try await log.grow(1)
            #expect(try await asked(after: 101) == 2)
            try await log.grow(1)
            #expect(try await asked(after: 160) == 2)
            try await peer.behave("unavailable")
            #expect(try await asked(after: 161) == 3)
            // What it missed is in the next one.
            try await peer.behave("good")
            let last = try await log.grow(1)
            #expect(try await asked(after: 220) == 3)
            #expect(try await asked(after: 221) == 4)
            #expect(try await kept(log).map(\.size) == [first, second, last])
            // Another instance that leads now does not ask for what is there.
            let other = try await log.timestamps(peer)
            await other.look(at: begin)
            #expect(try await peer.stamped() == 4)
        }
    }

    @Test func `stamps what the witnesses have cosigned, and the newest when they have not`()
        async throws
    {
        try await Peer.witness { witness in
            try await withLog { log, peer in
                let witnesses = try await log.witnesses(witness)
                let timestamps = try await log.timestamps(peer, after: witnesses.standing)
                let begin = ContinuousClock.now
                let cosigned = try await log.grow(1)
                await timestamps.look(at: begin)
                #expect(try await kept(log).isEmpty)
                await witnesses.look(at: begin)
                try await log.grow(1)
                await timestamps.look(at: begin)
                #expect(try await kept(log).map(\.size) == [cosigned])
                try await witness.call("down")
                let newest = try await log.grow(1)
                await witnesses.look(at: begin + .seconds(10))
                await timestamps.look(at: begin + .seconds(60))
                #expect(try await kept(log).map(\.size) == [cosigned, newest])
            }
        }
    }

    @Test func `may sign in another way than openssl does`() async throws {
        try await withLog { log, peer in
            let timestamps = try await log.timestamps(peer)
            try await peer.behave("signed-again")
            try await log.grow(1)
            await timestamps.look(at: .now)
            #expect(try await kept(log).count == 1)
        }
    }

    /// One process for all: it takes seconds to make its keys.
    @Test func `whose answer proves nothing is refused, and counted by why`() async throws {
        try await withLog { log, peer in
            try await log.grow(1)
            for (behaviour, outcome) in [
                ("wrong-nonce", "nonce"), ("without-nonce", "nonce"), ("wrong-imprint", "imprint"),
                ("usage-of-servers", "signer"), ("usage-of-both", "signer"),
                ("usage-unknown-too", "signer"), ("usage-not-critical", "signer"),
                ("expired", "signer"), ("not-yet", "signer"), ("other-authority", "signer"),
                ("without-certificate-hash", "signer"), ("without-certificate", "signer"),
                ("weak-hash", "signature"), ("changed", "signature"), ("rejected", "rejected"),
                ("rejected-with-token", "malformed"), ("truncated", "malformed"),
                ("with-more", "malformed"), ("garbage", "malformed"), ("empty", "malformed"),
                ("huge", "answer_too_large"), ("other-type", "status"), ("unavailable", "status"),
            ] {
                let timestamps = try await log.timestamps(peer)
                try await peer.behave(behaviour)
                await timestamps.look(at: .now)
                let name = timestamps.authorities[0].name
                #expect(timestamps.answers.value(name, outcome) == 1, "\(behaviour)")
                #expect(timestamps.answers.value(name, "stamped") == 0, "\(behaviour)")
            }
            #expect(try await kept(log).isEmpty)
        }
    }

    @Test func `whose clock is minutes from ours is not believed`() async throws {
        try await withLog { log, peer in
            try await log.grow(1)
            let published = try #require(try await log.testimony.published())
            let timestamps = try await log.timestamps(peer)
            for (offset, isBelieved) in [(-290, true), (310, false), (-310, false)] {
                let link = TimestampLink(
                    testimony: log.testimony, anchors: timestamps.link.anchors, policies: [],
                    entropy: .openSSL,
                    now: { systemTime() + Seconds(Int64(offset)) },
                    transport: timestamps.link.transport)
                let outcome = await link.stamp(published, by: timestamps.authorities[0])
                #expect((outcome != .failed(.clock)) == isBelieved, "\(offset)")
            }
        }
    }

    @Test func `under a policy that the bank does not take is not believed`() async throws {
        try await withLog { log, peer in
            try await log.grow(1)
            let published = try #require(try await log.testimony.published())
            let timestamps = try await log.timestamps(peer)
            // That of the peer's own configuration is 1.2.3.4.1.
            for (policies, isTaken) in [
                (["1.2.3.4.2"], false), (["1.2.3.4.2", "1.2.3.4.1"], true), ([], true),
            ] {
                let link = TimestampLink(
                    testimony: log.testimony, anchors: timestamps.link.anchors, policies: policies,
                    entropy: .openSSL, now: { systemTime() }, transport: timestamps.link.transport)
                let outcome = await link.stamp(published, by: timestamps.authorities[0])
                #expect((outcome != .failed(.policy)) == isTaken, "\(policies)")
            }
        }
    }

    @Test func `that is silent for minutes alarms`() {
        let standing = TimestampStanding(pace: .seconds(60), alarmAfter: .seconds(300))
        let begin = ContinuousClock.now
        func fail(after seconds: Int) -> Absence.Notice {
            standing.note(.failed(.timeout), of: "tsa", at: begin + .seconds(seconds))
        }
        #expect([0, 60, 300, 360].map(fail) == [.first, .none, .alarm, .none])
        _ = standing.note(.stamped(size: 1, at: Instant(milliseconds: 0)), of: "tsa", at: begin)
        #expect(fail(after: 600) == .first)
    }
}
