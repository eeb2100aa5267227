import Countersign
import Crypto
package import Evidence
import Postgres

/// Writes records of the service itself, as the service writes them: all of them looks at evidence.
package struct TestReadings: Sendable {
    package let sealer: EvidenceSealer
    private let wrapped: Bytes

    /// - Parameter origin: The name of the log.
    /// - Throws: Never with a key of 32 bytes.
    package init(of origin: String) throws {
        guard let keyEncryption = KeyEncryptionKey(Fixtures.bytes32(3)) else {
            throw InvalidValue("key", "A key has 32 bytes.")
        }
        sealer = EvidenceSealer(log: origin, keyEncryption: keyEncryption, entropy: .openSSL)
        wrapped = keyEncryption.wrapFreshKey(
            for: EvidenceSealer.serviceSubject, entropy: .openSSL)
    }

    /// Records so many, in one transaction.
    package func record(_ count: Int, in test: TestDatabase) async throws {
        try await test.sql("SELECT 1 FROM (\(try await statement(count, in: test))) AS x")
    }

    /// A statement that records so many.
    package func statement(_ count: Int, in test: TestDatabase) async throws -> String {
        "SELECT countersign.write_evidence('\(try await json(count, in: test))'::jsonb)"
    }

    /// So many records, as the database's functions take them.
    package func json(_ count: Int, in test: TestDatabase) async throws -> String {
        try await json(
            (0..<count).map {
                ServiceEvidence.read(by: Fixtures.id(9), filter: .null, count: $0)
            }, in: test)
    }

    /// Any records of the service itself.
    package func json(_ drafts: [EvidenceDraft], in test: TestDatabase) async throws -> String {
        guard let row = try await test.sql("SELECT clock_timestamp() AS now").first,
            let sealed = sealer.seal(
                drafts, subject: EvidenceSealer.serviceSubject, wrappedKey: wrapped,
                at: try row["now"],
                heads: ChainHeads())
        else { throw InvalidValue("records", "The key was not unwrapped.") }
        return String(decoding: JSON.array(sealed.map(\.json)).encoded, as: UTF8.self)
    }
}
