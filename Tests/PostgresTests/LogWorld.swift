import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// A log on a database of its own, whose records are written as the service writes them.
struct LogWorld: Sendable {
    static let origin = "bank.example/log"

    let test: TestDatabase
    let key: Ed25519PrivateKey
    let sealer: EvidenceSealer
    private let wrapped: Bytes

    static func with<Result>(_ body: (LogWorld) async throws -> Result) async throws -> Result {
        try await withDatabase { test in try await body(try LogWorld(test)) }
    }

    private init(_ test: TestDatabase) throws {
        self.test = test
        key = try .generate()
        let keyEncryption = try #require(KeyEncryptionKey(Fixtures.bytes32(3)))
        sealer = EvidenceSealer(
            log: Self.origin, keyEncryption: keyEncryption, entropy: .openSSL)
        wrapped = keyEncryption.wrapFreshKey(
            for: EvidenceSealer.serviceSubject, entropy: .openSSL)
    }

    var verifierKey: VerifierKey {
        VerifierKey(name: Self.origin, kind: .ed25519, publicKey: key.publicKey)
    }

    /// A sequencer with a connection of its own, as an instance has one.
    func instance() async -> PostgresLog {
        PostgresLog(
            database: await test.open(size: 1, adjust: { $0.statementDeadline = .seconds(60) }),
            origin: Self.origin)
    }

    var signer: @Sendable (Checkpoint) -> SignedNote? {
        let key = key
        let verifierKey = verifierKey
        return { checkpoint in
            do {
                return try SignedNote.note(signing: checkpoint.text, as: verifierKey) { text in
                    try key.sign(text)
                }
            } catch { return nil }
        }
    }

    /// Records so many looks at evidence, a transaction each or all in one.
    func record(_ count: Int, together: Bool = false) async throws {
        let drafts = (0..<count).map {
            ServiceEvidence.read(by: Fixtures.id(9), filter: .null, count: $0)
        }
        for drafts in together ? [drafts] : drafts.map({ [$0] }) {
            try await test.sql("SELECT 1 FROM (\(try await statement(drafts))) AS x")
        }
    }

    /// A statement that records drafts.
    func statement(_ drafts: [EvidenceDraft]) async throws -> String {
        let rows = try await test.sql("SELECT clock_timestamp() AS now")
        let row = try #require(rows.first)
        let now: Instant = try row["now"]
        let sealed = try #require(
            sealer.seal(
                drafts, subject: EvidenceSealer.serviceSubject, wrappedKey: wrapped, at: now,
                heads: ChainHeads()))
        let json = String(decoding: JSON.array(sealed.map(\.json)).encoded, as: UTF8.self)
        return "SELECT countersign.write_evidence('\(json)'::jsonb)"
    }

    /// Gives positions to all there is, publishes, and returns the size.
    @discardableResult
    func sequence(_ log: PostgresLog) async throws -> Int64? {
        guard let batch = try await log.advance(signer) else { return nil }
        try await log.publish(batch)
        return batch.size
    }

    /// Everything that a check of the whole log finds, and how many records no position has.
    func faults() async throws -> [String] {
        let audit = PostgresLogAudit(database: await test.open(as: .auditor, size: 1))
        var faults: [String] = []
        do {
            let size = try await audit.check(nil, keys: [verifierKey])
            if size > 0 {
                let found = try await audit.completeness(of: size)
                if found != .init(unsequenced: 0, missing: 0, altered: 0) {
                    faults.append("\(found)")
                }
            }
        } catch let fault as LogFault {
            faults.append("\(fault.position): \(fault.what)")
        }
        return faults
    }

    /// One number out of the database, as the superuser.
    func count(_ expression: String) async throws -> Int {
        let rows = try await test.sql("SELECT (\(expression))::bigint AS value")
        let row = try #require(rows.first)
        return try row["value"]
    }
}
