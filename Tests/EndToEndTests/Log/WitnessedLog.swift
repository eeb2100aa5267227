import Countersign
import Crypto
import Evidence
import Foundation
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// A log on a database of its own, sequenced in this process, and those who say something of it.
struct WitnessedLog: Sendable {
    static let origin = "bank.example/log"

    let test: TestDatabase
    let key: Ed25519PrivateKey
    let testimony: PostgresLogTestimony
    let reader: PostgresLogReader
    private let database: Database
    private let readings: TestReadings

    /// Gives `body` a log of that key; another one of the same name and key is what a witness is there for.
    static func with<Result>(
        _ key: Ed25519PrivateKey, _ body: (WitnessedLog) async throws -> Result
    ) async throws -> Result {
        try await withDatabase { test in try await body(try await WitnessedLog(test, key)) }
    }

    private init(_ test: TestDatabase, _ key: Ed25519PrivateKey) async throws {
        self.test = test
        self.key = key
        database = await test.open(size: 4)
        testimony = PostgresLogTestimony(database: database)
        reader = PostgresLogReader(database: database)
        readings = try TestReadings(of: Self.origin)
    }

    var signer: LogSigner { LogSigner(keys: [LogSigner.file(key, name: Self.origin)]) }

    var verifierKey: VerifierKey { signer.keys[0].verifierKey }

    /// Writes so many records, in one transaction.
    func record(_ count: Int) async throws { try await readings.record(count, in: test) }

    /// Writes records, gives them positions, publishes, and gives the size.
    @discardableResult
    func grow(_ count: Int, publishing: Bool = true) async throws -> Int64 {
        let log = await instance()
        _ = try await log.lead()
        try await record(count)
        let signer = signer
        let batch = try #require(try await log.advance(keys: [verifierKey]) { signer.sign($0) })
        if publishing { try await log.publish(batch) }
        await log.close()
        return batch.size
    }

    /// Those who are asked by a policy, as the service would ask them: processes of `witness.py`, of which
    /// the quorum takes a number, `all` or `any`.
    func witnesses(
        _ peers: Peer..., take: String = "all", lead: LogLead = LogLead()
    ) async throws -> LogWitnesses {
        var text = "# This bank's log\nlog \(verifierKey.text)\n"
        for (index, peer) in peers.enumerated() {
            try await peer.call("trust", ["key": .string(verifierKey.text)])
            let key = try #require(try await peer.call("key").text)
            let url = try #require(try await peer.call("url").text)
            text += "witness w\(index) \(key) \(url)\n"
        }
        text += "group g \(take) \(peers.indices.map { "w\($0)" }.joined(separator: " "))\n"
        let file = try TextOnDisk(text + "quorum g\n")
        var configuration = Configuration()
        configuration.development = true
        configuration.log.witnessPolicy = FilePath(text: file.path)
        return try #require(
            try configuration.makeWitnesses(
                signer: signer, origin: Self.origin, database: database, lead: lead,
                metrics: Metrics()))
    }

    private func instance() async -> PostgresLog {
        PostgresLog(database: await test.open(size: 1), origin: Self.origin)
    }

    /// A sequencer of this log as the service has one, which looks more often.
    func sequencer(_ witnesses: LogWitnesses) async -> LogSequencer {
        LogSequencer(
            log: await instance(), signer: signer, origin: Self.origin, anchors: [],
            witnesses: witnesses,
            lead: witnesses.lead, announce: {}, metrics: LogMetrics(Metrics()),
            tick: .milliseconds(20), failpoints: nil, refusedPause: .milliseconds(100))
    }

    /// An authority that is asked, as the service would ask it: a process of `timestamps.py`.
    func timestamps(
        _ peer: Peer, after witnesses: WitnessStanding? = nil
    ) async throws -> LogTimestamps {
        let file = try TextOnDisk(try #require(try await peer.call("root").text))
        var configuration = Configuration()
        configuration.development = true
        configuration.log.timestampURLs = [try #require(try await peer.call("url").text)]
        configuration.log.timestampCA = FilePath(text: file.path)
        return try #require(
            try configuration.makeTimestamps(
                database: database, witnesses: witnesses, lead: LogLead(), metrics: Metrics()))
    }

    /// One number out of the database.
    func count(_ expression: String) async throws -> Int64 {
        let rows = try await test.sql("SELECT (\(expression))::bigint AS value")
        return try #require(rows.first)["value"]
    }
}

/// A text in a file, which goes with it.
final class TextOnDisk: Sendable {
    let path: String

    init(_ text: String) throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "countersign-\(UUID().uuidString)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension Peer {
    /// Runs a witness.
    static func witness<Result>(
        _ name: String = "auditor.example/witness", _ body: (Peer) async throws -> Result
    ) async throws -> Result {
        try await run("witness.py", [name], body)
    }

    /// Runs a timestamp authority.
    static func authority<Result>(_ body: (Peer) async throws -> Result) async throws -> Result {
        try await run("timestamps.py", [], body)
    }

    func behave(_ how: String) async throws { try await call("behave", ["as": .string(how)]) }

    /// How many timestamps an authority was asked for.
    func stamped() async throws -> Int64 {
        guard case .integer(let count) = try await call("seen") else {
            throw Unexpected("the authority told no number")
        }
        return count
    }

    /// What a witness has seen of the log.
    func seen() async throws -> (size: Int64, olds: [Int64], line: String) {
        let state = try await call("state", ["origin": .string(WitnessedLog.origin)])
        guard case .integer(let size)? = state["size"], case .array(let olds)? = state["olds"],
            let line = state["line"]?.text
        else { throw Unexpected("the witness told no state") }
        return (
            size,
            olds.compactMap { if case .integer(let old) = $0 { old } else { nil } },
            line
        )
    }
}
