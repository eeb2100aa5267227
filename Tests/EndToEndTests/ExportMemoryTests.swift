import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

@Suite struct `An export of much evidence` {
    /// How many records are taken away; more with `COUNTERSIGN_EXPORT_RECORDS`.
    private static let records =
        ProcessInfo.processInfo.environment["COUNTERSIGN_EXPORT_RECORDS"].flatMap { Int($0) }
        ?? 20_000
    private static let pageRecords = 1000

    /// Records looks at evidence as the service does, with encrypted bodies.
    private func fill(_ bank: TestBank) async throws {
        let (sealer, keyEncryption) = try bank.configuration.evidenceKeys()
        let database = try bank.configuration.makeDatabase()
        let service = ServiceSubject(
            database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: .openSSL)
        for page in stride(from: 0, to: Self.records, by: Self.pageRecords) {
            try await service.record(
                (0..<min(Self.pageRecords, Self.records - page)).map { number in
                    ServiceEvidence.read(
                        by: ID(rawValue: 1), filter: ["kind": "order.executed", "hold": .null],
                        count: page + number)
                })
        }
        await database.close()
    }

    /// What came of one, of which nothing is kept.
    private struct Received: Sendable {
        var records = 0
        var bytes = 0
        var end: Bytes = []
        var memory: [MemorySample] = []
    }

    private static func download(
        _ socket: HttpSocket, key: String, process: Int32
    ) throws -> Received {
        socket.send(
            HttpMessage(
                "GET", "/v1/evidence/export", fields: ["Authorization: Bearer \(key)"]
            ).head)
        var received = Received()
        var last: UInt8 = 0
        while let piece = try socket.piece() {
            for unit in piece {
                // A line ends with its object; within one a line feed is escaped.
                if unit == UInt8(ascii: "\n"), last == UInt8(ascii: "}") { received.records += 1 }
                last = unit
            }
            received.bytes += piece.count
            received.end = Bytes((received.end + piece.suffix(5)).suffix(5))
            if received.records >= received.memory.count * (Self.records / 10),
                let kib = ProcessTimes.residentKiB(of: process)
            {
                received.memory.append(MemorySample(flows: received.records, kib: kib))
            }
        }
        return received
    }

    @Test func `takes no memory that grows with it`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            try await fill(bank)
            let key = bank.auditorKey
            let process = instance.process.id
            let received = try await HttpSocket.run(port: instance.port) {
                try Self.download($0, key: key, process: process)
            }
            #expect(received.records >= Self.records)
            #expect(received.end == Bytes("0\r\n\r\n".utf8))
            let verdict = try #require(MemoryVerdict(received.memory))
            #expect(verdict.isFlat, "\(received.memory.map(\.line))")
            print(
                "exported \(received.records) records, \(received.bytes) bytes: "
                    + "\(received.memory.map { "\($0.kib)" }.joined(separator: ", ")) KiB")
        }
    }
}
