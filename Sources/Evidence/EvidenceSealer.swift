package import Countersign
internal import Crypto

/// One thing to record, before it has its place in the chains.
package struct EvidenceDraft: Sendable {
    package let kind: EvidenceKind
    package let action: ID<Action>?
    package let credential: ID<Credential>?
    package let policy: Digest?
    package let outcome: String?
    /// Everything that a third party needs to verify it again. Encrypted before it is stored.
    package let body: JSON
    /// What is long, and what nobody needs who verifies the body: encrypted and erased with it, and in no
    /// bundle. The body's member `attachment_digest` commits to it.
    package let attachment: JSON?

    /// The member of a body that commits to its attachment: the hex SHA-256.
    static let attachmentDigest = "attachment_digest"
    /// Between the two: JSON is written without a line feed.
    static let attachmentMark = UInt8(ascii: "\n")

    package init(
        _ kind: EvidenceKind, action: ID<Action>? = nil, credential: ID<Credential>? = nil,
        policy: Digest? = nil, outcome: String? = nil, body: JSON, attachment: JSON? = nil
    ) {
        self.kind = kind
        self.action = action
        self.credential = credential
        self.policy = policy
        self.outcome = outcome
        self.attachment = attachment
        if let attachment, case .object(let members) = body {
            let digest = sha256(attachment.encoded).hex
            self.body = .object(members + [.init(Self.attachmentDigest, .string(digest))])
        } else {
            self.body = body
        }
    }

    /// What is encrypted: the body, and behind the mark the attachment.
    fileprivate var plaintext: Bytes {
        body.encoded + (attachment.map { [Self.attachmentMark] + $0.encoded } ?? [])
    }
}

/// One record, ready to be stored.
package struct SealedEvidence: Sendable {
    package let id: ID<Countersign.Evidence>
    package let kind: EvidenceKind
    package let action: ID<Action>?
    package let credential: ID<Credential>?
    package let subject: ID<Subject>
    /// Whose key encrypts the body: another's than ``subject`` for what the service tells of a customer.
    package let bodySubject: ID<Subject>
    package let leaf: Bytes
    /// RFC 6962 leaf hash; the database computes it again.
    package let leafHash: Digest
    package let bodyCommitment: Digest
    package let salt: Bytes
    package let nonce: Bytes
    package let ciphertext: Bytes

    /// As the database's functions take it: bytes in hexadecimal.
    package var json: JSON {
        [
            "id": .string(id.text),
            "kind": .string(kind.rawValue),
            "action_id": .optional(action?.text),
            "credential_id": .optional(credential?.text),
            "subject_id": .string(subject.text),
            "body_subject_id": .optional(bodySubject == subject ? nil : bodySubject.text),
            "leaf": .string(Hex.encode(leaf)),
            "body_commit": .string(bodyCommitment.hex),
            "salt": .string(Hex.encode(salt)),
            "nonce": .string(Hex.encode(nonce)),
            "ciphertext": .string(Hex.encode(ciphertext)),
        ]
    }
}

/// Where the chains of evidence stand, and where they will.
package struct ChainHeads: Sendable {
    private var actions: [ID<Action>: ChainHead]
    private var credentials: [ID<Credential>: ChainHead]

    package init(
        actions: [ID<Action>: ChainHead] = [:], credentials: [ID<Credential>: ChainHead] = [:]
    ) {
        self.actions = actions
        self.credentials = credentials
    }

    fileprivate func link(_ action: ID<Action>) -> EvidenceLeaf.Link {
        link(action.text, actions[action] ?? .empty)
    }

    fileprivate func link(_ credential: ID<Credential>) -> EvidenceLeaf.Link {
        link(credential.text, credentials[credential] ?? .empty)
    }

    private func link(_ name: String, _ head: ChainHead) -> EvidenceLeaf.Link {
        EvidenceLeaf.Link(
            of: name, sequence: head.length + 1, previous: head.leafHash?.hex ?? "")
    }

    fileprivate mutating func append(_ record: SealedEvidence) {
        if let action = record.action {
            let length = (actions[action] ?? .empty).length + 1
            actions[action] = ChainHead(length: length, leafHash: record.leafHash)
        }
        if let credential = record.credential {
            let length = (credentials[credential] ?? .empty).length + 1
            credentials[credential] = ChainHead(length: length, leafHash: record.leafHash)
        }
    }
}

