import Countersign
import Crypto
import Evidence
import TestSupport

/// Seals for one customer, and stores as the database does.
struct TestLog {
    static let subject: ID<Subject> = Fixtures.id(10)
    static let origin = "log.bank.example"

    let keyEncryption: KeyEncryptionKey
    let wrappedKey: Bytes
    let sealer: EvidenceSealer

    /// - Parameters:
    ///   - key: The key-encryption key, 32 times this byte.
    ///   - entropy: OpenSSL's, or a fixed one for golden files.
    /// - Throws: Never with a key of 32 bytes.
    init(key: UInt8 = 3, entropy: EntropySource = .openSSL) throws {
        guard let keyEncryption = KeyEncryptionKey(Fixtures.bytes32(key)) else {
            throw InvalidValue("key", "A key has 32 bytes.")
        }
        self.keyEncryption = keyEncryption
        wrappedKey = keyEncryption.wrapFreshKey(for: Self.subject, entropy: entropy)
        sealer = EvidenceSealer(log: Self.origin, keyEncryption: keyEncryption, entropy: entropy)
    }

    var verifier: EvidenceVerifier { EvidenceVerifier(keyEncryption: keyEncryption) }

    func seal(
        _ drafts: [EvidenceDraft], heads: ChainHeads = ChainHeads()
    ) throws -> [SealedEvidence] {
        guard
            let sealed = sealer.seal(
                drafts, subject: Self.subject, wrappedKey: wrappedKey, at: Fixtures.at, heads: heads
            )
        else { throw InvalidValue("key", "The key was not unwrapped.") }
        return sealed
    }

    func record(_ drafts: [EvidenceDraft]) throws -> [StoredEvidence] {
        try seal(drafts).map { StoredEvidence($0, wrappedKey: wrappedKey) }
    }
}

extension StoredEvidence {
    init(_ sealed: SealedEvidence, wrappedKey: Bytes) {
        self.init(
            id: sealed.id, kind: sealed.kind.rawValue, action: sealed.action,
            subject: sealed.subject, credential: sealed.credential, leaf: sealed.leaf,
            leafHash: sealed.leafHash.bytes, bodyCommitment: sealed.bodyCommitment.bytes,
            recordedAt: Fixtures.at + Seconds(1),
            body: EncryptedBody(
                salt: sealed.salt, nonce: sealed.nonce, ciphertext: sealed.ciphertext,
                wrappedKey: wrappedKey))
    }

    /// The same record with some columns replaced; the leaf's hash follows the leaf, as in the
    /// database, unless it is given.
    func with(
        id: ID<Countersign.Evidence>? = nil, kind: String? = nil, action: ID<Action>?? = nil,
        subject: ID<Subject>? = nil, credential: ID<Credential>?? = nil, leaf: Bytes? = nil,
        leafHash: Bytes? = nil, bodyCommitment: Bytes? = nil, recordedAt: Instant? = nil,
        body: EncryptedBody?? = nil
    ) -> StoredEvidence {
        let newHash = leaf.map { EvidenceSealer.leafHash($0).bytes }
        return StoredEvidence(
            id: id ?? self.id, kind: kind ?? self.kind, action: action ?? self.action,
            subject: subject ?? self.subject, credential: credential ?? self.credential,
            leaf: leaf ?? self.leaf, leafHash: leafHash ?? newHash ?? self.leafHash,
            bodyCommitment: bodyCommitment ?? self.bodyCommitment,
            recordedAt: recordedAt ?? self.recordedAt, body: body ?? self.body)
    }
}

extension EvidenceVerifier {
    /// What is wrong with a record, or `nil` when nothing is.
    func fault(of record: StoredEvidence) -> EvidenceFault? {
        do {
            _ = try verify(record)
            return nil
        } catch {
            return error
        }
    }
}

/// The evidence of one decision that the use case made.
struct Decided {
    let bank: TestBank
    let action: ID<Action>
    let drafts: [EvidenceDraft]

    /// Lets the customer's phone decide, and takes what would be recorded of it.
    init(
        _ decision: SignedDecision, _ content: ActionContent, by kind: CredentialKind,
        bank: TestBank? = nil
    ) async throws {
        let bank = try bank ?? TestBank()
        let asked = try bank.ask(content)
        try await self.init(bank.command(decision, asked, by: kind), at: bank, asked)
    }

    /// As above, with any command.
    init(_ command: DecideCommand, at bank: TestBank, _ asked: TestBank.Asked) async throws {
        guard case .signed(let challenge, let assertion) = command.proof,
            let context = try await bank.store.load(
                action: asked.action.id, challenge: challenge, credential: assertion.reference)
        else { throw InvalidValue("context", "The action was not stored.") }
        _ = try await bank.decide(command)
        self.bank = bank
        action = asked.action.id
        drafts =
            switch bank.store.now.rulings.last {
            case .approve(let signed, let allowance)?:
                DecisionEvidence.approved(signed, allowance, on: context)
            case .reject(let signed)?: DecisionEvidence.rejected(signed, on: context)
            case .refuse(let signed, let refusal)?:
                DecisionEvidence.refused(signed, refusal, on: context)
            case .fail(let attempt)?: DecisionEvidence.failed(attempt, on: context)
            case .tampered?: DecisionEvidence.tampered(on: context)
            case .answer?, .rejectUnsigned?, nil: []
            }
    }
}

extension EvidenceDraft {
    /// The same draft with another body or kind.
    func with(kind: EvidenceKind? = nil, body: JSON? = nil) -> EvidenceDraft {
        EvidenceDraft(
            kind ?? self.kind, action: action, credential: credential, policy: policy,
            outcome: outcome, body: body ?? self.body,
            attachment: body == nil ? attachment : nil)
    }
}
