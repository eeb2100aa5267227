import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `Bodies` {
    let log: TestLog
    let record: StoredEvidence
    let body: StoredEvidence.EncryptedBody

    init() throws {
        log = try TestLog()
        record = try log.record([
            EvidenceDraft(.actionCancelled, action: Fixtures.id(1), body: ["reason": "Erika"])
        ])[0]
        body = try #require(record.body)
    }

    private func opens(_ record: StoredEvidence, with key: KeyEncryptionKey? = nil) -> Bool {
        record.openBody(with: key ?? log.keyEncryption) != nil
    }

    private func changed(
        salt: Bytes? = nil, nonce: Bytes? = nil, ciphertext: Bytes? = nil, wrappedKey: Bytes? = nil
    ) -> StoredEvidence {
        record.with(
            body: .some(
                .init(
                    salt: salt ?? body.salt, nonce: nonce ?? body.nonce,
                    ciphertext: ciphertext ?? body.ciphertext,
                    wrappedKey: wrappedKey ?? body.wrappedKey)))
    }

    @Test func `are opened to what was sealed, and are not readable without`() {
        #expect(record.openBody(with: log.keyEncryption) == Bytes(#"{"reason":"Erika"}"#.utf8))
        #expect(!String(decoding: body.ciphertext, as: UTF8.self).contains("Erika"))
    }

    /// What is long and nobody needs who verifies a body is in no bundle, and is as safe as the body.
    @Test func `have what is kept beside them opened too, if it is what they commit to`() throws {
        let attachment: JSON = ["attestation": "long\nand \"quoted\""]
        let draft = EvidenceDraft(
            .actionCancelled, action: Fixtures.id(1), body: ["reason": "Erika"],
            attachment: attachment)
        let stored = try log.record([draft])[0]
        let opened = try #require(stored.open(with: log.keyEncryption))
        #expect(opened.attachment == attachment.encoded)
        let digest = sha256(attachment.encoded).hex
        let body = #"{"reason":"Erika","attachment_digest":"\#(digest)"}"#
        #expect(opened.body == Bytes(body.utf8) && draft.body.encoded == opened.body)
        #expect(stored.openBody(with: log.keyEncryption) == opened.body)
        #expect(log.verifier.fault(of: stored) == nil)
        // A record without one has none, and one that names another, or none where one is named, is a fault.
        #expect(try #require(record.open(with: log.keyEncryption)).attachment == nil)
        for other in [nil, ["attestation": "another"]] as [JSON?] {
            let forged = EvidenceDraft(
                .actionCancelled, action: Fixtures.id(1),
                body: ["attachment_digest": .string(digest), "reason": "Erika"], attachment: other)
            #expect(log.verifier.fault(of: try log.record([forged])[0]) == .body)
        }
    }

    @Test func `cannot be opened with another key, nor sealed with one`() throws {
        let other = try TestLog(key: 4)
        #expect(!opens(record, with: other.keyEncryption))
        #expect(other.verifier.fault(of: record) == .body)
        #expect(
            other.sealer.seal(
                [], subject: TestLog.subject, wrappedKey: log.wrappedKey, at: Fixtures.at,
                heads: ChainHeads()) == nil)
        // Another customer's data key, and this customer's key under another customer's name.
        let subject: ID<Subject> = Fixtures.id(11)
        let wrapped = log.keyEncryption.wrapFreshKey(for: subject, entropy: .openSSL)
        #expect(log.keyEncryption.unwrap(wrapped, for: subject) != nil)
        #expect(!opens(changed(wrappedKey: wrapped)))
        #expect(!opens(record.with(subject: subject)))
        #expect(log.keyEncryption.unwrap(log.wrappedKey, for: subject) == nil)
    }

    /// The evidence ID is authenticated: a body belongs to one record.
    @Test func `cannot be moved to another record`() throws {
        let draft = EvidenceDraft(
            .actionCancelled, action: Fixtures.id(1), body: ["reason": "Erika"])
        let other = try log.record([draft])[0]
        #expect(!opens(other.with(body: .some(body))))
        #expect(!opens(record.with(id: other.id)))
        // Nor with its commitment, which is what a careful forger would move as well.
        let moved = other.with(bodyCommitment: record.bodyCommitment, body: .some(body))
        #expect(!opens(moved))
        #expect(log.verifier.fault(of: moved) == .columns)
    }

    @Test func `of equal content are not recognisable by their commitments`() throws {
        let draft = EvidenceDraft(.evidenceRead, body: ["reason": "Erika"])
        let commitments = try log.record([draft, draft, draft]).map(\.bodyCommitment)
        #expect(Set(commitments).count == 3)
    }

    @Test func `notice every flipped bit`() {
        func flips(_ bytes: Bytes) -> [Bytes] {
            bytes.indices.flatMap { index in
                (0..<8).map { bit in
                    var flipped = bytes
                    flipped[index] ^= 1 << UInt8(bit)
                    return flipped
                }
            }
        }
        let records =
            flips(body.salt).map { changed(salt: $0) }
            + flips(body.nonce).map { changed(nonce: $0) }
            + flips(body.ciphertext).map { changed(ciphertext: $0) }
            + flips(body.wrappedKey).map { changed(wrappedKey: $0) }
        for record in records { #expect(log.verifier.fault(of: record) == .body) }
        #expect(log.verifier.fault(of: changed()) == nil)
    }

    @Test func `notice lost and added bytes`() {
        let lengths = [
            changed(ciphertext: []), changed(ciphertext: Bytes(body.ciphertext.dropLast())),
            changed(ciphertext: body.ciphertext + [0]), changed(nonce: []),
            changed(nonce: body.nonce + [0]), changed(salt: []), changed(salt: body.salt + [0]),
            changed(wrappedKey: []), changed(wrappedKey: Bytes(body.wrappedKey.prefix(12))),
            changed(wrappedKey: Bytes(body.wrappedKey.dropLast())),
        ]
        for record in lengths { #expect(log.verifier.fault(of: record) == .body) }
    }

    @Test func `that are missing are told from bodies that were changed`() {
        #expect(log.verifier.fault(of: record.with(body: .some(nil))) == .bodyMissing)
        #expect(!opens(record.with(body: .some(nil))))
    }

    @Test func `need a key of 32 bytes`() {
        for count in [0, 16, 31, 33] {
            #expect(KeyEncryptionKey(Bytes(repeating: 1, count: count)) == nil)
        }
    }
}
