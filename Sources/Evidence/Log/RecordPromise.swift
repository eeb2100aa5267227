package import Countersign
package import Crypto

/// The service's word that a record of evidence is in the log from a time on. Whoever has one, signed, can prove later
/// that the record was left out or put otherwise.
///
/// It is the text of a signed note: five lines, of which the first tells it from a checkpoint's.
package struct RecordPromise: Hashable, Sendable {
    /// The name of the log.
    package let origin: String
    package let evidence: ID<Countersign.Evidence>
    /// The RFC 6962 hash of its leaf.
    package let leafHash: Digest
    /// From when on the record is in a published checkpoint.
    package let dueAt: Instant

    private static let version = "countersign/promise/1"

    package init(
        origin: String, evidence: ID<Countersign.Evidence>, leafHash: Digest, dueAt: Instant
    ) {
        self.origin = origin
        self.evidence = evidence
        self.leafHash = leafHash
        self.dueAt = dueAt
    }

    /// What is signed.
    package var text: Bytes {
        let hash = Base64.encode(leafHash.bytes)
        return Bytes(
            "\(Self.version)\n\(origin)\n\(evidence.text)\n\(hash)\n\(dueAt.text)\n".utf8)
    }

    /// Reads exactly what ``text`` writes; `nil` for anything else.
    package init?(text: Bytes) {
        guard let string = String(validating: text, as: UTF8.self) else { return nil }
        let lines = string.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 6, lines[0] == Self.version, lines[5].isEmpty,
            let evidence = ID<Countersign.Evidence>(String(lines[2])),
            let bytes = Base64.decode(lines[3]), let leafHash = Digest(bytes),
            let dueAt = Instant(text: lines[4])
        else { return nil }
        self.init(
            origin: String(lines[1]), evidence: evidence, leafHash: leafHash, dueAt: dueAt)
        guard self.text == text else { return nil }
    }

    /// The name of the key that signs the promises of a log.
    package static func keyName(of origin: String) -> String { origin + "/promise" }

    /// What a signed note promises.
    ///
    /// - Returns: `nil` when the key has not signed it, or it is no promise of the log that the key is named after.
    package static func read(_ note: SignedNote, signedBy key: VerifierKey) -> RecordPromise? {
        guard key.kind == .ed25519, key.verifies(note),
            let promise = RecordPromise(text: note.text),
            key.name == keyName(of: promise.origin)
        else { return nil }
        return promise
    }
}

/// Signs promises.
package struct PromiseSigner: Sendable {
    private let key: Ed25519PrivateKey
    private let origin: String
    private let within: Seconds
    package let verifierKey: VerifierKey

    /// - Parameters:
    ///   - key: Signs nothing else.
    ///   - origin: The name of the log, as ``VerifierKey/isName(_:)`` allows.
    ///   - within: How long after its making a record may still be missing.
    package init(key: Ed25519PrivateKey, origin: String, within: Seconds) {
        self.key = key
        self.origin = origin
        self.within = within
        verifierKey = VerifierKey(
            name: RecordPromise.keyName(of: origin), kind: .ed25519, publicKey: key.publicKey)
    }

    /// The signed note, byte for byte the same whenever it is asked for; `nil` when OpenSSL fails.
    ///
    /// Counted from the time in the record's ID, which the database compares with its own.
    package func promise(of evidence: ID<Countersign.Evidence>, _ leafHash: Digest) -> String? {
        let text = RecordPromise(
            origin: origin, evidence: evidence, leafHash: leafHash,
            dueAt: evidence.instant + within
        ).text
        do throws(OpenSSLFailure) {
            let line = NoteSignature(
                name: verifierKey.name, keyID: verifierKey.keyID, signature: try key.sign(text))
            let note = SignedNote(text: text, signatures: [line])
            return String(decoding: note.encoded, as: UTF8.self)
        } catch {
            return nil
        }
    }
}
