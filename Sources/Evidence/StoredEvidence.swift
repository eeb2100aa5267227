package import Countersign
internal import Crypto

/// One record as it lies in the database.
package struct StoredEvidence: Sendable {
    package let id: ID<Countersign.Evidence>
    package let kind: String
    package let action: ID<Action>?
    package let subject: ID<Subject>
    package let credential: ID<Credential>?
    package let leaf: Bytes
    package let leafHash: Bytes
    package let bodyCommitment: Bytes
    package let recordedAt: Instant
    /// `nil` once the customer was erased.
    package let body: EncryptedBody?
    /// Whether the body is gone and the subject's data key with it, as an erasure leaves a record. That it was
    /// one, only a record of the erasure tells.
    package let isErased: Bool

    /// The encrypted body and what is needed to open it.
    package struct EncryptedBody: Sendable {
        package let salt: Bytes
        package let nonce: Bytes
        package let ciphertext: Bytes
        /// The subject's data key, wrapped.
        package let wrappedKey: Bytes
        /// Whose data key it is; `nil` for the record's own subject.
        package let subject: ID<Subject>?

        package init(
            salt: Bytes, nonce: Bytes, ciphertext: Bytes, wrappedKey: Bytes,
            of subject: ID<Subject>? = nil
        ) {
            self.subject = subject
            self.salt = salt
            self.nonce = nonce
            self.ciphertext = ciphertext
            self.wrappedKey = wrappedKey
        }
    }

    package init(
        id: ID<Countersign.Evidence>, kind: String, action: ID<Action>?, subject: ID<Subject>,
        credential: ID<Credential>?, leaf: Bytes, leafHash: Bytes, bodyCommitment: Bytes,
        recordedAt: Instant, body: EncryptedBody?, isErased: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.action = action
        self.subject = subject
        self.credential = credential
        self.leaf = leaf
        self.leafHash = leafHash
        self.bodyCommitment = bodyCommitment
        self.recordedAt = recordedAt
        self.body = body
        self.isErased = isErased
    }

    /// The same record without its body: all that a chain needs.
    package var withoutBody: StoredEvidence {
        StoredEvidence(
            id: id, kind: kind, action: action, subject: subject, credential: credential,
            leaf: leaf, leafHash: leafHash, bodyCommitment: bodyCommitment,
            recordedAt: recordedAt, body: nil, isErased: isErased)
    }

    /// Opens the body and checks it against its commitment.
    ///
    /// - Returns: The body's bytes exactly as they were sealed; `nil` when it was erased, cannot be
    ///   decrypted, or is not what the leaf commits to.
    package func openBody(with keyEncryption: KeyEncryptionKey) -> Bytes? {
        open(with: keyEncryption)?.body
    }

    /// A body as it was sealed, and what was kept beside it.
    package struct Opened: Sendable {
        package let body: Bytes
        package let attachment: Bytes?
    }

    /// As ``openBody(with:)``, with the attachment, which has to be the one that the body commits to.
    package func open(with keyEncryption: KeyEncryptionKey) -> Opened? {
        guard let sealed = body,
            let key = keyEncryption.unwrap(sealed.wrappedKey, for: sealed.subject ?? subject),
            let plain = key.open(sealed.ciphertext, of: id, nonce: sealed.nonce)
        else { return nil }
        let end = plain.firstIndex(of: EvidenceDraft.attachmentMark) ?? plain.endIndex
        let body = Bytes(plain[..<end])
        guard EvidenceSealer.commitment(to: body, salt: sealed.salt).bytes == bodyCommitment else {
            return nil
        }
        let digest = JSON(recorded: body)?[EvidenceDraft.attachmentDigest]
        guard end < plain.endIndex else {
            return digest == nil ? Opened(body: body, attachment: nil) : nil
        }
        let attachment = Bytes(plain[(end + 1)...])
        guard digest?.text == sha256(attachment).hex else { return nil }
        return Opened(body: body, attachment: attachment)
    }
}