/// Makes records: commits to the body, chains the leaf, encrypts the body.
package struct EvidenceSealer: Sendable {
    /// Keeps the commitment apart from every other use of SHA-256.
    package static let bodyPrefix = Bytes("countersign/body/1\n".utf8)

    private let log: String
    private let keyEncryption: KeyEncryptionKey
    private let entropy: EntropySource

    /// - Parameters:
    ///   - log: The name of the installation, a schema-less URL; see `evidence.origin`.
    ///   - keyEncryption: Unwraps the customers' data keys.
    ///   - entropy: Where IDs, salts and nonces come from.
    package init(log: String, keyEncryption: KeyEncryptionKey, entropy: EntropySource) {
        self.log = log
        self.keyEncryption = keyEncryption
        self.entropy = entropy
    }

    /// The subject of events of the service itself.
    package static let serviceSubject = ID<Subject>(rawValue: 0)

    /// Seals drafts of one customer in order, each the next of its chains.
    ///
    /// - Parameters:
    ///   - drafts: What to record, in order.
    ///   - subject: Whom it is about.
    ///   - wrappedKey: The subject's data key, wrapped.
    ///   - at: The database's time.
    ///   - heads: Where the chains stand now.
    ///   - first: How many records of the same transaction are sealed already: these follow them.
    ///   - teller: The subject that leaves name, when it is not the one whose key encrypts the bodies.
    /// - Returns: `nil` when the key cannot be unwrapped: it was erased, or belongs to another key
    ///   file. Then nothing may be recorded, and so nothing may be done.
    package func seal(
        _ drafts: [EvidenceDraft], subject: ID<Subject>, wrappedKey: Bytes, at: Instant,
        heads: ChainHeads, after first: Int = 0, toldOf teller: ID<Subject>? = nil
    ) -> [SealedEvidence]? {
        guard let key = keyEncryption.unwrap(wrappedKey, for: subject) else { return nil }
        var heads = heads
        return drafts.enumerated().map { index, draft in
            let record = seal(
                draft, number: first + index, with: key, of: teller ?? subject, at: at, heads: heads
            )
            heads.append(record)
            return record
        }
    }

    private func seal(
        _ draft: EvidenceDraft, number: Int, with key: DataKey, of subject: ID<Subject>,
        at: Instant, heads: ChainHeads
    ) -> SealedEvidence {
        // Records of one transaction share their millisecond: a counter keeps their IDs in order
        // (RFC 9562 §6.2, method 1).
        let counter: Bytes = [0, UInt8(truncatingIfNeeded: number)]
        let id = ID<Countersign.Evidence>(at: at, random: counter + entropy(8))
        let salt = entropy(32)
        let nonce = entropy(AES256GCM.nonceBytes)
        let body = draft.body.encoded
        let commitment = EvidenceSealer.commitment(to: body, salt: salt)
        let leaf = EvidenceLeaf(
            log: log, id: id, kind: draft.kind.rawValue, subject: subject, at: at,
            bodyCommitment: commitment, action: draft.action.map(heads.link),
            credential: draft.credential.map(heads.link), policy: draft.policy,
            outcome: draft.outcome
        ).bytes
        return SealedEvidence(
            id: id, kind: draft.kind, action: draft.action, credential: draft.credential,
            subject: subject, bodySubject: key.subject, leaf: leaf,
            leafHash: EvidenceSealer.leafHash(leaf),
            bodyCommitment: commitment, salt: salt, nonce: nonce,
            ciphertext: key.seal(draft.plaintext, of: id, nonce: nonce))
    }

    /// `SHA-256(prefix ‖ salt ‖ body)`; the salt keeps it from being guessed after an erasure.
    package static func commitment(to body: Bytes, salt: Bytes) -> Digest {
        sha256(bodyPrefix + salt + body)
    }

    /// RFC 6962 §2.1: `SHA-256(0x00 ‖ leaf)`.
    package static func leafHash(_ leaf: Bytes) -> Digest { sha256([0x00] + leaf) }
}
